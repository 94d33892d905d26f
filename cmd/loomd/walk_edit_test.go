package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/loomd/loomd/daemon/protocol"
)

func editing(t *testing.T, edit func(name, text string) (string, error), keys ...string) *script {
	return &script{t: t, input: keys, wide: 80, edit: edit}
}

func TestWalkEdits(t *testing.T) {
	d := twoFiles(t)
	playOn(t, d, editing(t, func(name, text string) (string, error) {
		if name != "f" || text != "zwei\n" {
			t.Errorf("the editor is given %s with %q", name, text)
		}
		return "deux\nencore", nil
	}, "e", "q"))
	expectDecisions(t, d, `p1@3 accept:h2="deux\nencore\n"`)

	d = twoFiles(t) // left as it was: a plain accept
	playOn(t, d, editing(t, func(_, text string) (string, error) { return text, nil }, "e", "q"))
	expectDecisions(t, d, "p1@3 accept:h2")
}

func TestWalkEditEndsNothing(t *testing.T) {
	d := twoFiles(t)
	s := editing(t, func(string, string) (string, error) { return "", errors.New("the editor vi: exit status 1") }, "e", "q")
	playOn(t, d, s)
	expectDecisions(t, d)
	s.says(`nothing was decided: the editor vi: exit status 1`, `\(1/4\)`)

	d = twoFiles(t)
	s = editing(t, func(string, string) (string, error) { return "", nil }, "e", "n", "e", "y", "q")
	playOn(t, d, s)
	expectDecisions(t, d, `p1@3 accept:h2=""`)
	s.says(`the text is empty`, `nothing was decided`, `the text is empty`, `wrote f`)

	d = twoFiles(t)
	d.proposals[0].lossy = true
	s = editing(t, nil, "e", "q")
	playOn(t, d, s)
	s.says(`bytes that cannot be shown are U\+FFFD`, `not UTF-8: edit the file itself`)
}

func TestWalkEditsAConflict(t *testing.T) {
	d := conflicting(t)
	marked := strings.Join([]string{markTree, "quattro", markBase, "four", markMid, "vier", markAgent, ""}, "\n")
	answers := []string{"keep\n" + markMid + "\n", "quattro vier"}
	given := []string{marked, answers[0]}
	s := editing(t, func(_, text string) (string, error) {
		if text != given[0] {
			t.Errorf("the editor is given\n%s\nwant\n%s", text, given[0])
		}
		given = given[1:]
		answer := answers[0]
		answers = answers[1:]
		return answer, nil
	}, "j", "e", "y", "q")
	playOn(t, d, s)
	expectDecisions(t, d, `p1@3 accept:h4="quattro vier\n"`)
	s.says(`the marks of the conflict are still there`)
}

func TestSettleKeepsTheEnd(t *testing.T) {
	added := func(lines ...diffLine) *walkItem {
		return &walkItem{file: &walkFile{}, hunk: protocol.Hunk{Kind: "text", State: protocol.HunkOpen}, text: region{lines: lines}, hasText: true}
	}
	for _, c := range []struct {
		name         string
		it           *walkItem
		edited, want string
	}{
		{"editors end the last line", added(diffLine{'+', "a", true}), "b\n", "b"},
		{"no end where there was none", added(diffLine{'+', "a", true}), "b", "b"},
		{"an end where there was one", added(diffLine{'+', "a", false}), "b", "b\n"},
		{"in the file's form", added(diffLine{'+', "a\r", false}), "b", "b\r\n"},
		{"lines in place of none", added(diffLine{'-', "a", false}), "b", "b\n"},
		{"none", added(diffLine{'+', "a", false}), "", ""},
	} {
		if got, err := c.it.settle(c.edited); err != nil || got != c.want {
			t.Errorf("%s: settle(%q) = %q, %v; want %q", c.name, c.edited, got, err, c.want)
		}
	}
}
