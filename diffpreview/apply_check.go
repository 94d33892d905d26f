package diffpreview

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// comparing is the size in bytes of the pieces in which a file is compared with
// its base: large enough that system calls cost little next to reading.
const comparing = 128 << 10

// check compares c's file with its base and chooses the method. It changes
// nothing, and opens nothing but regular files.
func (t *transaction) check(c *fileChange) error {
	if err := t.locate(c); err != nil {
		return err
	}
	if c.to != nil {
		return t.checkMove(c)
	}
	if !c.base.Exists {
		return t.checkFree(c)
	}
	if err := t.checkThere(c); err != nil {
		return err
	}
	return t.choose(c)
}

// locate opens the directory of c's file, or the nearest above it that is there.
func (t *transaction) locate(c *fileChange) error {
	dir, missing, err := t.nearest(c.path)
	if err != nil {
		return c.fail("opening directory", err)
	}
	c.home, c.missing = dir, missing
	if len(missing) == 0 {
		c.folder = dir
	}
	return nil
}

// checkFree is check for a name at which there shall be no file yet, or none any
// more when its turn comes.
func (t *transaction) checkFree(c *fileChange) error {
	c.method = methodCreate
	if c.folder == nil {
		return nil
	}
	info, err := c.folder.root.Lstat(c.leaf)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return c.fail("looking at file", err)
	case !c.want.Exists:
		return c.occupied(info)
	case t.leaving[c.path]:
		c.freed = true
	case info.IsDir():
		c.freed = true
		return t.checkEmptied(c, c.path)
	case c.origin != nil && c.respells(info):
		c.freed, c.origin.via = true, true
	default:
		return c.occupied(info)
	}
	return nil
}

// occupied refuses to write where there is something now.
func (c *fileChange) occupied(info fs.FileInfo) error {
	if info.Mode()&fs.ModeSymlink != 0 {
		return c.stale("there is a link now")
	}
	if err := regular(c.name, info); err != nil {
		return err
	}
	return c.stale("there is a file now")
}

// checkThere finds out whether c's file is its base.
func (t *transaction) checkThere(c *fileChange) error {
	if c.folder == nil {
		return c.stale("is gone, with its directory")
	}
	info, err := c.folder.root.Lstat(c.leaf)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c.stale("is gone")
	case err != nil:
		return c.fail("looking at file", err)
	case info.Mode()&fs.ModeSymlink != 0:
		return c.checkLink(info)
	}
	if err := regular(c.name, info); err != nil {
		return err
	}
	if c.base.IsLink() {
		return c.stale("is no link any more")
	}
	file, info, err := c.folder.open(c.leaf, os.O_RDONLY)
	if err != nil {
		return c.fail("opening file", err)
	}
	defer file.Close()
	same, err := holds(file, c.base.Data)
	switch {
	case err != nil:
		return c.fail("reading file", err)
	case !same:
		return c.stale("is not what the change was made on")
	case c.remodes() && info.Mode().Perm() != c.oldMode():
		return c.stale("its mode is not what the change was made on")
	}
	c.before, c.written = info, openForWriting(file)
	c.fixed = !exchangesFiles || links(info) > 1 || c.written || mountPoint(file)
	return nil
}

// choose chooses the method for a file that is there and stays at its name. A
// file that some program has open for writing is written in place: what the
// program writes next must not go to a file that was exchanged away.
func (t *transaction) choose(c *fileChange) error {
	if c.want.Exists && sameContent(c.base, c.want) { // idle, or another mode
		c.method = methodMode
		return nil
	}
	if err := c.mayWrite(); err != nil {
		return err
	}
	switch {
	case !c.want.Exists:
		c.method = methodDelete
		return c.fail("deleting file", c.folder.writable())
	case c.fixed && !c.want.IsLink():
		c.method = methodInPlace
	default:
		c.method = methodExchange
	}
	return nil
}

// mayWrite fails when the process could not write c's file.
func (c *fileChange) mayWrite() error {
	if c.base.IsLink() {
		return nil // of links only the directory counts
	}
	err := mayWrite(c.folder.root, c.leaf)
	if errors.Is(err, syscall.ETXTBSY) { // a program that runs can be replaced
		return nil
	}
	return c.fail("opening file for writing", err)
}

// holds reports whether a file's bytes are data.
func holds(file *os.File, data []byte) (bool, error) {
	buf := make([]byte, min(comparing, len(data)+1))
	var at int64
	for {
		n, err := file.ReadAt(buf, at)
		if !bytes.HasPrefix(data, buf[:n]) {
			return false, nil
		}
		data = data[n:]
		at += int64(n)
		if err == io.EOF {
			return len(data) == 0, nil
		}
		if err != nil {
			return false, err
		}
	}
}

// recheck finds out whether c's file moved since it was checked.
func (t *transaction) recheck(c *fileChange) error {
	arrives := c.origin != nil && c.method != methodCreate // the move is what is looked at
	if c.folder == nil || c.freed || arrives {
		return nil // the commit finds out
	}
	info, err := c.folder.root.Lstat(c.leaf)
	switch {
	case c.before == nil && errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return c.fail("looking at file", err)
	case c.before == nil:
		return c.occupied(info)
	case untouched(c.before, info):
		return nil
	}
	return c.still(c.folder, c.leaf)
}

// still fails unless the file or link called name has c's base as content, and
// the mode and owner that were seen. It returns with c.moved set.
func (c *fileChange) still(f *folder, name string) error {
	if c.base.IsLink() {
		return c.stillLink(f, name)
	}
	file, info, err := f.open(name, os.O_RDONLY)
	if err != nil {
		return c.stale("was replaced while it was being written")
	}
	defer file.Close()
	same, err := holds(file, c.base.Data)
	switch {
	case err != nil:
		return c.fail("reading file", err)
	case !same:
		return c.stale("was saved while it was being written")
	case !sameProperties(c.before, info):
		return c.stale("its mode or owner changed while it was being written")
	case c.method == methodExchange && !c.want.IsLink() && links(info) > 1:
		return c.stale("it got a second hard link while it was being written")
	}
	c.moved = info
	return nil
}
