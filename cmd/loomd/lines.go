package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/loomd/loomd/daemon/protocol"
)

// lineRef is one entry of --lines: lines of one side of a hunk, or of both.
type lineRef struct {
	side     byte // '-' taken away, '+' put in, 0 both
	from, to int  // as the diff counts them, to included
}

func (r lineRef) String() string {
	text := strconv.Itoa(r.from)
	if r.side != 0 {
		text = string(r.side) + text
	}
	if r.to > r.from {
		text += "-" + strconv.Itoa(r.to)
	}
	return text
}

// parseLines reads a list such as "-3,+5-7,9".
func parseLines(list string) ([]lineRef, error) {
	var out []lineRef
	for entry := range strings.SplitSeq(list, ",") {
		entry = strings.TrimSpace(entry)
		ref, rest := lineRef{}, entry
		if rest != "" && strings.ContainsRune("+-", rune(rest[0])) {
			ref.side, rest = rest[0], rest[1:]
		}
		first, last, isRange := strings.Cut(rest, "-")
		if !isRange {
			last = first
		}
		var ok1, ok2 bool
		ref.from, ok1 = lineNumber(first)
		ref.to, ok2 = lineNumber(last)
		if !ok1 || !ok2 || ref.to < ref.from {
			return nil, usagef("--lines: %q is no line and no range: write -3 for a line that is taken away, +5 for one that is put in, 4-6 for lines of both kinds", oneLine(entry))
		}
		out = append(out, ref)
	}
	return out, nil
}

func lineNumber(s string) (int, bool) {
	n, err := strconv.ParseUint(s, 10, 31)
	return int(n), err == nil && n > 0 && n < math.MaxInt32
}

// linesOf are the lines of a hunk that refs name, as the daemon counts them. Each
// ref must name something, and nothing outside of the hunk.
func linesOf(h protocol.Hunk, refs []lineRef) (*protocol.Lines, error) {
	var out protocol.Lines
	for _, r := range refs {
		old := within(r, '-', h.OldStart, h.OldLines)
		new := within(r, '+', h.NewStart, h.NewLines)
		inside := len(old) > 0 || len(new) > 0
		if r.side != 0 { // the whole range is of this side
			inside = len(old)+len(new) == r.to-r.from+1
		} else {
			inside = inside && r.from >= first(h) && r.to <= last(h)
		}
		if !inside {
			return nil, usagef("line %s is not part of %s, which %s", r, h.ID, extent(h))
		}
		out.Old, out.New = append(out.Old, old...), append(out.New, new...)
	}
	for _, side := range []*[]int{&out.Old, &out.New} {
		slices.Sort(*side)
		*side = slices.Compact(*side)
	}
	return &out, nil
}

// within are the lines of one side that a ref names, counted from 1 in the hunk.
func within(r lineRef, side byte, start, count int) []int {
	if r.side != 0 && r.side != side || count == 0 {
		return nil
	}
	var out []int
	for n := max(r.from, start); n <= min(r.to, start+count-1); n++ {
		out = append(out, n-start+1)
	}
	return out
}

// first and last are the lowest and the highest line number of a hunk.
func first(h protocol.Hunk) int {
	switch {
	case h.OldLines == 0:
		return h.NewStart
	case h.NewLines == 0:
		return h.OldStart
	}
	return min(h.OldStart, h.NewStart)
}

func last(h protocol.Hunk) int {
	end := 0
	if h.OldLines > 0 {
		end = h.OldStart + h.OldLines - 1
	}
	if h.NewLines > 0 {
		end = max(end, h.NewStart+h.NewLines-1)
	}
	return end
}

// extent says which lines a hunk has: "takes away -3-4 and puts in +3".
func extent(h protocol.Hunk) string {
	var parts []string
	if h.OldLines > 0 {
		parts = append(parts, "takes away "+lineRef{'-', h.OldStart, h.OldStart + h.OldLines - 1}.String())
	}
	if h.NewLines > 0 {
		parts = append(parts, "puts in "+lineRef{'+', h.NewStart, h.NewStart + h.NewLines - 1}.String())
	}
	if len(parts) == 0 {
		return "has no lines"
	}
	return strings.Join(parts, " and ")
}

// numbered chooses lines of a region by their place in it, counted from 1 over
// both sides as they are shown. The list is one of numbers and ranges.
func (r region) numbered(list string) (*protocol.Lines, error) {
	refs, err := parseLines(list)
	if err != nil || slices.ContainsFunc(refs, func(ref lineRef) bool { return ref.side != 0 }) {
		return nil, fmt.Errorf("%s is no list of lines: write numbers and ranges, such as 1,3-5", visible(list))
	}
	var out protocol.Lines
	old, new := 0, 0
	taken := make([]bool, len(refs))
	for i, l := range r.lines {
		chosen := false
		for n, ref := range refs {
			if ref.from <= i+1 && i+1 <= ref.to {
				chosen, taken[n] = true, ref.to <= len(r.lines)
			}
		}
		if l.op == '-' {
			if old++; chosen {
				out.Old = append(out.Old, old)
			}
		} else if new++; chosen {
			out.New = append(out.New, new)
		}
	}
	if n := slices.Index(taken, false); n >= 0 {
		return nil, fmt.Errorf("there is no line %s: the hunk has %s", refs[n], plural(len(r.lines), "changed line"))
	}
	return &out, nil
}

// all reports whether lines are all that a region has.
func (r region) all(lines *protocol.Lines) bool {
	return len(lines.Old)+len(lines.New) == len(r.lines)
}

// chosenLines reads --lines for the one hunk that is chosen. Numbers are those of
// the version that was looked at, so it must be the present one.
func chosenLines(p protocol.Proposal, hunks []protocol.Hunk, list string, seen int) (*protocol.Lines, error) {
	if list == "" {
		return nil, nil
	}
	refs, err := parseLines(list)
	if err != nil {
		return nil, err
	}
	if seen != p.Version {
		return nil, fmt.Errorf("%s is at version %d, not %d: the lines may have other numbers now; loomd review show -n %s has them", p.ID, p.Version, seen, p.ID)
	}
	return linesOf(hunks[0], refs)
}
