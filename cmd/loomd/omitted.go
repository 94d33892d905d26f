package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/loomd/loomd/daemon/client"
	"github.com/loomd/loomd/daemon/protocol"
)

// words describes a hunk that no line of the diff shows, after its name.
func (v diffView) words(name string, p protocol.Proposal, h protocol.Hunk) {
	text, hidden := wordsFor(p, h)
	if hidden {
		text = v.paint.warn(text)
	}
	v.line(name + "  " + text)
}

// wordsFor says what a hunk does whose lines are not in the diff. hidden: there
// are lines, and they were not shown.
func wordsFor(p protocol.Proposal, h protocol.Hunk) (text string, hidden bool) {
	size := fmt.Sprintf("+%d −%d lines", h.NewLines, h.OldLines)
	tooLong := "too long to show here, it was NOT shown (" + size + ")"
	isBinary := h.Kind == "binary" || strings.HasPrefix(p.Diff, "Binary files ")
	switch {
	case h.Kind == "rename":
		return "the file is renamed from " + pathName(h.From) + " to " + pathName(h.To), false
	case h.Kind == "mode":
		return modeWords(h), false
	case h.Kind == "link" && h.OldMode == "":
		return "new link", false
	case h.Kind == "link":
		return "the link changes, or a file becomes one", false
	case h.Kind == "create" && h.NewLines == 0:
		return "new empty file", false
	case h.Kind == "create" && isBinary:
		return "new binary file", false
	case h.Kind == "create":
		return "new file: " + tooLong, true
	case h.Kind == "delete" && (h.OldLines == 0 || isBinary):
		return "the file is deleted", false
	case h.Kind == "delete":
		return "the file is deleted: " + tooLong, true
	case h.OldBytes+h.NewBytes > 0:
		return fmt.Sprintf("binary content changes, from %s to %s", plural(h.OldBytes, "byte"), plural(h.NewBytes, "byte")), false
	case isBinary:
		return "binary content changes", false
	}
	return fmt.Sprintf("lines %s become lines %s: %s",
		lineRange(h.OldStart, h.OldLines), lineRange(h.NewStart, h.NewLines), tooLong), true
}

// modeWords says what a change of the mode means.
func modeWords(h protocol.Hunk) string {
	text := "the mode changes from " + h.OldMode + " to " + h.NewMode
	switch {
	case h.OldMode == h.NewMode: // git writes two modes only
		return "who may read and write the file changes"
	case h.NewMode == "100755":
		return text + ": it can be run"
	case h.OldMode == "100755":
		return text + ": it can no longer be run"
	}
	return text
}

// isProperty tells hunks that are about a file and not about its content.
func isProperty(h protocol.Hunk) bool { return h.Kind == "rename" || h.Kind == "mode" }

// tooManyHunks stands for all of a proposal.
func tooManyHunks(p protocol.Proposal) string {
	return fmt.Sprintf("%s: too many to show here, they were NOT shown (+%d −%d lines); loomd review show %s has them",
		plural(p.HunkCount, "hunk"), p.Added, p.Removed, p.ID)
}

// hidden says that the hunk has lines that no diff showed.
func (it *walkItem) hidden() bool {
	if it.hasText || it.conflict() || it.gone {
		return false
	}
	_, hidden := wordsFor(it.file.p, it.hunk)
	return hidden
}

// errOtherVersion says that a proposal changed while its texts were fetched.
var errOtherVersion = errors.New("the proposal has changed meanwhile; this is how it stands now")

// fetched prints a hunk whose lines the diff left out from the texts, page by
// page as the daemon gives them.
func (w *walk) fetched(ctx context.Context, it *walkItem) (show bool, err error) {
	h := it.hunk
	w.say(w.view.paint.place(fmt.Sprintf("@@ -%s +%s @@ %s",
		lineRange(h.OldStart, h.OldLines), lineRange(h.NewStart, h.NewLines), h.ID)))
	for _, side := range []struct {
		op           byte
		start, count int
		of           func(protocol.ProposalsGetResult) *protocol.Text
	}{
		{'-', h.OldStart, h.OldLines, func(res protocol.ProposalsGetResult) *protocol.Text { return res.Base }},
		{'+', h.NewStart, h.NewLines, func(res protocol.ProposalsGetResult) *protocol.Text { return res.Proposed }},
	} {
		lines := lineCutter{first: side.start, last: side.start + side.count - 1, put: func(text string, noEOL bool) {
			w.view.diffLine(diffLine{op: side.op, text: text, noEOL: noEOL})
		}}
		err := w.pages(ctx, it.file, side.of, &lines)
		var answer *client.Error
		switch {
		case errors.Is(err, errOtherVersion):
			w.say(w.view.paint.warn(err.Error()))
			return true, nil
		case errors.As(err, &answer):
			w.say(w.view.paint.warn("not shown: " + oneLine(answer.Message)))
			return false, nil
		case err != nil:
			return false, err
		}
	}
	return false, nil
}

// pages hands the pages of one side of a proposal to lines until it has enough.
func (w *walk) pages(ctx context.Context, file *walkFile, side func(protocol.ProposalsGetResult) *protocol.Text, lines *lineCutter) error {
	lossy := false
	for offset := 0; !lines.done(); {
		res, err := w.rev.Proposal(ctx, protocol.ProposalsGetParams{ID: file.p.ID, Texts: true, Offset: offset})
		if err != nil {
			return err
		}
		if res.Proposal.Version != file.p.Version {
			w.take(res.Proposal)
			return errOtherVersion
		}
		page := side(res)
		if page == nil {
			return errors.New("the daemon sends no texts")
		}
		if page.Lossy && !lossy {
			lossy = true
			w.say(w.view.paint.warn(notUTF8))
		}
		lines.add(page.Text)
		if page.NextOffset <= offset {
			lines.end()
			return nil
		}
		offset = page.NextOffset
	}
	return nil
}

// lineCutter picks a range of lines, counted from 1, out of a text that comes
// in pieces.
type lineCutter struct {
	first, last int
	put         func(text string, noEOL bool)
	at          int    // lines that have ended
	rest        string // of the line that has not
}

func (c *lineCutter) done() bool { return c.at >= c.last }

func (c *lineCutter) add(text string) {
	text = c.rest + text
	for !c.done() {
		line, after, ended := strings.Cut(text, "\n")
		if !ended {
			break
		}
		text = after
		if c.at++; c.at >= c.first {
			c.put(line, false)
		}
	}
	c.rest = text
}

// end says that no more text comes.
func (c *lineCutter) end() {
	if c.rest == "" || c.done() {
		return
	}
	if c.at++; c.at >= c.first {
		c.put(c.rest, true)
	}
}
