package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/loomd/loomd/daemon/protocol"
)

// diffView prints diffs for one kind of reader: with a width for a terminal,
// without (0) for a program, which gets every byte as it is.
type diffView struct {
	w       io.Writer
	paint   paint
	width   int
	numbers bool // changed lines are shown with what names them in --lines
}

func (v diffView) line(s string) { fmt.Fprintln(v.w, s) }

// title says whose proposal it is.
func (v diffView) title(p protocol.Proposal) {
	name := placeName(p)
	if p.Via != "" {
		name += " (via " + pathName(p.Via) + ")"
	}
	what := fmt.Sprintf("%s · session %s · %s · version %d · %s", p.Kind, p.Label, p.State, p.Version, stepsOf(p))
	if v.width > 0 {
		v.line(v.paint.bold(shorten(name, v.width)))
		v.line(v.paint.faint(shortenEnd(oneLine("  "+what+" · "+p.ID), v.width)))
		return
	}
	v.line("proposal " + p.ID + " " + name + ": " + oneLine(what))
}

// stepsOf names the tools that made the proposal, in order, each once.
func stepsOf(p protocol.Proposal) string {
	var tools []string
	seen := map[string]bool{}
	for _, s := range p.Steps {
		if !seen[s.Tool] {
			seen[s.Tool] = true
			tools = append(tools, s.Tool)
		}
	}
	text := plural(max(p.StepCount, len(p.Steps)), "step")
	if len(tools) > 0 {
		text += " (" + strings.Join(tools, ", ") + ")"
	}
	return text
}

// notUTF8 goes before a text that cannot be shown as it is.
const notUTF8 = "not UTF-8: bytes that cannot be shown are U+FFFD here; what is written is exact"

// proposal prints a proposal's whole diff with the ids of hunks in its @@ lines,
// where patch and git apply do not look, and then its conflicts.
func (v diffView) proposal(p protocol.Proposal) {
	v.title(p)
	if p.DiffLossy {
		v.line(v.paint.warn(notUTF8))
	}
	for _, h := range p.Hunks {
		if h.State == protocol.HunkOpen && isProperty(h) {
			v.words(h.ID+":", p, h)
		}
	}
	v.unified(p)
	for _, h := range pendingHunks(p) {
		if h.Conflict != nil {
			v.conflict(p, h)
		}
	}
}

