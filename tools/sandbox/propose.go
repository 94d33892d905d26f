package sandbox

import (
	"context"
	"crypto/sha256"
	"path"

	"github.com/loomd/loomd/diffpreview"
)

// pair finds the files that went from one place of a root to another: equal bytes, of
// which one is gone and the other new. An empty file could be any.
func (e *ending) pair() {
	type key struct {
		root *rootCopy
		sum  [sha256.Size]byte
	}
	sizes := map[int]bool{}
	for _, c := range e.changes {
		if c.appears() {
			sizes[len(c.mine.Data)] = true
		}
	}
	from := map[key][]*change{}
	for _, c := range e.changes {
		if c.vanishes() && sizes[len(c.base.Data)] {
			k := key{c.rootCopy, sha256.Sum256(c.base.Data)}
			from[k] = append(from[k], c)
		}
	}
	if len(from) == 0 {
		return
	}
	for _, sameName := range []bool{true, false} {
		for _, c := range e.changes {
			if !c.appears() || c.moved {
				continue
			}
			for _, old := range from[key{c.rootCopy, sha256.Sum256(c.mine.Data)}] {
				if old.to == nil && (!sameName || path.Base(old.rel) == path.Base(c.rel)) {
					old.to, c.moved = c, true
					break
				}
			}
		}
	}
}

// appears reports whether c is a new file that could have come from elsewhere.
func (c *change) appears() bool {
	return c.known && !c.base.Exists && c.mine.Exists && !c.mine.IsLink() && len(c.mine.Data) > 0
}

// vanishes reports whether c is a file that could have gone elsewhere.
func (c *change) vanishes() bool {
	return c.known && c.base.Exists && !c.base.IsLink() && !c.mine.Exists && c.now.kind == none && len(c.base.Data) > 0
}

// propose proposes the changes, and notes of each what became of it.
func (e *ending) propose(ctx context.Context, call diffpreview.Call) error {
	var list []*change
	for _, c := range e.changes {
		if !c.moved {
			list = append(list, c)
		}
	}
	failed, err := e.round(ctx, call, list)
	if err != nil {
		return err
	}
	// What stands on each other is tried again, a move as a new file and an old one that
	// goes: the name may have been that of a file that the session took away before.
	var again, goes []*change
	for _, f := range failed {
		switch {
		case f.change.clash || diffpreview.CodeOf(f.err) != diffpreview.CodeConflict:
			e.lose(f)
		case f.change.to != nil:
			e.carry(f.change)
			goes = append(goes, f.change)
			again = append(again, f.change.to)
		default:
			again = append(again, f.change)
		}
	}
	if failed, err = e.round(ctx, call, again); err != nil {
		e.abandon(goes)
		return err
	}
	lost := map[*change]bool{}
	for _, f := range failed {
		lost[f.change] = true
		e.lose(f)
	}
	var rest []*change
	for _, c := range goes {
		if lost[c.to] {
			c.putBack() // it stays where it was
			continue
		}
		c.to = nil
		rest = append(rest, c)
	}
	failed, err = e.round(ctx, call, rest)
	for _, f := range failed {
		e.lose(f)
	}
	return err
}

// carry makes a move two changes, of which the new file has what others have made of
// the old one meanwhile.
func (e *ending) carry(c *change) {
	now, err := e.Copy.opts.View.Read(c.path)
	if err != nil || !now.Exists {
		return // then the old one is a conflict
	}
	if merged, ok := merge(c.base, c.to.mine, now); ok {
		c.base, c.to.carries = now, &merged
	}
}

// abandon puts changes back that were not proposed.
func (e *ending) abandon(changes []*change) {
	for _, c := range changes {
		c.putBack()
		if c.to != nil {
			c.to.putBack()
		}
	}
}

// failed is a change that could not be proposed.
type failed struct {
	change *change
	err    error
}

// round proposes changes and returns those that could not be.
func (e *ending) round(ctx context.Context, call diffpreview.Call, list []*change) ([]failed, error) {
	if len(list) == 0 {
		return nil, nil
	}
	changes := make([]diffpreview.Change, len(list))
	for i, c := range list {
		changes[i] = diffpreview.Change{Path: c.path, Make: c.make}
		if c.to != nil {
			changes[i].To = c.to.path
		}
	}
	steps, errs, err := e.Copy.opts.View.ProposeEach(ctx, call, changes)
	if err != nil {
		e.abandon(list)
		return nil, err
	}
	var out []failed
	next := 0
	for i, c := range list {
		switch code := diffpreview.CodeOf(errs[i]); code {
		case "":
			step := steps[next]
			next++
			e.left.Steps = append(e.left.Steps, step)
			e.made(c, step)
		case diffpreview.CodeNoChange:
			c.settle(c.mine)
		default:
			out = append(out, failed{c, errs[i]})
		}
	}
	return out, nil
}

// make is what the view shall have, of what it has now.
func (c *change) make(now diffpreview.Content) (diffpreview.Content, error) {
	base, mine := c.base, c.mine
	switch {
	case c.to != nil:
		mine = c.to.mine
	case c.carries != nil:
		mine = *c.carries
	}
	if !c.known { // only when nobody else changed it, too, would it be
		base = now
		if !sameBytes(now, mine) && now.Exists {
			c.clash = true
			return now, c.conflict()
		}
	}
	merged, ok := merge(base, mine, now)
	if !ok {
		c.clash = true
		return now, c.conflict()
	}
	return merged, nil
}

func (c *change) conflict() error {
	return &diffpreview.Error{
		Code: diffpreview.CodeConflict, Path: c.named(c.rel),
		Message: "was changed by somebody else while the command ran, and that does not go together with what the command did; the file is as they have it now",
	}
}

// made notes what the view has of a change by now.
func (e *ending) made(c *change, step diffpreview.Step) {
	c.clash = false
	shown := c
	if c.to != nil {
		shown = c.to
		c.settle(diffpreview.Content{})
	}
	shown.settle(step.After)
	if step.After.Exists && !sameBytes(shown.mine, step.After) {
		// The agent has not seen what others changed: a write of the whole file is stale.
		e.Copy.opts.View.Saw(shown.path, shown.mine.Hash())
	}
}

// settle notes what the copy has at a path. Where the view has something else, the next
// Begin brings it in step.
func (c *change) settle(view diffpreview.Content) {
	rec := c.record()
	c.pack.drop(rec.body)
	has := c.mine
	next := record{copy: c.now, tree: rec.tree, over: &has, seen: rec.seen}
	if sameBytes(has, view) && (!has.Exists || has.IsLink() || modeOf(has) == modeOf(view)) {
		next.over = &view // whose bytes the store holds, too
	}
	if next.over.IsLink() {
		next.target = string(next.over.Data)
	} else if next.over.Exists {
		next.body = inMemory(next.over.Data)
	}
	*rec = next
}

// lose refuses a change. What clashed with others' is brought in step at once, all else
// when no command runs.
func (e *ending) lose(f failed) {
	c := f.change
	e.fail(c, f.err)
	if c.to != nil {
		c.to.putBack()
		if c.clash {
			c.to.settle(c.to.mine)
		}
	}
	if c.clash {
		c.settle(c.mine)
	}
}
