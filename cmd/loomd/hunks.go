package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/loomd/loomd/daemon/protocol"
)

// diffLine is one line of a unified diff.
type diffLine struct {
	op    byte   // ' ', '-' or '+'
	text  string // without the line feed
	noEOL bool   // no line feed follows in the file
}

// region is one maximal run of changed lines in a diff, with the unchanged
// lines that the diff shows around it. Line numbers are those of a header as
// "git diff -U0" writes it.
type region struct {
	oldStart, oldLines int
	newStart, newLines int
	before, lines      []diffLine
	after              []diffLine
	// lead is, of a piece of a run, how many lines more the new text has than the
	// old one by the pieces before it.
	lead int
}

// parsedDiff is a proposal's diff taken apart.
type parsedDiff struct {
	header  []string // before the first @@, without line feeds
	regions []region // in order
}

// parseDiff takes a unified diff apart. What it cannot make sense of it leaves
// out: then a hunk has no region, and the caller says so.
func parseDiff(diff string) parsedDiff {
	var p parsedDiff
	lines := strings.Split(strings.TrimSuffix(diff, "\n"), "\n")
	for i := 0; i < len(lines); {
		h, ok := parseHeader(lines[i])
		if !ok {
			if len(p.regions) == 0 && lines[i] != "" {
				p.header = append(p.header, lines[i])
			}
			i++
			continue
		}
		var body []diffLine
		body, i = takeBody(lines, i+1, h)
		p.regions = append(p.regions, splitRuns(body, h)...)
	}
	return p
}

// parseHeader reads "@@ -a,b +c,d @@".
func parseHeader(line string) (h region, ok bool) {
	rest, ok := strings.CutPrefix(line, "@@ -")
	if !ok {
		return h, false
	}
	ranges, _, ok := strings.Cut(rest, " @@")
	if !ok {
		return h, false
	}
	oldRange, newRange, ok := strings.Cut(ranges, " +")
	if !ok {
		return h, false
	}
	var ok1, ok2 bool
	h.oldStart, h.oldLines, ok1 = parseRange(oldRange)
	h.newStart, h.newLines, ok2 = parseRange(newRange)
	return h, ok1 && ok2
}

func parseRange(s string) (start, count int, ok bool) {
	first, second, both := strings.Cut(s, ",")
	start, err := strconv.Atoi(first)
	if err != nil {
		return 0, 0, false
	}
	if !both {
		return start, 1, true
	}
	count, err = strconv.Atoi(second)
	return start, count, err == nil
}