func (v diffView) unified(p protocol.Proposal) {
	if p.HunksOmitted {
		v.line(v.paint.warn(tooManyHunks(p)))
		return
	}
	if p.Diff == "" {
		for _, h := range p.Hunks {
			if h.State == protocol.HunkOpen && !isProperty(h) {
				v.words(h.ID+":", p, h)
			}
		}
		return
	}
	var oldNext, newNext, oldLeft, newLeft int
	for line := range strings.SplitSeq(strings.TrimSuffix(p.Diff, "\n"), "\n") {
		h, isHeader := parseHeader(line)
		inBody := oldLeft > 0 || newLeft > 0
		switch {
		case !inBody && isHeader:
			oldNext, newNext, oldLeft, newLeft = h.oldStart, h.newStart, h.oldLines, h.newLines
			v.line(v.paint.place(line + v.idsWithin(p, h)))
			continue
		case !inBody && !strings.HasPrefix(line, `\`):
			v.line(v.paint.bold(v.safe(line)))
			continue
		}
		op := byte(' ')
		if line != "" {
			op = line[0]
		}
		mark := ""
		switch op {
		case '-':
			mark = "-" + strconv.Itoa(oldNext)
			oldLeft, oldNext = oldLeft-1, oldNext+1
		case '+':
			mark = "+" + strconv.Itoa(newNext)
			newLeft, newNext = newLeft-1, newNext+1
		case ' ':
			oldLeft, oldNext = oldLeft-1, oldNext+1
			newLeft, newNext = newLeft-1, newNext+1
		}
		if v.numbers {
			v.marked(mark, line)
		} else {
			v.body(line)
		}
	}
}

// idsWithin lists the hunks that a displayed hunk joins: " h1 h2".
func (v diffView) idsWithin(p protocol.Proposal, h region) string {
	ids, last := "", ""
	whole := 0
	for _, hunk := range p.Hunks {
		if hunk.State != protocol.HunkOpen || isProperty(hunk) {
			continue
		}
		whole, last = whole+1, hunk.ID
		oldIn := hunk.OldStart >= h.oldStart-1 && hunk.OldStart+hunk.OldLines <= h.oldStart+h.oldLines+1
		newIn := hunk.NewStart >= h.newStart-1 && hunk.NewStart+hunk.NewLines <= h.newStart+h.newLines+1
		if oldIn && newIn {
			ids += " " + hunk.ID
		}
	}
	if ids == "" && whole == 1 { // a whole file
		return " " + last
	}
	return ids
}

// hunk prints one hunk alone with its context and its id in the @@ line, at most limit changed lines of
// it (0: all), and returns how many it left out.
func (v diffView) hunk(r region, id string, limit int) (hidden int) {
	v.line(v.paint.place(r.header() + " " + id))
	lines := r.lines
	if limit > 0 && len(lines) > limit {
		hidden = len(lines) - limit
		lines = lines[:limit]
	}
	for _, part := range [][]diffLine{r.before, lines} {
		for _, l := range part {
			v.diffLine(l)
		}
	}
	if hidden > 0 {
		return hidden
	}
	for _, l := range r.after {
		v.diffLine(l)
	}
	return 0
}

func (v diffView) diffLine(l diffLine) {
	v.body(string(l.op) + l.text)
	if l.noEOL {
		v.body(noNewline)
	}
}

// markColumns is the room for what names a line, before it.
const markColumns = 7

// marked prints a line of a diff after what names it.
func (v diffView) marked(mark, line string) {
	mark = fmt.Sprintf("%*s ", markColumns, mark)
	v.gutter(v.paint.faint(mark), len(mark), line)
}

// numbered prints a region with its changed lines counted from 1.
func (v diffView) numbered(r region) {
	v.line(v.paint.place(r.header()))
	n := 0
	for _, part := range [][]diffLine{r.before, r.lines, r.after} {
		for _, l := range part {
			mark := ""
			if l.op != ' ' {
				n++
				mark = strconv.Itoa(n)
			}
			v.marked(mark, string(l.op)+l.text)
			if l.noEOL {
				v.marked("", noNewline)
			}
		}
	}
}

// noNewline is what a diff says of a last line without a line feed.
const noNewline = `\ No newline at end of file`

// body prints a line of a diff; on a terminal it is wrapped, because a cut
// could hide what is about to be accepted.
func (v diffView) body(line string) { v.gutter("", 0, line) }

// gutter is body with something of so many columns before the line.
func (v diffView) gutter(before string, columns int, line string) {
	if v.width == 0 {
		v.line(before + line)
		return
	}
	mark, text := " ", ""
	if line != "" {
		mark, text = line[:1], line[1:]
	}
	color := func(s string) string { return s }
	switch mark {
	case "+":
		color = v.paint.added
	case "-":
		color = v.paint.removed
	case `\`:
		color = v.paint.faint
	}
	trail := ""
	if mark == "+" {
		trimmed := strings.TrimRight(text, " \t")
		text, trail = trimmed, text[len(trimmed):]
	}
	pieces := wrap(visible(text), v.width-1-columns)
	for i, piece := range pieces {
		end := ""
		if i == len(pieces)-1 {
			end = v.paint.blank(trail)
		}
		v.line(before + color(mark+piece) + end)
		before, mark = strings.Repeat(" ", columns), " "
	}
}

// safe is for lines that are neither wrapped nor part of a body.
func (v diffView) safe(s string) string {
	if v.width == 0 {
		return s
	}
	return visible(s)
}

// conflict prints the three texts of a hunk whose base somebody else changed.
func (v diffView) conflict(p protocol.Proposal, h protocol.Hunk) {
	about := fmt.Sprintf("at line %d of %s", h.OldStart, pathName(p.Path))
	switch {
	case isProperty(h):
		about = "about the " + h.Kind + " of " + pathName(p.Path)
	case p.BaseHash == "":
		about = "about " + pathName(p.Path) + ", which does not exist now"
	case h.OldStart == 0:
		about = "before the first line of " + pathName(p.Path)
	}
	v.line(v.paint.warn("conflict " + h.ID + " " + about))
	if h.Conflict.Omitted {
		v.line(v.paint.warn("  the three texts are too long to show here, they were NOT shown; the file is what stands there now"))
		return
	}
	for _, part := range []struct{ name, text string }{
		{"base: what the agent saw", h.Conflict.Base},
		{"tree: what stands there now", h.Conflict.Tree},
		{"agent: what it proposes", h.Conflict.Agent},
	} {
		v.line(v.paint.place("--- " + part.name))
		if part.text == "" {
			v.line(v.paint.faint("  (nothing)"))
			continue
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(part.text, "\n"), "\n") {
			v.body(" " + line)
		}
	}
}
