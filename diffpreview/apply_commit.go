package diffpreview

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"time"
)

// patience is how often a name is exchanged because somebody put another file
// there between two system calls. Nobody does that twice in a row by accident.
const patience = 100

// racy is how young a file's modification may be for a later one to carry the
// same time: more than the coarsest clock of a file system in use (FAT, 2 s).
const racy = 3 * time.Second

// commit changes the visible names, and makes sure that what was displaced is
// what had been checked. With several files the new names are made durable
// before anything is thrown away, so that no crash of the machine finds one
// file's old text gone and another's new text not there.
func (t *transaction) commit() error {
	for _, c := range t.changes {
		if err := t.place(c); err != nil {
			return err
		}
		t.w.step("placed")
	}
	if len(t.changes) > 1 {
		if err := t.sync(); err != nil {
			return err
		}
		t.w.step("names synced")
	}
	for _, c := range t.changes {
		if err := t.settle(c); err != nil {
			return err
		}
	}
	t.w.step("settled")
	return nil
}

func (t *transaction) place(c *fileChange) error {
	switch c.method {
	case methodDelete:
		return t.placeDelete(c)
	case methodExchange:
		return t.placeExchange(c)
	case methodCreate:
		return t.placeCreate(c)
	}
	return t.overwrite(c)
}

func (t *transaction) placeDelete(c *fileChange) error {
	if err := c.folder.move(c.leaf, c.home, c.temp); err != nil {
		return c.fail("moving file away", err)
	}
	c.placed, c.staged = true, true
	t.touched[c.folder] = true
	t.w.step("moved away")
	return c.still(c.home, c.temp)
}

func (t *transaction) placeExchange(c *fileChange) error {
	if err := t.swap(c); err != nil {
		return c.fail("exchanging files", err)
	}
	t.w.step("exchanged")
	return c.still(c.home, c.temp)
}

func (t *transaction) placeCreate(c *fileChange) error {
	if err := t.makeFolders(c); err != nil {
		return err
	}
	if err := t.moveNew(c.home, c.temp, c.folder, c.leaf); err != nil {
		return c.fail("naming the new file", err)
	}
	c.placed, c.staged = true, false
	t.touched[c.home], t.touched[c.folder] = true, true
	return nil
}

// makeFolders makes the directories that c's file needs, as far as nobody else
// did.
func (t *transaction) makeFolders(c *fileChange) error {
	for n, name := range c.missing {
		above, err := t.folder(c.below(n))
		if err != nil {
			return c.fail("opening directory", err)
		}
		err = above.root.Mkdir(name, 0o777)
		if err == nil {
			t.made = append(t.made, c.below(n+1))
			t.touched[above] = true
			t.w.step("directory made")
		} else if !errors.Is(err, fs.ErrExist) {
			return c.fail("making directory", err)
		}
	}
	var err error
	c.folder, err = t.folder(c.below(len(c.missing)))
	return c.fail("opening directory", err)
}

// settle finds out whether the displaced file was changed after all by a
// program that had opened it under its old name.
func (t *transaction) settle(c *fileChange) error {
	if c.method != methodExchange && c.method != methodDelete {
		return nil
	}
	file, info, err := c.home.open(c.temp, os.O_RDONLY)
	if err != nil {
		return c.fail("looking at displaced file", err)
	}
	writer := !c.written && openForWriting(file)
	file.Close()
	if writer {
		return c.stale("another program has the file open for writing")
	}
	if untouched(c.moved, info) && time.Since(info.ModTime()) > racy {
		return nil
	}
	return c.still(c.home, c.temp)
}

// swap exchanges c's temporary file with what its name stands for.
func (t *transaction) swap(c *fileChange) error {
	err := errors.ErrUnsupported
	if !t.lacks.exchange {
		err = c.folder.exchange(c.temp, c.leaf)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		err = t.swapSlowly(c)
	}
	if err == nil {
		c.placed = true
		t.touched[c.folder] = true
	}
	return err
}

// spare is a third name, for systems that cannot exchange two.
func (c *fileChange) spare() string {
	return c.temp[:len(c.temp)-len(tempSuffix)] + ".old" + tempSuffix
}

