package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/loomd/loomd/diffpreview"
)

// bringing is one bringing in step of a root's copy.
type bringing struct {
	*rootCopy
	alone bool                           // no command runs: nobody else changes the copy
	over  map[string]diffpreview.Content // what the view has other than the tree
	at    time.Time
	rules *rules // of the tree

	mu      sync.Mutex // guards the fields below
	fresh   map[string]*record
	touched map[string]int64 // directories that were written in, with their mtime in the tree
}

// bring makes the root's copy what the view has: over is where that is not the tree.
// After an error, what was done so far is recorded, and the next one goes on.
func (r *rootCopy) bring(ctx context.Context, alone bool, over map[string]diffpreview.Content) error {
	b := &bringing{
		rootCopy: r, alone: alone, over: over, at: time.Now(), rules: newRules(r.root.Path, r.tree),
		fresh: map[string]*record{}, touched: map[string]int64{},
	}
	r.run++
	c := crawl{visit: b.visit}
	first := &node{rel: ".", src: r.tree, dst: r.copy}
	err := c.run(ctx, first)
	for rel, rec := range b.fresh {
		r.records[rel] = rec
	}
	if err != nil {
		return err
	}
	if err := b.sweep(ctx); err != nil {
		return err
	}
	if err := b.lay(ctx); err != nil {
		return err
	}
	if err := b.renewGits(); err != nil {
		return err
	}
	for rel, mtime := range b.touched {
		// A directory that went meanwhile needs no time.
		_ = r.copy.Chtimes(rel, time.Time{}, time.Unix(0, mtime))
	}
	return nil
}

// visit brings the entries of one directory of the tree in step.
func (b *bringing) visit(ctx context.Context, n *node) ([]*node, error) {
	names, err := n.list()
	switch {
	case err == nil:
	case gone(err), errors.Is(err, fs.ErrPermission): // the view cannot be read there either
		return nil, nil
	default:
		return nil, b.fail("reading", n.rel, err)
	}
	var subs []*node
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sub, err := b.entry(n, name)
		if b.raced(err) {
			continue
		}
		if err != nil {
			return nil, b.fail("copying", join(n.rel, name), err)
		}
		if sub != nil {
			subs = append(subs, sub)
		}
	}
	if n.dst != nil && n.parent != nil {
		b.touch(n.rel, n.mtime)
	}
	return subs, nil
}

func (b *bringing) touch(rel string, mtime int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.touched[rel] = mtime
}

func (b *bringing) fail(doing, rel string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%s %s into the session's copy: %w", doing, b.named(rel), err)
}

