package sandbox

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/loomd/loomd/diffpreview"
)

// maxTries bounds how often a file is copied anew that somebody is writing meanwhile.
const maxTries = 3

// file copies a file of the tree, unless the copy has its bytes already.
func (b *bringing) file(n *node, name string, st stamp, there bool) error {
	rel := join(n.rel, name)
	b.noteRules(rel)
	src, err := n.source()
	if err != nil {
		return unlessGone(err)
	}
	f, err := src.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	switch {
	case gone(err):
		return nil
	case errors.Is(err, fs.ErrPermission): // a command cannot read it either
		return b.unreadable(n, name, st, there)
	case err != nil:
		return err
	}
	defer f.Close()
	for range maxTries {
		now, err := f.Stat()
		if err != nil || !now.Mode().IsRegular() || stampOf(now, b.at).ino != st.ino {
			return err // it is another one by now; the next Begin sees that
		}
		st = stampOf(now, b.at)
		if err := b.fileOnce(n, name, f, st, there); err != nil {
			return unlessBusy(err)
		}
		if now, err = f.Stat(); err != nil || stampOf(now, b.at).same(st) {
			return err
		}
		there = true
	}
	b.record(rel).tree.racy = true // the next Begin looks at its bytes again
	return nil
}

// fileOnce copies an open file as it is now.
func (b *bringing) fileOnce(n *node, name string, f *os.File, st stamp, there bool) error {
	rel := join(n.rel, name)
	rec := b.record(rel)
	packed := !n.git && st.size <= maxPacked && !b.rules.ignored(rel, false)
	var data []byte
	if packed || rec.body.known && st.size <= maxPacked {
		buf := b.write.buffer()
		defer b.write.buffers.Put(buf)
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.Copy(buf, io.LimitReader(f, maxPacked+1)); err != nil {
			return err
		}
		data = buf.Bytes()
		packed = len(data) <= maxPacked
	}
	if same, err := b.keepBytes(n, name, rec, data, st); same || err != nil {
		return err
	}
	dst, err := b.dest(n)
	if err != nil {
		return err
	}
	p := placed{dst, name, there}
	var now stamp
	if packed && (st.size < cloneFrom || b.write.noClones.Load()) {
		now, err = b.write.bytes(p, data, st.mode, st.mtime)
	} else {
		now, err = b.write.stream(p, f, st.mode, st.mtime)
	}
	if err != nil {
		return err
	}
	b.pack.drop(rec.body)
	*rec = record{copy: now, tree: st, seen: b.run}
	if packed {
		rec.body, err = b.pack.put(data)
	}
	return err
}

// keepBytes is what is done for a file whose bytes the copy has: only what else is said
// of it is brought in step. A text of the view that was accepted keeps its mtime: what a
// command has built from it is newer.
func (b *bringing) keepBytes(n *node, name string, rec *record, data []byte, st stamp) (bool, error) {
	if rec.copy.kind != file || rec.reset || !rec.body.known || !rec.body.holds(b.pack, data) {
		return false, nil
	}
	dst, err := b.dest(n)
	if err != nil {
		return false, err
	}
	p := placed{dst, name, true}
	if rec.copy.mode != st.mode {
		err = dst.Chmod(name, st.mode)
	}
	if err == nil && rec.over == nil && rec.tree.mtime != st.mtime {
		err = b.write.touch(p, st.mtime)
	}
	if err != nil {
		return false, err
	}
	if rec.copy, err = p.stamp(nil); err != nil {
		return false, err
	}
	if !rec.body.packed { // the proposal that has these bytes may go
		if rec.body, err = b.pack.put(data); err != nil {
			return false, err
		}
	}
	rec.tree, rec.over, rec.target = st, nil, ""
	return true, nil
}

// unreadable puts an empty file in the place of one that cannot be read.
func (b *bringing) unreadable(n *node, name string, st stamp, there bool) error {
	rec := b.record(join(n.rel, name))
	dst, err := b.dest(n)
	if err != nil {
		return unlessBusy(err)
	}
	if rec.copy, err = b.write.bytes(placed{dst, name, there}, nil, st.mode, st.mtime); err != nil {
		return err
	}
	b.pack.drop(rec.body)
	*rec = record{copy: rec.copy, tree: st, seen: b.run}
	return nil
}

