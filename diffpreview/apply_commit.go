package diffpreview

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
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
// file's old text gone and another's new text not there. When a file that was
// deleted is about to be, that is logged: should somebody edit the other files
// after a crash, nothing else would tell that it cannot come back.
func (t *transaction) commit(log func(intent) error) error {
	if err := t.vacate(); err != nil {
		return err
	}
	for _, c := range t.changes {
		if c.method == methodDelete {
			continue
		}
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
	if len(t.changes) > 1 && slices.ContainsFunc(t.changes, func(c *fileChange) bool { return c.method == methodDelete }) {
		if err := log(t.intent(phaseOver)); err != nil {
			return fmt.Errorf("recording the end of the write: %w", err)
		}
		t.w.step("end logged")
	}
	return nil
}

func (t *transaction) place(c *fileChange) error {
	switch c.method {
	case methodMove:
		return t.placeMove(c)
	case methodExchange:
		return t.placeExchange(c)
	case methodCreate:
		return t.placeCreate(c)
	case methodMode:
		return t.changeMode(c)
	}
	return t.overwrite(c)
}

// placeDelete gives c's file the temporary name.
func (t *transaction) placeDelete(c *fileChange) error {
	if err := c.folder.move(c.leaf, c.home, c.temp); err != nil {
		return c.fail("moving file away", err)
	}
	c.staged = true
	c.aside, c.placed = c.method == methodMove, c.method == methodDelete
	t.touched[c.folder], t.touched[c.home] = true, true
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
	displaces := c.method == methodExchange || c.method == methodDelete
	if !displaces || c.base.IsLink() { // nobody writes to a link
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

// finish removes what was displaced and makes that durable. What fails here
// leaves everything in place, so recovery says that it is.
func (t *transaction) finish() error {
	if err := t.tidy(); err != nil {
		return err
	}
	t.removeUnmade()
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
		return t.syncAll(maps.Keys(t.touched))
	}
	for f := range t.touched {
		if err := f.sync(); err != nil {
			return t.unsynced(f, err)
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
