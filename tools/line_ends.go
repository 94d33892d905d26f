package tools

import (
	"bytes"
	"strings"

	"github.com/loomd/loomd/diffpreview"
)

// fitLineEnds is new_str with the line ends that it gets at a place of the text.
// Line ends are the file's, not the edit's: a line that the edit keeps keeps its
// own, a line it changes takes the one that stood there, a line it adds takes its
// neighbour's.
//
// new_str is taken as it is when it holds CR LF itself, and when the edit
// changes nothing but line ends: then they are what it is about.
func (t *editable) fitLineEnds(at span, e edit) []byte {
	given := []byte(e.NewStr)
	switch {
	case !strings.Contains(e.NewStr, "\n") || strings.Contains(e.NewStr, "\r\n"):
		return given
	case strings.ReplaceAll(e.OldStr, "\r\n", "\n") == e.NewStr:
		return given
	}
	region := t.text[at.start:at.end]
	breaks := bytes.Count(region, lf)
	ended := bytes.Count(region, crlf)
	switch {
	case breaks == 0:
		if !bytes.Equal(t.lineEndNear(at), crlf) {
			return given
		}
	case ended == 0:
		return given
	case ended < breaks:
		return fitMixed(region, given)
	}
	return bytes.ReplaceAll(given, lf, crlf)
}

// lineEndNear is the line end of the line that holds the place, or, where that
// line has none, of the line above it.
func (t *editable) lineEndNear(at span) []byte {
	end := bytes.IndexByte(t.text[at.end:], '\n')
	if end >= 0 {
		end += at.end
	} else {
		end = bytes.LastIndexByte(t.text[:at.start], '\n')
	}
	if end > 0 && t.text[end-1] == '\r' {
		return crlf
	}
	return lf
}

// fitMixed gives the lines of given, which end in LF, the line ends of the
// region they replace, in which there are both kinds.
func fitMixed(region, given []byte) []byte {
	oldEnds, oldLines := cutLines(region)
	newEnds, newLines := cutLines(given)
	ends := make([][]byte, len(newLines)) // of kept and changed lines
	line := 0                             // of the old ones
	take := func(from, to int) {
		for i := from; i < to && line < len(oldEnds); i++ {
			ends[i] = oldEnds[line]
			line++
		}
	}
	done := 0
	for _, s := range diffpreview.DiffLines(oldLines, newLines) {
		take(done, s.NewStart)
		line = s.OldStart
		take(s.NewStart, s.NewStart+min(s.OldLines, s.NewLines))
		line, done = s.OldStart+s.OldLines, s.NewStart+s.NewLines
	}
	take(done, len(newLines))

	var out []byte
	last := oldEnds[0]
	for i, text := range newLines {
		out = append(out, text...)
		if len(ends[i]) > 0 {
			last = ends[i]
		}
		if len(newEnds[i]) > 0 {
			out = append(out, last...)
		}
	}
	return out
}

// cutLines returns the lines of text and, apart from them, what ends each.
func cutLines(text []byte) (ends, lines [][]byte) {
	for _, line := range diffpreview.SplitLines(text, diffpreview.UTF8) {
		n := len(line)
		switch {
		case bytes.HasSuffix(line, crlf):
			n -= 2
		case bytes.HasSuffix(line, lf):
			n--
		}
		lines = append(lines, line[:n])
		ends = append(ends, line[n:])
	}
	return ends, lines
}
