package watch

import (
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
)

// guard watches the directories on the way to the files that decide about ignore
// rules from outside of the root, so that events tell of these, too, and they need
// not be looked at before every answer. What it cannot be sure of is looked at: a
// file reached by a link or with several names, or within what the tree watches
// itself, or on a file system whose events do not tell all. Where so much happens in
// these directories that to hear of it costs more than to look, it only looks.
type guard struct {
	names atomic.Pointer[map[string]bool] // files and directories of which an event counts
	dirs  map[string]bool                 // watched for it; the worker's
	off   atomic.Bool                     // too much happened

	second time.Time // in which other events are counted; these are of the drain
	others int
}

// mostOthers is how many events in a second of what is beside those files are too
// many: a home directory has none for hours, but a program may write its log there.
const mostOthers = 2000

// other counts an event that was of no use, and reports whether it was one too many.
func (g *guard) other(most int) bool {
	if now := time.Now(); now.Sub(g.second) > time.Second {
		g.second, g.others = now, 0
	}
	g.others++
	return g.others > most && g.off.CompareAndSwap(false, true)
}

// guards is whether a directory can be watched without opening what is in it.
const guards = runtime.GOOS == "linux"

// concerns reports whether an event is of something that the guard waits for.
func (g *guard) concerns(event fsnotify.Event) bool {
	names := g.names.Load()
	// fsnotify joins "/" and a name with one separator more.
	return names != nil && (*names)[strings.TrimLeft(event.Name, "/")]
}

// guardAround watches what the surroundings were read from, and notes of which
// inputs events tell now. It reports whether they have to be read again, since
// they were read before they were watched.
func (t *Tree) guardAround() (again bool) {
	g := &t.guard
	ways := make([]way, len(t.aroundInputs))
	names, wanted := map[string]bool{}, map[string]bool{}
	for i := range t.aroundInputs {
		if ways[i] = t.wayTo(t.aroundInputs[i].abs); !ways[i].sure {
			continue
		}
		for _, dir := range ways[i].dirs {
			if !g.dirs[dir] && t.watches.addOutside(dir) == nil {
				g.dirs[dir], again = true, true
			}
			ways[i].sure = ways[i].sure && g.dirs[dir]
			wanted[dir] = true
		}
		for _, name := range ways[i].names {
			names[strings.TrimLeft(name, "/")] = true
		}
	}
	for i := range t.aroundInputs {
		t.aroundInputs[i].watched = ways[i].sure
	}
	for dir := range g.dirs {
		if !wanted[dir] {
			t.watches.dropOutside(dir)
			delete(g.dirs, dir)
		}
	}
	g.names.Store(&names)
	return again
}

// renewGuard ends all watches of the guard: those on the way to a file may be on
// directories that were moved elsewhere.
func (t *Tree) renewGuard() {
	for dir := range t.guard.dirs {
		t.watches.dropOutside(dir)
	}
	t.guard.dirs = map[string]bool{}
}

// way is what an event has to be of to change what is at a path, and where such
// events are told of.
type way struct {
	sure        bool // of all that can happen
	names, dirs []string
}

func (t *Tree) wayTo(abs string) way {
	if !guards || t.guard.off.Load() || t.watches.dead() {
		return way{}
	}
	own := filepath.Join(t.root, ".git") // is no part of the tree
	w := way{sure: true}
	dir := string(filepath.Separator)
	for rest := strings.TrimPrefix(abs, dir); ; {
		if isWithin(dir, t.root) && !isWithin(dir, own) && dir != t.root || isWithin(dir, t.cookieDir) || t.eventless(dir) {
			return way{}
		}
		w.dirs = append(w.dirs, dir)
		name, below, more := strings.Cut(rest, string(filepath.Separator))
		dir, rest = filepath.Join(dir, name), below
		w.names = append(w.names, dir)
		st, _, err := statPath(dir, false)
		switch {
		case err == nil && (st.kind == Link || st.linked):
			return way{}
		case vanished(err) || err == nil && (st.kind != Dir || !more):
			return w
		case err != nil:
			return way{}
		}
	}
}
