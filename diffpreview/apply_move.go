package diffpreview

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// A file that only gets another name, or permissions, stays the same file: with
// its hard links, owner, attributes and time. With another text it is replaced
// as it would be at its old name, by a new file that is made like it or, where
// that cannot be, in place. To another file system of the root it is copied with
// all that dress and the time give; one with several names is refused.

// checkMove is check for a file that shall have another name.
func (t *transaction) checkMove(c *fileChange) error {
	to := c.to
	if err := t.checkThere(c); err != nil {
		return err
	}
	if err := t.locate(to); err != nil {
		return err
	}
	if err := t.checkFree(to); err != nil {
		return err
	}
	if err := c.fail("moving file", c.folder.writable()); err != nil {
		return err
	}
	if err := to.fail("moving file", to.home.writable()); err != nil {
		return err
	}
	same := sameContent(c.base, to.want)
	if !same {
		if err := c.mayWrite(); err != nil {
			return err
		}
	}
	return t.chooseMove(c, same, c.folder.apart(to.home, c.temp))
}

// chooseMove chooses the methods of both changes of a move. same: the text stays;
// apart: the new name is on another file system.
func (t *transaction) chooseMove(c *fileChange, same, apart bool) error {
	to := c.to
	isLink := c.base.IsLink() || to.want.IsLink()
	switch {
	case apart && !isLink && links(c.before) > 1:
		return failf(CodeInvalidArguments, to.name, "is on another file system than %s, whose other names cannot come along", c.name)
	case apart && c.written:
		return c.stale("another program has the file open for writing")
	case same && !apart:
		c.method = methodMove
		if c.remodes() {
			t.follow(c, methodMode)
		}
	case c.fixed && !apart && !isLink:
		c.method = methodMove
		t.follow(c, methodInPlace)
	default:
		c.method = methodDelete
		t.changes = append(t.changes, to)
	}
	return nil
}

// follow makes the second change of a move one that is carried out on the file
// under its new name.
func (t *transaction) follow(c *fileChange, m method) {
	to := c.to
	to.method, to.base, to.before, to.hashes = m, c.base, c.before, [2]string{}
	c.keeps()
	to.keeps()
	if !slices.Contains(t.changes, to) {
		t.changes = append(t.changes, to)
	}
}

// keeps notes which file it is that stays the same one.
func (c *fileChange) keeps() {
	c.ours = fingerprint{hash: mark(c.base), inode: identity(c.before).inode, time: c.before.ModTime()}
}

// respells reports whether what is at c's name is its own file under the old
// one: on a file system where names that differ in case are the same. There the
// directory lists only one of them.
func (c *fileChange) respells(info fs.FileInfo) bool {
	if c.folder != c.origin.folder || !os.SameFile(c.origin.before, info) {
		return false
	}
	return !c.folder.lists(c.leaf)
}

// lists reports whether the directory may have an entry spelled just so, which is
// more than that there is something under the name.
func (f *folder) lists(name string) bool {
	names, err := f.names()
	return err != nil || slices.ContainsFunc(names, func(e fs.DirEntry) bool { return e.Name() == name })
}

// placeMove gives c's file its new name.
func (t *transaction) placeMove(c *fileChange) error {
	to := c.to
	if err := t.makeFolders(to); err != nil {
		return err
	}
	if !c.via {
		err := errors.ErrUnsupported
		if !t.lacks.noReplace {
			err = c.folder.moveNew(c.leaf, to.folder, to.leaf)
		}
		if err == nil {
			return t.arrived(c)
		}
		if !errors.Is(err, errors.ErrUnsupported) {
			return t.notMoved(c, err)
		}
		if err := t.placeDelete(c); err != nil {
			return err
		}
	}
	if err := t.moveNew(c.home, c.temp, to.folder, to.leaf); err != nil {
		return to.fail("moving file", err)
	}
	c.placed, c.aside, c.staged = true, false, false
	t.touched[c.home], t.touched[to.folder] = true, true
	return nil
}

// notMoved says why a rename failed: of the name that it is about.
func (t *transaction) notMoved(c *fileChange, err error) error {
	if errors.Is(err, fs.ErrExist) {
		return c.to.fail("moving file", err)
	}
	return c.fail("moving file", err)
}

