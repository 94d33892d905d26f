package main

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/loomd/loomd/daemon/protocol"
)

const draftKept = "what you wrote is kept: e opens it again"

// edit accepts what the person makes of the hunk's text. What was typed stays
// the hunk's draft until something comes of it or the person throws it away.
func (w *walk) edit(ctx context.Context, it *walkItem) (bool, error) {
	for {
		show, err := w.editOnce(ctx, it)
		if it.draft == "" || err != nil {
			return show, err
		}
		if !canEdit(w, it) {
			w.tellDraft(it)
			return show, nil
		}
		if show {
			w.show(it, shownLines)
		}
		answer, err := w.line(ctx, "edit again what you wrote? n throws it away [y/n] ")
		switch {
		case err != nil:
			return false, err
		case answer == "n":
			it.draft = ""
			return false, nil
		case answer != "y":
			w.say(draftKept)
			return false, nil
		}
	}
}

// editOnce has the person edit the draft, or else the hunk's text, and accepts
// the outcome.
func (w *walk) editOnce(ctx context.Context, it *walkItem) (bool, error) {
	before := it.editText()
	given := before
	if it.draft != "" {
		given = it.draft
	}
	if !it.conflict() {
		w.say(w.view.paint.faint("what you save is accepted, also unchanged; an editor that fails decides nothing"))
	}
	edited, err := w.con.Edit(ctx, path.Base(it.file.p.Path), given)
	switch edited {
	case "": // nothing to keep, or it could not be read
	case before:
		it.draft = ""
	default:
		it.draft = edited
	}
	if err != nil {
		w.say("nothing was decided: " + oneLine(err.Error()))
		return false, ctx.Err()
	}
	text, err := it.settle(edited)
	if err != nil {
		w.say("nothing was decided: " + oneLine(err.Error()))
		return false, nil
	}
	if text == "" && before != "" {
		answer, err := w.line(ctx, "the text is empty: accept the hunk without any lines? [y/n] ")
		if err != nil {
			return false, err
		}
		if answer != "y" {
			w.say("nothing was decided")
			return false, nil
		}
	}
	d := protocol.HunkDecision{Decision: protocol.Accept, Text: &text}
	if !it.conflict() && text == it.text.newText() {
		d.Text = nil // as the agent proposed it
	}
	return w.decide(ctx, it, d)
}

// tellDrafts prints what the person typed and nothing came of.
func (w *walk) tellDrafts() {
	for _, it := range w.items {
		if it.draft != "" {
			w.tellDraft(it)
		}
	}
}

func (w *walk) tellDraft(it *walkItem) {
	state := string(it.hunk.State)
	switch {
	case it.gone:
		state = "no longer proposed"
	case it.undecided():
		state = "not decided"
	}
	w.say(w.view.paint.warn(fmt.Sprintf("what you wrote for %s of %s, which is %s:", it.hunk.ID, pathName(it.file.p.Path), state)))
	for line := range strings.SplitSeq(strings.TrimSuffix(it.draft, "\n"), "\n") {
		w.view.body(" " + line)
	}
	it.draft = ""
}
