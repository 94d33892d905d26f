package main

import (
	"context"
	"fmt"
	"strings"
)

// Keys that are not characters.
const (
	keyUp    = "up"
	keyDown  = "down"
	keyEnter = "enter"
)

// walkKey is one key of the walk: git add -p's where git has one for it.
type walkKey struct {
	key  string
	help string
	// offered says when the prompt lists the key; nil: always.
	offered func(w *walk, it *walkItem) bool
	// do acts and says whether the hunk is to be shown (again).
	do func(w *walk, ctx context.Context, it *walkItem) (show bool, err error)
}

func waits(_ *walk, it *walkItem) bool     { return it.undecided() }
func isPlain(_ *walk, it *walkItem) bool   { return it.undecided() && !it.conflict() }
func collides(_ *walk, it *walkItem) bool  { return it.undecided() && it.conflict() }
func canMove(w *walk, _ *walkItem) bool    { return len(w.items) > 1 }
func canEdit(_ *walk, it *walkItem) bool   { return it.undecided() && it.editable() == nil }
func canUndo(w *walk, it *walkItem) bool   { return len(w.past) > 0 || !it.undecided() && !it.gone }
func others(w *walk, it *walkItem) bool    { return isPlain(w, it) && w.laterInFile(it) > 0 }
func othersAny(w *walk, it *walkItem) bool { return it.undecided() && w.laterInFile(it) > 0 }

// walkKeys is the order of the prompt and of "?". It is made by a function
// because the keys' actions refer to it.
func walkKeys() []walkKey {
	return []walkKey{
		{"y", "accept this hunk: write it", isPlain, (*walk).accept},
		{"n", "reject this hunk: take it out of the agent's view", waits, (*walk).reject},
		{"A", "settle this conflict by the agent's text", collides, (*walk).takeAgent},
		{"t", "settle this conflict by what stands in the tree: the agent's text is rejected", collides, (*walk).takeTree},
		{"c", "reject this hunk with a comment for the agent", waits, (*walk).rejectWithComment},
		{"e", "edit the text in an editor and accept what you make of it; saved unchanged, it is accepted as it is", canEdit, (*walk).edit},
		{"l", "choose lines of this hunk and accept them; the others stay undecided", canChoose, (*walk).chooseLines},
		{"s", "split this hunk into smaller ones", canSplit, (*walk).split},
		{"a", "accept this hunk and all later ones of this proposal", others, (*walk).acceptRest},
		{"d", "reject this hunk and all later ones of this proposal", othersAny, (*walk).rejectRest},
		{"u", "undo the decision on this hunk, or else the last one", canUndo, (*walk).undo},
		{"j", "leave this hunk, go to the next one that waits", canMove, (*walk).nextWaiting},
		{"J", "leave this hunk, go to the next one", canMove, (*walk).nextAny},
		{"k", "leave this hunk, go to the one before that waits", canMove, (*walk).prevWaiting},
		{"K", "leave this hunk, go to the one before", canMove, (*walk).prevAny},
		{"g", "list the hunks and go to one", canMove, (*walk).goTo},
		{"/", "go to the next hunk that matches a regular expression", canMove, (*walk).search},
		{"p", "print this hunk again, whole", nil, (*walk).print},
		{"q", "quit; what is undecided stays so", nil, (*walk).quit},
		{"?", "print this help", nil, (*walk).help},
	}
}

// ask shows the prompt, waits for a key and does what it says.
func (w *walk) ask(ctx context.Context) (show bool, err error) {
	it := w.current()
	keys := walkKeys()
	var offered []string
	for _, k := range keys {
		if k.offered == nil || k.offered(w, it) {
			offered = append(offered, k.key)
		}
	}
	key, err := w.con.Key(ctx, w.view.paint.bold(fmt.Sprintf("(%d/%d) %s [%s]? ",
		w.at+1, len(w.items), question(it), strings.Join(offered, ","))))
	if err != nil {
		w.say("")
		return false, err
	}
	switch key {
	case keyUp:
		key = "k"
	case keyDown:
		key = "j"
	case keyEnter:
		w.say("")
		return false, nil
	}
	w.say(visible(key))
	for _, k := range keys {
		if k.key != key {
			continue
		}
		if k.offered != nil && !k.offered(w, it) {
			w.say(w.unoffered(key, it))
			return false, nil
		}
		return k.do(w, ctx, it)
	}
	w.say("no such key; ? lists them")
	return false, nil
}

// question says what a yes would mean.
func question(it *walkItem) string {
	switch {
	case it.gone:
		return "no longer proposed"
	case !it.undecided():
		return string(it.hunk.State)
	case it.conflict():
		return "settle this conflict"
	}
	switch it.hunk.Kind {
	case "create":
		return "accept this new file"
	case "delete":
		return "accept this deletion"
	case "binary":
		return "accept this binary change"
	case "rename":
		return "accept this new name"
	case "mode":
		return "accept this mode"
	case "link":
		return "accept this link"
	}
	return "accept this hunk"
}

const conflictKeys = "somebody else changed these lines: A takes the agent's text, t keeps the tree's, e edits"

// unoffered says why a key does nothing here.
func (w *walk) unoffered(key string, it *walkItem) string {
	switch {
	case key == "u":
		return "nothing to undo"
	case strings.Contains("jJkKg/", key):
		return "there is no other hunk"
	case !it.undecided():
		return "this hunk was decided; u takes that back"
	case it.conflict() && (key == "y" || key == "a"):
		return conflictKeys
	case key == "A" || key == "t":
		return "this hunk is not in conflict"
	case key == "e":
		return it.editable().Error()
	case key == "l" || key == "s":
		return "this hunk is one piece"
	case key == "a" || key == "d":
		return "there are no later hunks in this proposal"
	}
	return "not here"
}

func (w *walk) help(_ context.Context, it *walkItem) (bool, error) {
	for _, k := range walkKeys() {
		if k.offered == nil || k.offered(w, it) {
			w.say(w.view.paint.place(k.key) + " - " + k.help)
		}
	}
	return false, nil
}

func (w *walk) quit(context.Context, *walkItem) (bool, error) { return false, errQuit }
