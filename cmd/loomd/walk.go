package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/loomd/loomd/daemon/client"
	"github.com/loomd/loomd/daemon/protocol"
)

// console is what the walk needs of a terminal.
type console interface {
	io.Writer
	// Key asks for one key and returns the character, or keyUp and the like.
	// io.EOF means that nothing more will come, or that the person said so.
	// What was typed on a terminal before the prompt stands there is no answer.
	Key(ctx context.Context, prompt string) (string, error)
	// Line asks for a line of text, as Key for a key. io.EOF: the person gave up.
	Line(ctx context.Context, prompt string) (string, error)
	// Edit lets the person edit text in an editor, in a file of that name. With
	// an error it returns what was saved by then.
	Edit(ctx context.Context, name, text string) (string, error)
	Width() int
}

// walk goes through hunks with a person and decides each. A decision is sent as
// soon as it is made, with the version that was shown.
type walk struct {
	rev     reviewer
	con     console
	view    diffView
	session string // only this one's; "": all

	files []*walkFile
	items []*walkItem
	at    int       // index of the item that is shown
	back  *walkItem // decided, and shown because the person went there
	shown *walkFile // whose title was printed last

	past []pastDecision

	// reconnect reaches the daemon anew when the connection has ended, once for
	// each time that it was reached; nil: the walk ends.
	reconnect func(context.Context) (reviewer, error)
	lost      bool // the connection ended and nothing has been decided since
}

// walkFile is one proposal as it was last heard of.
type walkFile struct {
	p    protocol.Proposal
	diff parsedDiff
}

// walkItem is one hunk. It stays in the walk after it was decided.
type walkItem struct {
	file    *walkFile
	hunk    protocol.Hunk
	text    region // as it was last shown in a diff
	hasText bool
	gone    bool   // no longer part of the proposal
	draft   string // what the person typed for it and nothing came of; "": nothing
}

func (it *walkItem) undecided() bool { return !it.gone && pending(it.hunk) }

func (it *walkItem) conflict() bool { return it.hunk.State == protocol.HunkConflict }

// update makes h the known state of the hunk. A decided hunk is no longer in
// the diff; it keeps the text under which it was decided.
func (it *walkItem) update(h protocol.Hunk) {
	it.hunk, it.gone = h, false
	if r, ok := it.file.diff.find(h); ok {
		it.text, it.hasText = r, true
	} else if pending(h) {
		it.hasText = false
	}
}

// pastDecision is what u takes back.
type pastDecision struct {
	proposal string
	hunks    []string
	decision protocol.Decision
	kept     bool // a conflict was settled by the tree's text
}

func newWalk(rev reviewer, con console, p paint, session string) *walk {
	return &walk{rev: rev, con: con, session: session, view: diffView{w: con, paint: p}}
}

// errQuit ends the walk at the person's wish.
var errQuit = errors.New("quit")

// run walks until everything is decided or the person quits, and sums up.
func (w *walk) run(ctx context.Context) error {
	if _, err := w.load(ctx); err != nil {
		return err
	}
	if len(w.items) == 0 {
		w.say(nothingPending)
		return nil
	}
	err := w.loop(ctx)
	if errors.Is(err, errQuit) || errors.Is(err, io.EOF) {
		err = nil
	}
	w.tellDrafts()
	w.summary()
	return err
}

func (w *walk) loop(ctx context.Context) error {
	again := true // show the hunk, not only the prompt
	for {
		more, err := w.step(ctx, &again)
		if errors.Is(err, client.ErrClosed) && w.reconnect != nil && !w.lost && ctx.Err() == nil {
			more, again = true, true
			err = w.resume(ctx)
		}
		if err != nil || !more {
			return err
		}
	}
}

// step shows the hunk that is to be decided, when again says so, and does what
// one key says.
func (w *walk) step(ctx context.Context, again *bool) (more bool, err error) {
	if !w.current().undecided() && w.back != w.current() {
		more, err := w.advance(ctx)
		if err != nil || !more {
			return false, err
		}
		*again = true
	}
	if *again {
		w.show(w.current(), shownLines)
	}
	*again, err = w.ask(ctx)
	return true, err
}