// lay puts what the view has other than the tree over it.
func (b *bringing) lay(ctx context.Context) error {
	rels := make([]string, 0, len(b.over))
	for rel := range b.over {
		rels = append(rels, rel)
	}
	slices.Sort(rels)
	for _, gone := range []bool{true, false} { // a file may stand where a directory is to be
		for _, rel := range rels {
			if err := ctx.Err(); err != nil {
				return err
			}
			want := b.over[rel]
			if want.Exists == gone {
				continue
			}
			if err := b.layOne(rel, want); err != nil && !b.raced(err) {
				return b.fail("writing", rel, err)
			}
		}
	}
	return nil
}

func (b *bringing) layOne(rel string, want diffpreview.Content) error {
	rec := b.records[rel]
	if rec == nil {
		rec = &record{}
		b.records[rel] = rec
	}
	rec.seen = b.run
	if rec.over != nil && !rec.reset && sameText(*rec.over, want) || rec.reset && !b.alone {
		return nil
	}
	b.noteRules(rel)
	if !want.Exists {
		removed, err := b.remove(rel, rec)
		if removed {
			b.pack.drop(rec.body)
			*rec = record{over: &want, seen: b.run}
		}
		return err
	}
	dst, name, err := b.placeFor(rel)
	if err != nil {
		return unlessBusy(err)
	}
	if dst != b.copy {
		defer dst.Close()
	}
	info, err := dst.Lstat(name)
	there := err == nil
	if !b.alone && there != (rec.copy.kind != none) || !b.alone && there && !rec.copy.same(stampOf(info, b.at)) {
		return nil // a command has changed it: that is merged when it ends
	}
	if err := b.layContent(placed{dst, name, there}, rec, want); err != nil {
		return err
	}
	b.touchAbove(rel)
	return nil
}

// sameText is equality of bytes, kind and mode.
func sameText(x, y diffpreview.Content) bool {
	return x.Exists == y.Exists && x.IsLink() == y.IsLink() && x.Mode.Perm() == y.Mode.Perm() && bytes.Equal(x.Data, y.Data)
}

// newMode is the mode of a file of which nobody has said one.
const newMode fs.FileMode = 0o644

func modeOf(c diffpreview.Content) fs.FileMode {
	if c.Mode == 0 {
		return newMode
	}
	return c.Mode.Perm()
}

// layContent makes the copy have a text of the view.
func (b *bringing) layContent(p placed, rec *record, want diffpreview.Content) (err error) {
	var now stamp
	next := record{over: &want, seen: b.run}
	switch {
	case want.IsLink():
		next.target = string(want.Data)
		now, err = b.write.link(p, b.inward(next.target))
	case p.over && rec.copy.kind == file && !rec.reset && rec.body.holds(b.pack, want.Data):
		if rec.copy.mode != modeOf(want) {
			err = p.dst.Chmod(p.name, modeOf(want))
		}
		now, err = p.stamp(err)
		next.body = inMemory(want.Data)
	default:
		now, err = b.write.bytes(p, want.Data, modeOf(want), 0)
		next.body = inMemory(want.Data)
	}
	if err != nil {
		return err
	}
	b.pack.drop(rec.body)
	next.copy = now
	*rec = next
	return nil
}

// placeFor opens the directory of a path in the copy, and makes those on the way that
// are not there. They go when nothing is in them.
func (b *bringing) placeFor(rel string) (*os.Root, string, error) {
	at := b.copy
	parts := strings.Split(rel, "/")
	for i, name := range parts[:len(parts)-1] {
		below := path.Join(parts[:i+1]...)
		info, err := at.Lstat(name)
		if err == nil && !info.IsDir() {
			if !b.alone {
				err = errBusy
			} else if err = removeAll(at, name); err == nil {
				err = fs.ErrNotExist
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			if err = at.Mkdir(name, 0o777); err == nil {
				info, err = at.Lstat(name)
			}
			if err == nil {
				rec := b.record(below)
				*rec = record{copy: stampOf(info, b.at), tree: rec.tree, seen: rec.seen}
				b.records[below] = rec
			}
		}
		var next *os.Root
		if err == nil {
			next, err = openDir(at, name, info)
		}
		if at != b.copy {
			at.Close()
		}
		if err != nil {
			return nil, "", err
		}
		at = next
	}
	return at, parts[len(parts)-1], nil
}

// noteRules notes a change of a path that holds ignore rules.
func (b *bringing) noteRules(rel string) {
	if isRules(path.Base(rel)) {
		b.ruled.Store(true)
	}
}