// arrived makes sure that the file that a single rename has moved is the one
// that was checked. Another one goes back with the rest.
func (t *transaction) arrived(c *fileChange) error {
	to := c.to
	c.placed = true
	t.touched[c.folder], t.touched[to.folder] = true, true
	err := c.still(to.folder, to.leaf)
	if err != nil {
		if found, e := to.folder.fingerprint(to.leaf); e == nil {
			c.ours = found
		}
	}
	t.w.step("moved")
	return err
}

// moveOut takes c's file from its new name to the temporary one, unless somebody
// put another there. After a crash a text that somebody saved under the new name
// stays there; without one it goes back with its file.
func (t *transaction) moveOut(c *fileChange) error {
	to := c.to
	if to.folder == nil {
		return nil
	}
	if err := c.home.remove(c.temp); err != nil { // the same file, where names are moved by linking
		return err
	}
	c.staged = false
	err := to.folder.move(to.leaf, c.home, c.temp)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // somebody deleted it
	}
	if err != nil {
		return err
	}
	c.staged, c.aside, c.came = true, true, true
	t.touched[c.home], t.touched[to.folder] = true, true
	t.w.step("taken away")
	found, err := c.home.fingerprint(c.temp)
	if err != nil {
		return err
	}
	same := found.inode == c.ours.inode && found.inode != 0
	if found.hash == c.ours.hash && (same || found.inode == 0) || same && !t.again {
		return nil
	}
	return t.moveIn(c)
}

// moveIn gives a file that is aside the new name back. If somebody has put one
// there it is a newer one.
func (t *transaction) moveIn(c *fileChange) error {
	err := t.moveNew(c.home, c.temp, c.to.folder, c.to.leaf)
	if errors.Is(err, fs.ErrNotExist) { // the directory was taken back already
		if err = t.remakeFolders(c.to); err == nil {
			err = t.moveNew(c.home, c.temp, c.to.folder, c.to.leaf)
		}
	}
	if err == nil {
		c.staged = false
	}
	if err == nil || errors.Is(err, fs.ErrExist) {
		c.aside = false
		return nil
	}
	return err
}

// remakeFolders makes the directories of c's file again, as far as they are
// gone.
func (t *transaction) remakeFolders(c *fileChange) error {
	at := Path{c.path.index, "."}
	for _, part := range strings.Split(path.Dir(c.path.rel), "/") {
		above, err := t.folder(at)
		if err != nil {
			return err
		}
		at.rel = path.Join(at.rel, part)
		err = above.root.Mkdir(part, 0o777)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		t.forget(at)
		t.touched[above] = true
	}
	var err error
	c.folder, err = t.folder(at)
	return err
}

// moveBack gives a file that is aside its old name. If somebody has put another
// there the file is given up, as one that they replaced; but what was saved under
// the new name stays there.
func (t *transaction) moveBack(c *fileChange) error {
	if c.folder == nil {
		c.aside = false
		return t.homeless(c)
	}
	err := t.moveNew(c.home, c.temp, c.folder, c.leaf)
	if err == nil {
		c.aside, c.staged = false, false
		t.touched[c.folder] = true
		return nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	found, err := c.home.fingerprint(c.temp)
	if err != nil {
		return err
	}
	if c.came && c.to.folder != nil && found.hash != c.ours.hash {
		return t.moveIn(c)
	}
	c.aside = false
	return nil
}

// inspectMove tells what became of a move, by where its file is.
func (t *transaction) inspectMove(c *fileChange, f intentFile) (state, error) {
	var at [3]fingerprint
	for i, place := range []struct {
		f    *folder
		name string
	}{{c.folder, c.leaf}, {c.home, c.temp}, {c.to.folder, c.to.leaf}} {
		var err error
		if at[i], err = lookAt(place.f, place.name); err != nil {
			return stateUnclear, err
		}
	}
	old, aside, now := at[0], at[1], at[2]
	is := func(found fingerprint) bool { return found.hash != "" && found.inode == f.Inode }
	if f.Inode == 0 {
		is = func(found fingerprint) bool { return found.hash != "" && old.hash == "" }
	}
	switch {
	case aside.hash != "":
		c.placed = now.hash != "" && now.inode == aside.inode && now.hash == aside.hash
		c.aside = !c.placed
		return stateForeign, nil
	case is(now) && is(old) && !c.to.folder.lists(c.to.leaf):
		return stateUndone, nil // the same name, spelled otherwise
	case is(now):
		c.placed = true
		return stateDone, nil
	case old.hash != "" && (f.Inode == 0 || is(old)):
		return stateUndone, nil
	}
	return stateUnclear, nil
}