// takeBody collects the lines that the header h announces, from lines[i] on,
// and returns where they end. Counting tells a removed line "-- x" from the
// next file's header.
func takeBody(lines []string, i int, h region) ([]diffLine, int) {
	var body []diffLine
	oldLeft, newLeft := h.oldLines, h.newLines
	for ; i < len(lines); i++ {
		line := lines[i]
		if strings.HasPrefix(line, `\`) && len(body) > 0 {
			body[len(body)-1].noEOL = true
			continue
		}
		if oldLeft <= 0 && newLeft <= 0 {
			break
		}
		op, text := byte(' '), ""
		if line != "" {
			op, text = line[0], line[1:]
		}
		switch op {
		case ' ':
			oldLeft--
			newLeft--
		case '-':
			oldLeft--
		case '+':
			newLeft--
		default:
			return body, i
		}
		body = append(body, diffLine{op: op, text: text})
	}
	return body, i
}

// splitRuns makes a region of each run of changed lines in a body that begins
// at the lines of h.
func splitRuns(body []diffLine, h region) []region {
	var out []region
	oldNext, newNext := h.oldStart, h.newStart
	if h.oldLines == 0 {
		oldNext++
	}
	if h.newLines == 0 {
		newNext++
	}
	var context []diffLine
	for i := 0; i < len(body); {
		n := i
		for n < len(body) && body[n].op == ' ' {
			n++
		}
		context = body[i:n]
		if len(out) > 0 {
			out[len(out)-1].after = context[:min(contextLines, len(context))]
		}
		oldNext, newNext = oldNext+n-i, newNext+n-i
		for i = n; n < len(body) && body[n].op != ' '; {
			n++
		}
		if i == n {
			break
		}
		r := region{before: context[max(0, len(context)-contextLines):], lines: body[i:n]}
		for _, l := range r.lines {
			if l.op == '-' {
				r.oldLines++
			} else {
				r.newLines++
			}
		}
		r.oldStart, r.newStart = oldNext, newNext
		oldNext, newNext = oldNext+r.oldLines, newNext+r.newLines
		if r.oldLines == 0 {
			r.oldStart--
		}
		if r.newLines == 0 {
			r.newStart--
		}
		out, i = append(out, r), n
	}
	return out
}

// contextLines is how many unchanged lines are shown around a hunk, as git
// shows them.
const contextLines = 3

// of says whether r is the hunk's text.
func (r region) of(h protocol.Hunk) bool {
	return r.oldStart == h.OldStart && r.oldLines == h.OldLines &&
		r.newStart == h.NewStart && r.newLines == h.NewLines
}

// find returns the region of a hunk. A hunk that is a whole file takes the
// only region there is.
func (p parsedDiff) find(h protocol.Hunk) (region, bool) {
	if i := slices.IndexFunc(p.regions, func(r region) bool { return r.of(h) }); i >= 0 {
		return p.regions[i], true
	}
	switch {
	case len(p.regions) == 0 || isProperty(h):
		return region{}, false
	case h.Kind == "text":
		return p.piece(h)
	case len(p.regions) == 1:
		return p.regions[0], true
	case h.Kind == "link": // a file goes and a link comes, or the other way round
		whole := p.regions[0]
		whole.newStart, whole.newLines = p.regions[1].newStart, p.regions[1].newLines
		whole.lines = slices.Concat(whole.lines, p.regions[1].lines)
		return whole, true
	}
	return region{}, false
}

// piece returns the part of a region that one of several hunks is which touch
// each other. Its context is the text as it is without the others.
func (p parsedDiff) piece(h protocol.Hunk) (region, bool) {
	oldFrom, newFrom := firstLine(h.OldStart, h.OldLines), firstLine(h.NewStart, h.NewLines)
	for _, r := range p.regions {
		oldAt, newAt := firstLine(r.oldStart, r.oldLines), firstLine(r.newStart, r.newLines)
		if oldFrom < oldAt || oldFrom+h.OldLines > oldAt+r.oldLines || newFrom < newAt || newFrom+h.NewLines > newAt+r.newLines {
			continue
		}
		out := region{oldStart: h.OldStart, oldLines: h.OldLines, newStart: h.NewStart, newLines: h.NewLines}
		around := slices.Clone(r.before)
		var after []diffLine
		for _, l := range r.lines {
			switch {
			case l.op == '+' && newAt >= newFrom && newAt < newFrom+h.NewLines, l.op == '-' && oldAt >= oldFrom && oldAt < oldFrom+h.OldLines:
				out.lines = append(out.lines, l)
			case l.op == '+' && newAt < newFrom:
				out.lead++
			case l.op == '-' && oldAt < oldFrom:
				out.lead--
				around = append(around, diffLine{op: ' ', text: l.text, noEOL: l.noEOL})
			case l.op == '-':
				after = append(after, diffLine{op: ' ', text: l.text, noEOL: l.noEOL})
			}
			if l.op == '-' {
				oldAt++
			} else {
				newAt++
			}
		}
		after = append(after, r.after...)
		out.before = around[max(0, len(around)-contextLines):]
		out.after = after[:min(len(after), contextLines)]
		return out, true
	}
	return region{}, false
}

// firstLine is the first line of a range, or the one before which nothing is put
// in: a range without lines names the line before it.
func firstLine(start, lines int) int {
	if lines == 0 {
		return start + 1
	}
	return start
}

// newText is what the hunk puts into the file.
func (r region) newText() string {
	var b strings.Builder
	for _, l := range r.lines {
		if l.op == '+' {
			b.WriteString(l.text)
			if !l.noEOL {
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}

// header is the @@ line of the region with its context.
func (r region) header() string {
	n := len(r.before) + len(r.after)
	oldStart, newStart := r.oldStart-len(r.before), r.newStart-len(r.before)-r.lead
	if r.oldLines == 0 && n > 0 {
		oldStart++
	}
	if r.newLines == 0 && n > 0 {
		newStart++
	}
	return fmt.Sprintf("@@ -%s +%s @@", lineRange(oldStart, r.oldLines+n), lineRange(newStart, r.newLines+n))
}

// lineRange writes a range as diff does: a count of one is left out.
func lineRange(start, count int) string {
	if count == 1 {
		return strconv.Itoa(start)
	}
	return fmt.Sprintf("%d,%d", start, count)
}

// pending says whether a hunk waits for a decision.
func pending(h protocol.Hunk) bool {
	return h.State == protocol.HunkOpen || h.State == protocol.HunkConflict
}

// pendingHunks returns the hunks of p that wait for a decision.
func pendingHunks(p protocol.Proposal) []protocol.Hunk {
	var out []protocol.Hunk
	for _, h := range p.Hunks {
		if pending(h) {
			out = append(out, h)
		}
	}
	return out
}

func hunkIDs(hunks []protocol.Hunk) []string {
	ids := make([]string, len(hunks))
	for i, h := range hunks {
		ids[i] = h.ID
	}
	return ids
}