// swapSlowly does by several calls what exchange does by one. The old file gets
// the spare name as a second one, the temporary file is renamed over the first,
// and the spare name becomes the temporary one. A file that somebody renames to
// the name between the last look and the rename is lost: that window is as long
// as one system call takes. Where there are no hard links the name is free for
// a moment instead, and nothing is lost.
func (t *transaction) swapSlowly(c *fileChange) error {
	f, spare := c.folder, c.spare()
	for range patience {
		err := t.link(f, c.leaf, spare)
		if errors.Is(err, errors.ErrUnsupported) {
			return t.swapAside(c)
		}
		if err != nil {
			return err
		}
		t.w.step("linked")
		if !f.same(c.leaf, spare) {
			if err := f.remove(spare); err != nil {
				return err
			}
			continue
		}
		if err := f.move(c.temp, f, c.leaf); err != nil { // one of them is a directory
			if err := f.remove(spare); err != nil {
				return err
			}
			return t.swapAside(c)
		}
		c.placed = true
		t.w.step("renamed over")
		return f.move(spare, f, c.temp)
	}
	return fmt.Errorf("replaced %d times in a row: %w", patience, fs.ErrExist)
}

// swapAside is swapSlowly without hard links.
func (t *transaction) swapAside(c *fileChange) error {
	f, spare := c.folder, c.spare()
	if err := f.move(c.leaf, f, spare); err != nil {
		return err
	}
	t.w.step("moved aside")
	if err := t.moveNew(f, c.temp, f, c.leaf); err != nil {
		back := t.moveNew(f, spare, f, c.leaf)
		if errors.Is(back, fs.ErrExist) { // somebody saved a newer file meanwhile
			back = f.remove(spare)
		}
		return errors.Join(err, back)
	}
	c.placed = true
	t.w.step("moved in")
	return f.move(spare, f, c.temp)
}

// straighten completes or takes back a swap by several calls that was
// interrupted.
func (t *transaction) straighten(c *fileChange) error {
	f, spare := c.folder, c.spare()
	if _, err := f.root.Lstat(spare); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := f.root.Lstat(c.temp); errors.Is(err, fs.ErrNotExist) {
		return f.move(spare, f, c.temp)
	}
	err := t.moveNew(f, spare, f, c.leaf)
	if errors.Is(err, fs.ErrExist) {
		return f.remove(spare)
	}
	return err
}

func (t *transaction) link(f *folder, a, b string) error {
	if t.lacks.link {
		return errors.ErrUnsupported
	}
	return f.link(a, f, b)
}

// moveNew renames a file to a name that must be free; where a rename cannot
// tell, by a second link, and where there are none, after a look.
func (t *transaction) moveNew(from *folder, a string, to *folder, b string) error {
	err := errors.ErrUnsupported
	if !t.lacks.noReplace {
		err = from.moveNew(a, to, b)
	}
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if !t.lacks.link {
		err = from.link(a, to, b)
	}
	if err == nil {
		t.w.step("linked new")
		return from.remove(a)
	}
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if _, err := to.root.Lstat(b); err == nil {
		return &fs.PathError{Op: "rename", Path: b, Err: fs.ErrExist}
	}
	return from.move(a, to, b)
}

// finish removes what was displaced and makes that durable. What fails here
// leaves everything in place, so recovery says that it is.
func (t *transaction) finish() error {
	if err := t.tidy(); err != nil {
		return err
	}
	if err := t.sync(); err != nil {
		return errors.Join(err, errHalfDone)
	}
	return nil
}

// tidy unlinks the temporary names, those of exchanges before those of deletes:
// recovery takes the lack of the former, never of the latter, for a sign that
// the commit was over.
func (t *transaction) tidy() error {
	var all error
	for _, c := range slices.Backward(t.changes) {
		if !c.staged {
			continue
		}
		if err := c.home.remove(c.temp); err != nil {
			all = errors.Join(all, c.fail("removing temporary file", err), errHalfDone)
			continue
		}
		c.staged = false
		t.w.step("tidied")
	}
	return all
}

// sync makes the names in the touched directories durable.
func (t *transaction) sync() error {
	if syncsFileSystem && len(t.touched) > syncOneByOne {
		return t.syncAll(t.changes)
	}
	for f := range t.touched {
		if err := f.sync(); err != nil {
			return &Error{Code: CodeIO, Path: t.w.Name(f.at), Message: "the new names could not be made durable", Err: err}
		}
		t.w.step("directory synced")
	}
	return nil
}

// removeMade removes the directories that t made, as far as they are empty.
func (t *transaction) removeMade() {
	for i := len(t.made) - 1; i >= 0; i-- {
		above, err := t.folder(Path{t.made[i].index, path.Dir(t.made[i].rel)})
		if err != nil {
			continue
		}
		if above.removeDir(path.Base(t.made[i].rel)) == nil {
			t.touched[above] = true
			t.w.step("directory removed")
		}
	}
	t.made = nil
}