// resume reaches the daemon anew and learns how everything stands: whether the
// last decision came through is not known.
func (w *walk) resume(ctx context.Context) error {
	w.lost, w.shown = true, nil
	rev, err := w.reconnect(ctx)
	if err != nil {
		return err
	}
	w.rev = rev
	for _, f := range w.files {
		got, err := rev.Proposal(ctx, protocol.ProposalsGetParams{ID: f.p.ID})
		var answer *client.Error
		switch {
		case errors.As(err, &answer):
			for _, it := range w.items {
				it.gone = it.gone || it.file == f
			}
		case err != nil:
			return err
		default:
			w.take(got.Proposal)
		}
	}
	if _, err := w.load(ctx); err != nil {
		return err
	}
	w.say(w.view.paint.warn("the daemon had ended and was reached again; this is how things stand now"))
	if it := w.current(); it != nil && it.draft != "" && canEdit(w, it) {
		w.say(draftKept)
	}
	return nil
}

// advance moves to the next hunk that waits, from the present one on and then
// from the start; at the end it asks the daemon what has come meanwhile.
func (w *walk) advance(ctx context.Context) (more bool, err error) {
	if i := w.next(w.at, 1, (*walkItem).undecided); i >= 0 {
		w.at = i
		return true, nil
	}
	if i := w.next(-1, 1, (*walkItem).undecided); i >= 0 {
		w.at = i
		return true, nil
	}
	fresh, err := w.load(ctx)
	if err != nil || fresh == 0 {
		return false, err
	}
	w.say(w.view.paint.bold(plural(fresh, "more hunk") + " came meanwhile"))
	w.at = w.next(-1, 1, (*walkItem).undecided)
	return w.at >= 0, nil
}

// next returns the index of the nearest item after (step 1) or before (step -1)
// index from that is wanted, or -1.
func (w *walk) next(from, step int, wanted func(*walkItem) bool) int {
	for i := from + step; i >= 0 && i < len(w.items); i += step {
		if wanted(w.items[i]) {
			return i
		}
	}
	return -1
}

// load lists what waits and takes in what the walk does not know yet. It
// returns the number of new hunks.
func (w *walk) load(ctx context.Context) (fresh int, err error) {
	waiting, err := allProposals(ctx, w.rev, protocol.ProposalsListParams{Session: w.session})
	if err != nil {
		return 0, err
	}
	for _, p := range waiting {
		got, err := w.rev.Proposal(ctx, protocol.ProposalsGetParams{ID: p.ID})
		var answer *client.Error
		if errors.As(err, &answer) {
			continue // withdrawn since the list
		}
		if err != nil {
			return fresh, err
		}
		fresh += w.take(got.Proposal)
	}
	return fresh, nil
}

// take makes p the known state of its proposal: hunks keep their place, new
// ones follow the one before them. It returns the number of hunks that wait and
// did not before.
func (w *walk) take(p protocol.Proposal) (fresh int) {
	file := w.file(p)
	current := w.current()
	known, waited := map[string]*walkItem{}, map[string]bool{}
	after := len(w.items) // where the next new hunk goes
	for i, it := range w.items {
		if it.file == file {
			known[it.hunk.ID], waited[it.hunk.ID] = it, it.undecided()
			it.gone = true
			after = i + 1
		}
	}
	for _, h := range p.Hunks {
		it := known[h.ID]
		if it == nil {
			it = &walkItem{file: file}
			w.items = slices.Insert(w.items, after, it)
			after++
		} else {
			after = slices.Index(w.items, it) + 1
		}
		it.update(h)
		if it.undecided() && !waited[h.ID] {
			fresh++
		}
	}
	if current != nil {
		w.at = slices.Index(w.items, current)
	}
	return fresh
}

// file returns the walk's record of p's proposal, brought up to date.
func (w *walk) file(p protocol.Proposal) *walkFile {
	for _, f := range w.files {
		if f.p.ID == p.ID {
			f.p, f.diff = p, parseDiff(p.Diff)
			return f
		}
	}
	f := &walkFile{p: p, diff: parseDiff(p.Diff)}
	w.files = append(w.files, f)
	return f
}

func (w *walk) current() *walkItem {
	if len(w.items) == 0 {
		return nil
	}
	return w.items[w.at]
}

func (w *walk) say(text string) { fmt.Fprintln(w.con, text) }

// summary counts what was decided and what is left.
func (w *walk) summary() {
	w.say("")
	left := 0
	for _, it := range w.items {
		if it.undecided() {
			left++
		}
	}
	counts := map[protocol.Decision]int{}
	kept := 0
	for _, d := range w.past {
		if d.kept {
			kept += len(d.hunks)
			continue
		}
		counts[d.decision] += len(d.hunks)
	}
	text := fmt.Sprintf("%d accepted, %d rejected", counts[protocol.Accept], counts[protocol.Reject])
	if kept > 0 {
		text += fmt.Sprintf(", %d kept as the tree has it", kept)
	}
	if left > 0 {
		text += ", " + plural(left, "hunk") + " left"
	}
	w.say(text)
}