// record is the one of a path, made when there is none.
func (b *bringing) record(rel string) *record {
	if rec := b.records[rel]; rec != nil {
		return rec
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	rec := b.fresh[rel]
	if rec == nil {
		rec = &record{seen: b.run}
		b.fresh[rel] = rec
	}
	return rec
}

// entry brings one entry of the tree in step. It returns the node of a directory.
func (b *bringing) entry(n *node, name string) (*node, error) {
	rel := join(n.rel, name)
	rec := b.records[rel]
	if _, over := b.over[rel]; over {
		return nil, nil // lay does it
	}
	if (n.git || isGit(name)) && isLock(name) {
		return nil, nil
	}
	e, err := n.at.stat(name, b.at)
	if err != nil {
		if gone(err) {
			return nil, nil
		}
		return nil, err
	}
	st := e.stamp
	if st.kind == special {
		return nil, nil
	}
	if rec != nil {
		rec.seen = b.run
	}
	switch {
	case st.kind == dir:
		return b.directory(n, name, e)
	case rec != nil && rec.inStep(st):
		return nil, nil
	case rec != nil && rec.left && !rec.reset:
		return nil, nil // the session's own
	}
	if isGit(name) && !n.git {
		if done, err := b.gitOutside(n, name, st); done || err != nil {
			return nil, err
		}
	}
	there, mine, err := b.mine(n, name, rec)
	if err != nil || !mine {
		return nil, err
	}
	if st.kind == link {
		return nil, b.link(n, name, st, there)
	}
	return nil, b.file(n, name, st, there)
}

// mine reports whether the copy at a path may be changed, and whether there is
// something. What a running command has changed, or may be using, is not.
func (b *bringing) mine(n *node, name string, rec *record) (there, mine bool, err error) {
	if rec != nil && rec.reset && !b.alone {
		return true, false, nil
	}
	if b.alone {
		return rec != nil && rec.copy.kind != none, true, nil
	}
	dst, err := b.dest(n)
	if errors.Is(err, errBusy) {
		return false, false, nil
	}
	if err != nil {
		return false, false, err
	}
	info, err := dst.Lstat(name)
	switch {
	case gone(err):
		return false, rec == nil || rec.copy.kind == none, nil
	case err != nil:
		return false, false, err
	}
	return true, rec != nil && rec.copy.same(stampOf(info, b.at)), nil
}

// errBusy is a directory that a running command has made something else of.
var errBusy = errors.New("is being changed by a command")

// dest returns the copy's directory of a node, which is made when it is not there.
func (b *bringing) dest(n *node) (*os.Root, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.dst != nil {
		return n.dst, nil
	}
	above, err := b.dest(n.parent)
	if err != nil {
		return nil, err
	}
	mode := n.mode | 0o700
	info, err := above.Lstat(n.name)
	switch {
	case err == nil && info.IsDir():
	case err == nil && !b.alone:
		return nil, errBusy
	case err == nil:
		err = removeAll(above, n.name)
		fallthrough
	default:
		if err == nil || gone(err) {
			if err = above.Mkdir(n.name, mode); err == nil {
				if err = above.Chmod(n.name, mode); err == nil {
					info, err = above.Lstat(n.name)
				}
			}
		}
	}
	if err != nil {
		return nil, err
	}
	if n.dst, err = openDir(above, n.name, info); err != nil {
		return nil, err
	}
	rec := b.record(n.rel)
	rec.copy, rec.left, rec.over = stampOf(info, b.at), false, nil
	return n.dst, nil
}

// raced reports whether an error comes of a running command that changed the same place
// at the same moment: what it made stays, until an End has seen it.
func (b *bringing) raced(err error) bool {
	return err != nil && !b.alone && (gone(err) || errors.Is(err, errBusy) || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrPermission) ||
		errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.EXDEV) || isEscape(err))
}

// isEscape recognises os.Root's refusal of a link that leads out of it, whose error value
// is not exported (Go 1.26), by its text.
func isEscape(err error) bool {
	var pe *fs.PathError
	var le *os.LinkError
	return errors.As(err, &pe) && pe.Err.Error() == "path escapes from parent" ||
		errors.As(err, &le) && le.Err.Error() == "path escapes from parent"
}

// directory brings a directory in step, but for what is in it.
func (b *bringing) directory(n *node, name string, e entry) (*node, error) {
	st := e.stamp
	sub := n.under(name, e)
	rec := b.record(sub.rel)
	switch {
	case rec.copy.kind == none && rec.left && !rec.reset: // a command removed it: it comes back when something is put into it
		return sub, nil
	case rec.copy.kind != dir:
		if _, err := b.dest(sub); errors.Is(err, errBusy) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
	case rec.reset && !b.alone:
		return sub, nil
	case rec.reset || rec.tree.mode != st.mode:
		dst, err := b.dest(n)
		if errors.Is(err, errBusy) {
			return nil, nil
		}
		if err == nil {
			err = dst.Chmod(name, st.mode|0o700)
		}
		if err != nil {
			return nil, err
		}
		rec.copy.mode = st.mode | 0o700
	}
	rec.tree, rec.reset, rec.over = st, false, nil
	return sub, nil
}

// link copies a link.
func (b *bringing) link(n *node, name string, st stamp, there bool) error {
	src, err := n.source()
	if err != nil {
		return unlessGone(err)
	}
	target, err := src.Readlink(name)
	if gone(err) || errors.Is(err, fs.ErrInvalid) {
		return nil
	}
	if err != nil {
		return err
	}
	rec := b.record(join(n.rel, name))
	if rec.copy.kind != link || rec.target != target || rec.reset {
		dst, err := b.dest(n)
		if err != nil {
			return unlessBusy(err)
		}
		if rec.copy, err = b.write.link(placed{dst, name, there}, b.inward(target)); err != nil {
			return err
		}
	}
	b.pack.drop(rec.body)
	*rec = record{copy: rec.copy, tree: st, target: target, seen: b.run}
	return nil
}

func unlessGone(err error) error {
	if gone(err) {
		return nil
	}
	return err
}

func unlessBusy(err error) error {
	if errors.Is(err, errBusy) {
		return nil
	}
	return err
}
