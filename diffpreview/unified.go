package diffpreview

import (
	"bytes"
	"io/fs"
	"strconv"
	"strings"
)

// emptyBlob is git's short name for a file without bytes: the start of the SHA-1 of "blob 0" and a NUL.
const emptyBlob = "e69de29"

// FileSide is one side of a unified diff.
type FileSide struct {
	Name   string      // "/" separated, without the prefix a/ or b/
	Exists bool        // false on the old side of a new file and on the new side of a deleted one
	Lines  [][]byte    // as SplitLines gives them
	Mode   fs.FileMode // permission bits; 0 stands for 0644. The owner's execute bit alone is told, as git does
}

// Unified prints the diff of two texts as git does, in a form that `git apply` and `patch` take, also when several are
// put one behind the other: the line "diff --git", what there is to say of the file (created, deleted, an execute bit, a
// new name), "--- a/name" and "+++ b/name" (or /dev/null), then the hunks, with the given number of context lines around
// each change, joined where their context meets. Where nothing differs, nothing is printed.
//
// spans is the diff of old.Lines and new.Lines. The lines are printed byte for byte, so UTF-16 has to be decoded first:
// its line feeds are no single bytes. Names are quoted as git quotes them with core.quotePath off.
func Unified(old, new FileSide, spans []Span, context int) []byte {
	out := appendHeader(nil, old, new, spans)
	return appendHunks(out, linesText(old.Lines), linesText(new.Lines), spans, context)
}

// lineText is the lines [from, to) of a text, each with its end; what lies behind the last line is left out. Ranges are
// asked for in ascending order.
type lineText func(from, to int) []byte

func linesText(lines [][]byte) lineText {
	return func(from, to int) []byte { return joinLines(lines[min(from, len(lines)):min(to, len(lines))]) }
}

// appendHunks prints changes with their context, joined where their context meets. Of both texts only the lines that are
// printed are asked for.
func appendHunks(out []byte, old, new lineText, spans []Span, context int) []byte {
	context = max(context, 0)
	var body []byte
	for len(spans) > 0 {
		n := 1
		for n < len(spans) && spans[n].OldStart-spans[n-1].OldStart-spans[n-1].OldLines <= 2*context {
			n++
		}
		out, body = appendHunk(out, body[:0], old, new, spans[:n], context)
		spans = spans[n:]
	}
	return out
}

// appendHeader prints what stands before the hunks.
func appendHeader(out []byte, old, new FileSide, spans []Span) []byte {
	created, deleted := !old.Exists, !new.Exists
	switch {
	case created && deleted:
		return out
	case created:
		old.Name, old.Mode = new.Name, new.Mode
	case deleted:
		new.Name, new.Mode = old.Name, old.Mode
	}
	oldMode, newMode := gitMode(old.Mode), gitMode(new.Mode)
	renamed := old.Name != new.Name
	if len(spans) == 0 && !created && !deleted && !renamed && oldMode == newMode {
		return out
	}
	// Where no line with one name alone follows, patch reads this one, and names with spaces need quotes for that.
	quote := len(spans) == 0 && strings.ContainsRune(old.Name+new.Name, ' ')
	out = appendQuoted(append(out, "diff --git "...), "a/"+old.Name, quote)
	out = append(appendQuoted(append(out, ' '), "b/"+new.Name, quote), '\n')
	switch {
	case created:
		out = append(out, "new file mode "+newMode+"\n"...)
	case deleted:
		out = append(out, "deleted file mode "+oldMode+"\n"...)
	case oldMode != newMode:
		out = append(out, "old mode "+oldMode+"\nnew mode "+newMode+"\n"...)
	}
	if renamed {
		out = append(appendQuoted(append(out, "rename from "...), old.Name, false), '\n')
		out = append(appendQuoted(append(out, "rename to "...), new.Name, false), '\n')
	}
	// Without hunks patch knows by the index line alone which side of the file is there.
	switch {
	case len(spans) == 0 && created:
		out = append(out, "index 0000000.."+emptyBlob+"\n"...)
	case len(spans) == 0 && deleted:
		out = append(out, "index "+emptyBlob+"..0000000\n"...)
	}
	if len(spans) == 0 {
		return out
	}
	out = appendFileLine(out, "--- ", "a/"+old.Name, old.Exists)
	return appendFileLine(out, "+++ ", "b/"+new.Name, new.Exists)
}

// appendFileLine prints the line that names a file before its hunks. After a name with a space stands a tab, which ends
// the name for programs that look for a time stamp behind it.
func appendFileLine(out []byte, mark, name string, exists bool) []byte {
	out = append(out, mark...)
	if !exists {
		return append(out, "/dev/null\n"...)
	}
	out = appendQuoted(out, name, false)
	if strings.ContainsRune(name, ' ') {
		out = append(out, '\t')
	}
	return append(out, '\n')
}

// gitMode is the mode git keeps of a regular file or a link.
func gitMode(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "120000"
	case mode&0o100 != 0:
		return "100755"
	}
	return "100644"
}

// appendHunk prints changes whose contexts meet as one hunk. body is memory for its lines, which are printed before what
// stands above them is known: how many lines follow.
func appendHunk(out, body []byte, old, new lineText, spans []Span, context int) (_, _ []byte) {
	first, last := spans[0], spans[len(spans)-1]
	oldEnd, newEnd := last.OldStart+last.OldLines, last.NewStart+last.NewLines
	before := min(context, first.OldStart)
	oldStart, newStart := first.OldStart-before, first.NewStart-before

	at := oldStart
	for _, s := range spans {
		body = appendLines(body, ' ', old(at, s.OldStart))
		body = appendLines(body, '-', old(s.OldStart, s.OldStart+s.OldLines))
		body = appendLines(body, '+', new(s.NewStart, s.NewStart+s.NewLines))
		at = s.OldStart + s.OldLines
	}
	rest := old(oldEnd, oldEnd+context)
	after := countLines(rest, Bytes)
	out = appendRange(append(out, "@@ -"...), oldStart, oldEnd+after-oldStart)
	out = appendRange(append(out, " +"...), newStart, newEnd+after-newStart)
	out = append(append(out, " @@\n"...), body...)
	return appendLines(out, ' ', rest), body
}

// appendRange prints a line range: the first line, counted from 1 (of an empty range the line before it), and the number
// of lines unless that is 1.
func appendRange(out []byte, start, count int) []byte {
	if count > 0 {
		start++
	}
	out = strconv.AppendInt(out, int64(start), 10)
	if count != 1 {
		out = strconv.AppendInt(append(out, ','), int64(count), 10)
	}
	return out
}

// appendLines prints every line of a text behind a mark.
func appendLines(out []byte, mark byte, text []byte) []byte {
	for len(text) > 0 {
		end := bytes.IndexByte(text, '\n') + 1
		if end == 0 {
			return append(append(append(out, mark), text...), "\n\\ No newline at end of file\n"...)
		}
		out = append(append(out, mark), text[:end]...)
		text = text[end:]
	}
	return out
}
