package diffpreview

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// syncOneByOne is up to how many new files are synced each by itself. Above it
// one sync of the file system is cheaper: on ext4 each file's sync is a commit
// of the file system's journal, as is the one sync of all.
const syncOneByOne = 8

// comparing is the size in bytes of the pieces in which a file is compared with
// its base: large enough that system calls cost little next to reading.
const comparing = 128 << 10

// check compares c's file with its base and chooses the method. It changes
// nothing, and opens nothing but regular files.
func (t *transaction) check(c *fileChange) error {
	dir, missing, err := t.nearest(c.path)
	if err != nil {
		return c.fail("opening directory", err)
	}
	c.home, c.missing, c.method = dir, missing, methodCreate
	if len(missing) > 0 {
		if c.base.Exists {
			return c.stale("is gone, with its directory")
		}
		return nil
	}
	c.folder = dir
	info, err := dir.root.Lstat(c.leaf)
	switch {
	case errors.Is(err, fs.ErrNotExist) && c.base.Exists:
		return c.stale("is gone")
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return c.fail("looking at file", err)
	}
	if err := regular(c.name, info); err != nil {
		return err
	}
	if !c.base.Exists {
		return c.stale("there is a file now")
	}
	return t.checkFile(c)
}

// checkFile is check for a file that is there and shall be. A file that some
// program has open for writing is written in place: what the program writes next
// must not go to a file that was exchanged away.
func (t *transaction) checkFile(c *fileChange) error {
	file, info, err := c.folder.open(c.leaf, os.O_RDONLY)
	if err != nil {
		return c.fail("opening file", err)
	}
	defer file.Close()
	same, err := holds(file, c.base.Data)
	if err != nil {
		return c.fail("reading file", err)
	}
	if !same {
		return c.stale("is not what the change was made on")
	}
	err = mayWrite(c.folder.root, c.leaf)
	if err != nil && !errors.Is(err, syscall.ETXTBSY) { // a program that runs can be replaced
		return c.fail("opening file for writing", err)
	}
	c.before, c.written = info, openForWriting(file)
	switch {
	case !c.want.Exists:
		c.method = methodDelete
		return c.fail("deleting file", c.folder.writable())
	case !exchangesFiles, links(info) > 1, mountPoint(file), c.written:
		c.method = methodInPlace
	default:
		c.method = methodExchange
	}
	return nil
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

// prepare writes the new texts to temporary files and syncs them.
func (t *transaction) prepare(ctx context.Context, log func(intent) error) error {
	var staged []*fileChange
	for _, c := range t.changes {
		if c.method == methodExchange || c.method == methodCreate {
			staged = append(staged, c)
		}
	}
	if len(staged) == 0 {
		return nil
	}
	t.w.step("checked")
	if err := log(t.intent(phasePrepare)); err != nil {
		return fmt.Errorf("recording the temporary files: %w", err)
	}
	t.w.step("prepare logged")
	together := syncsFileSystem && len(staged) > syncOneByOne
	for _, c := range staged {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("applying: %w", err)
		}
		if err := t.stage(c, !together); err != nil {
			return err
		}
		t.w.step("staged")
	}
	if together {
		return t.syncAll(staged)
	}
	return nil
}

// syncAll makes durable everything on the file systems of changes.
func (t *transaction) syncAll(changes []*fileChange) error {
	done := map[uint64]bool{}
	for _, c := range changes {
		if done[c.home.device] {
			continue
		}
		done[c.home.device] = true
		if err := c.home.syncAll(); err != nil {
			return c.fail("syncing", err)
		}
	}
	t.w.step("synced")
	return nil
}

// stage writes c's new text to its temporary file. Where the directory takes no
// new file, or the new file cannot be made like the old, the change is written
// in place instead.
func (t *transaction) stage(c *fileChange, sync bool) error {
	perm := fs.FileMode(0o600) // until it has the mode that it shall have
	if c.method == methodCreate && c.want.Mode == 0 {
		perm = 0o666
	}
	file, err := c.home.root.OpenFile(c.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	refused := errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
	if refused && c.method == methodExchange {
		c.method = methodInPlace
		return nil
	}
	if err != nil {
		return c.fail("creating temporary file", err)
	}
	c.staged = true
	t.touched[c.home] = true
	t.w.step("temporary file created")
	err = t.fill(c, file, sync)
	if closed := file.Close(); err == nil && closed != nil {
		err = c.fail("closing temporary file", closed)
	}
	if errors.Is(err, errUnlike) {
		c.method = methodInPlace
		return nil // the temporary file is removed at the end
	}
	return err
}

// errUnlike marks that a new file could not be given the old one's owner, mode
// or attributes.
var errUnlike = errors.New("cannot be made like the old file")

func (t *transaction) fill(c *fileChange, file *os.File, sync bool) error {
	if _, err := file.Write(c.want.Data); err != nil {
		return c.fail("writing temporary file", err)
	}
	t.w.step("temporary file written")
	var err error
	switch {
	case c.method == methodExchange:
		err = t.dress(c, file)
	case c.want.Mode != 0:
		err = c.fail("setting mode", file.Chmod(c.want.Mode))
	}
	if err != nil {
		return err
	}
	if sync {
		if err := file.Sync(); err != nil {
			return c.fail("syncing temporary file", err)
		}
	}
	info, err := file.Stat()
	if err != nil {
		return c.fail("looking at temporary file", err)
	}
	_, hash := c.hash()
	c.ours = fingerprint{hash: hash, inode: identity(info).inode, time: info.ModTime()}
	return nil
}

// dress gives to the temporary file what c's file has besides its bytes. The
// mode comes last, because a change of owner takes bits from it.
func (t *transaction) dress(c *fileChange, file *os.File) error {
	old, info, err := c.folder.open(c.leaf, os.O_RDONLY)
	if err != nil {
		return c.fail("opening file", err)
	}
	defer old.Close()
	if !untouched(c.before, info) {
		if same, err := holds(old, c.base.Data); err != nil || !same {
			return c.stale("was saved while it was being written")
		}
	}
	if err := keepAttributes(old, file, info); err != nil {
		return fmt.Errorf("%w: %w", errUnlike, err)
	}
	if err := file.Chmod(info.Mode()); err != nil {
		return fmt.Errorf("%w: %w", errUnlike, err)
	}
	now, err := file.Stat()
	if err != nil {
		return c.fail("looking at temporary file", err)
	}
	if !sameProperties(info, now) { // the system drops set-id bits without an error
		return fmt.Errorf("%w: mode %v became %v", errUnlike, info.Mode(), now.Mode())
	}
	c.before = info
	return nil
}

// recheck finds out whether c's file moved since it was checked.
func (t *transaction) recheck(c *fileChange) error {
	if c.folder == nil {
		return nil // the commit finds out
	}
	info, err := c.folder.root.Lstat(c.leaf)
	switch {
	case c.before == nil && errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return c.fail("looking at file", err)
	case c.before == nil:
		return c.stale("there is a file now")
	case untouched(c.before, info):
		return nil
	}
	return c.still(c.folder, c.leaf)
}

// still fails unless the regular file called name has c's base as content, and
// the mode and owner that were seen. It returns with c.moved set.
func (c *fileChange) still(f *folder, name string) error {
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
	case c.method == methodExchange && links(info) > 1:
		return c.stale("it got a second hard link while it was being written")
	}
	c.moved = info
	return nil
}

// below is the path of the directory that is missing[:n] below home.
func (c *fileChange) below(n int) Path {
	return Path{c.path.index, path.Join(append([]string{c.home.at.rel}, c.missing[:n]...)...)}
}
