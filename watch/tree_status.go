package watch

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// TreeStatus is how a tree is doing.
type TreeStatus struct {
	// State is "building" until the first scan is complete, then "live" when
	// events tell of everything, "polling" when something has to be looked at for
	// each answer, "stale" while the root is gone or lost events are made up for.
	// Answers of Sync are right in each.
	State      string
	Generation uint64
	Files      int // links and special files among them
	Dirs       int
	Watches    int
	Scanned    int // entries looked at by scans so far: progress while building
	Problems   []Problem
}

// Problem is something that does not work as it should.
type Problem struct {
	Path    string // "." the root; the first one when there are several
	Message string
	Hint    string // what would help, such as a setting; may be empty
	Since   time.Time
}

// Status tells how the tree is doing at this moment.
func (t *Tree) Status() TreeStatus {
	stale := t.queue.stale()
	s := TreeStatus{Watches: t.watches.count(), Scanned: int(t.scanned.Load())}
	t.mu.RLock()
	defer t.mu.RUnlock()
	s.Generation, s.Files, s.Dirs = t.generation, t.files, t.dirCount
	s.Problems = t.problems()
	switch {
	case !t.built:
		s.State = "building"
	case stale || t.behind || !t.gone.IsZero():
		s.State = "stale"
	case len(t.polled) > 0:
		s.State = "polling"
	default:
		s.State = "live"
	}
	return s
}

// problems says what is polled and why, each reason once. The caller holds mu.
func (t *Tree) problems() []Problem {
	type group struct {
		Problem
		count int
	}
	groups := map[string]*group{}
	for d, since := range t.polled {
		why := polledBecause(d)
		g := groups[why]
		if g == nil {
			g = &group{Problem: Problem{Path: d.path, Message: why, Since: since}}
			if d.reason != nil {
				g.Hint = limitHint(d.reason)
			}
			groups[why] = g
		}
		g.count++
		g.Path = min(g.Path, d.path)
		if since.Before(g.Since) {
			g.Since = since
		}
	}
	list := []Problem{}
	if !t.gone.IsZero() {
		list = append(list, Problem{Path: ".", Message: t.root + " is gone", Since: t.gone})
	}
	for _, g := range groups {
		what := "a directory is"
		if g.count > 1 {
			what = fmt.Sprintf("%d directories are", g.count)
		}
		g.Message = what + " looked at for each answer instead of watched: " + g.Message
		list = append(list, g.Problem)
	}
	slices.SortFunc(list, func(a, b Problem) int { return strings.Compare(a.Message, b.Message) })
	return list
}

// polledBecause names the reason why a directory is polled, without its path.
func polledBecause(d *treeDir) string {
	err := d.reason
	if err == nil {
		err = errRestless
	}
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err.Error()
}
