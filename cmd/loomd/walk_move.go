package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/loomd/loomd/daemon/protocol"
)

// shownLines is how many changed lines of a hunk are shown at once; p prints
// the rest. Some ten screens: more scrolls by unread.
const shownLines = 400

// show prints a hunk, and whose it is when that changed.
func (w *walk) show(it *walkItem, limit int) {
	w.view.width = w.con.Width()
	if w.shown != it.file {
		if w.shown != nil {
			w.say("")
		}
		w.shown = it.file
		w.view.title(it.file.p)
		if it.file.p.DiffLossy {
			w.say(w.view.paint.warn("  " + notUTF8))
		}
	}
	switch {
	case it.conflict() && it.hunk.Conflict != nil:
		w.view.conflict(it.file.p, it.hunk)
	case it.hasText:
		if n := w.view.hunk(it.text, it.hunk.ID, limit); n > 0 {
			w.say(w.view.paint.warn(fmt.Sprintf("… %s not shown; p prints them", plural(n, "more changed line"))))
		}
	case !it.undecided() && it.hunk.Kind == "text":
		w.say(w.view.paint.place(it.hunk.ID) + fmt.Sprintf("  %s → %s", lineRange(it.hunk.OldStart, it.hunk.OldLines), lineRange(it.hunk.NewStart, it.hunk.NewLines)))
	default:
		w.view.words(it.hunk.ID+":", it.file.p, it.hunk)
		if it.hidden() && it.undecided() {
			w.say("p fetches and prints it")
		}
	}
}

func (w *walk) print(ctx context.Context, it *walkItem) (bool, error) {
	if it.hidden() && it.undecided() {
		return w.fetched(ctx, it)
	}
	w.show(it, 0)
	return false, nil
}

// visit goes to an item, decided or not.
func (w *walk) visit(i int) (bool, error) {
	w.at = i
	w.back = nil
	if it := w.current(); !it.undecided() {
		w.back = it
	}
	return true, nil
}

func (w *walk) move(step int, wanted func(*walkItem) bool, none string) (bool, error) {
	i := w.next(w.at, step, wanted)
	if i < 0 {
		w.say(none)
		return false, nil
	}
	return w.visit(i)
}

func anyItem(it *walkItem) bool { return !it.gone }

func (w *walk) nextWaiting(context.Context, *walkItem) (bool, error) {
	return w.move(1, (*walkItem).undecided, "no later hunk waits")
}

func (w *walk) prevWaiting(context.Context, *walkItem) (bool, error) {
	return w.move(-1, (*walkItem).undecided, "no earlier hunk waits")
}

func (w *walk) nextAny(context.Context, *walkItem) (bool, error) {
	return w.move(1, anyItem, "this is the last hunk")
}

func (w *walk) prevAny(context.Context, *walkItem) (bool, error) {
	return w.move(-1, anyItem, "this is the first hunk")
}

// goTo lists the hunks and asks for the number of one.
func (w *walk) goTo(ctx context.Context, _ *walkItem) (bool, error) {
	for i, it := range w.items {
		if !it.gone {
			w.say(shortenEnd(w.entry(i, it), w.con.Width()))
		}
	}
	line, err := w.line(ctx, "go to which hunk? ")
	if err != nil || line == "" {
		return false, err
	}
	n, err := strconv.Atoi(line)
	if err != nil || n < 1 || n > len(w.items) || w.items[n-1].gone {
		w.say("there is no hunk " + visible(line))
		return false, nil
	}
	return w.visit(n - 1)
}

// entry is one line of the list of hunks: its number, what was decided, where
// it is and its first changed line.
func (w *walk) entry(i int, it *walkItem) string {
	mark := " "
	switch it.hunk.State {
	case protocol.HunkAccepted:
		mark = "+"
	case protocol.HunkRejected:
		mark = "-"
	case protocol.HunkConflict:
		mark = "!"
	}
	text := fmt.Sprintf("%s%2d: %s %s", mark, i+1, pathName(it.file.p.Path), it.hunk.ID)
	if it.hasText && len(it.text.lines) > 0 {
		first := it.text.lines[0]
		text += ": " + strings.ReplaceAll(oneLine(string(first.op)+first.text), "\t", " ")
	}
	return text
}

// search goes to the next hunk, round the end if need be, with a line or a path
// that matches.
func (w *walk) search(ctx context.Context, _ *walkItem) (bool, error) {
	line, err := w.line(ctx, "search for regex? ")
	if err != nil || line == "" {
		return false, err
	}
	re, err := regexp.Compile(line)
	if err != nil {
		w.say(oneLine(err.Error()))
		return false, nil
	}
	for n := 1; n <= len(w.items); n++ {
		i := (w.at + n) % len(w.items)
		if it := w.items[i]; !it.gone && it.matches(re) {
			return w.visit(i)
		}
	}
	w.say("no hunk matches " + visible(line))
	return false, nil
}

func (it *walkItem) matches(re *regexp.Regexp) bool {
	if re.MatchString(it.file.p.Path) {
		return true
	}
	for _, part := range [][]diffLine{it.text.before, it.text.lines, it.text.after} {
		for _, l := range part {
			if re.MatchString(l.text) {
				return true
			}
		}
	}
	if c := it.hunk.Conflict; c != nil {
		return re.MatchString(c.Tree) || re.MatchString(c.Agent)
	}
	return false
}

// line asks for a line; giving up is an empty one.
func (w *walk) line(ctx context.Context, prompt string) (string, error) {
	line, err := w.con.Line(ctx, prompt)
	if errors.Is(err, io.EOF) {
		w.say("")
		return "", nil
	}
	return strings.TrimSpace(line), err
}
