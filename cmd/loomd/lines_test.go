package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/loomd/loomd/daemon/protocol"
)

// hunk3to7 takes away the lines 3 to 5 and puts in 3 to 7.
var hunk3to7 = protocol.Hunk{ID: "h1", OldStart: 3, OldLines: 3, NewStart: 3, NewLines: 5}

func TestLinesOfAHunk(t *testing.T) {
	added := protocol.Hunk{ID: "h2", OldStart: 9, NewStart: 12, NewLines: 2} // 12 and 13
	removed := protocol.Hunk{ID: "h3", OldStart: 20, OldLines: 2, NewStart: 21}
	shifted := protocol.Hunk{ID: "h4", OldStart: 3, OldLines: 1, NewStart: 10, NewLines: 1}
	for _, c := range []struct {
		hunk protocol.Hunk
		list string
		want string // "old new", or what the error says
	}{
		{hunk3to7, "-3", "[1] []"},
		{hunk3to7, "+3", "[] [1]"},
		{hunk3to7, "3", "[1] [1]"},
		{hunk3to7, "-4-5", "[2 3] []"},
		{hunk3to7, "+6-7", "[] [4 5]"},
		{hunk3to7, "5-7", "[3] [3 4 5]"},
		{hunk3to7, " +7 , -3,+3, 3", "[1] [1 5]"},
		{hunk3to7, "3-7", "[1 2 3] [1 2 3 4 5]"},
		{added, "12", "[] [1]"},
		{added, "+12-13", "[] [1 2]"},
		{removed, "-21", "[2] []"},
		{removed, "20-21", "[1 2] []"},
		{shifted, "3-10", "[1] [1]"},
		{hunk3to7, "-6", "line -6 is not part of h1, which takes away -3-5 and puts in +3-7"},
		{hunk3to7, "+7-8", "line +7-8 is not part of h1"},
		{hunk3to7, "2", "line 2 is not part of h1"},
		{hunk3to7, "7-8", "line 7-8 is not part of h1"},
		{hunk3to7, "2-3", "line 2-3 is not part of h1"},
		{shifted, "5", "line 5 is not part of h4"},
		{added, "-9", "line -9 is not part of h2, which puts in +12-13"},
		{removed, "+21", "line +21 is not part of h3, which takes away -20-21"},
		{protocol.Hunk{ID: "h5"}, "1", "which has no lines"},
		{hunk3to7, "", "is no line and no range"},
		{hunk3to7, "3,", "is no line and no range"},
		{hunk3to7, "0", "is no line and no range"},
		{hunk3to7, "5-3", "is no line and no range"},
		{hunk3to7, "--3", "is no line and no range"},
		{hunk3to7, "-3-", "is no line and no range"},
		{hunk3to7, "h1", "is no line and no range"},
		{hunk3to7, "1-99999999999999999999", "is no line and no range"},
		{hunk3to7, "1-2147483646", "line 1-2147483646 is not part of h1"},
	} {
		var got string
		refs, err := parseLines(c.list)
		if err == nil {
			var lines *protocol.Lines
			if lines, err = linesOf(c.hunk, refs); err == nil {
				got = fmt.Sprint(lines.Old, lines.New)
			}
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s of %s: %s, want %s", c.list, c.hunk.ID, got, c.want)
		}
	}
}

// A list that names everything is a region's every line.
func TestNumberedLines(t *testing.T) {
	r := parseDiff("@@ -1,4 +1,5 @@\n a\n-b\n-c\n+B\n+C\n+D\n e\n").regions[0]
	for _, c := range []struct{ list, want string }{
		{"1", "[1] []"},
		{"3", "[] [1]"},
		{"2,4-5", "[2] [2 3]"},
		{"1-5", "[1 2] [1 2 3]"},
		{"5,1", "[1] [3]"},
		{"6", "there is no line 6: the hunk has 5 changed lines"},
		{"4-6", "there is no line 4-6"},
		{"-1", "no list of lines"},
		{"+1", "no list of lines"},
		{"x", "no list of lines"},
	} {
		lines, err := r.numbered(c.list)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = fmt.Sprint(lines.Old, lines.New)
			if all := c.list == "1-5"; r.all(lines) != all {
				t.Errorf("%s: all is %v", c.list, !all)
			}
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.list, got, c.want)
		}
	}
}

// Hunks that touch each other are told apart in the one run of the diff.
func TestPiecesOfARegion(t *testing.T) {
	p := parseDiff("@@ -1,6 +1,7 @@\n a\n-b\n-c\n+B\n+C\n+D\n e\n f\n g\n")
	for _, c := range []struct {
		old, oldLines, new, newLines int
		want                         string
	}{
		{2, 2, 2, 3, " a|-b|-c|+B|+C|+D| e| f| g"},
		{2, 1, 2, 1, " a|-b|+B| c| e| f"},
		{3, 1, 3, 1, " a| b|-c|+C| e| f| g"},
		{3, 0, 4, 1, " a| b| c|+D| e| f| g"},
		{2, 2, 1, 0, " a|-b|-c| e| f| g"},
		{2, 1, 2, 3, " a|-b|+B|+C|+D| c| e| f"},
		{1, 1, 2, 1, ""},
		{2, 3, 2, 1, ""},
		{2, 1, 5, 1, ""},
	} {
		h := protocol.Hunk{Kind: "text", OldStart: c.old, OldLines: c.oldLines, NewStart: c.new, NewLines: c.newLines}
		r, ok := p.find(h)
		var lines []string
		for _, part := range [][]diffLine{r.before, r.lines, r.after} {
			for _, l := range part {
				lines = append(lines, string(l.op)+l.text)
			}
		}
		if got := strings.Join(lines, "|"); got != c.want || ok != (c.want != "") {
			t.Errorf("%+v: %s, want %s", h, got, c.want)
		}
		if ok && !r.of(h) {
			t.Errorf("%+v: it is %+v", h, r)
		}
	}
}
