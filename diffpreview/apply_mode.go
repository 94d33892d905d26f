package diffpreview

import (
	"errors"
	"io/fs"
	"os"
)

// remodes reports whether the write gives a file that is there other
// permissions.
func (c *fileChange) remodes() bool {
	base, want := c.base, c.want
	if c.origin != nil {
		base = c.origin.base
	}
	if c.to != nil {
		want = c.to.want
	}
	if !base.Exists || !want.Exists || base.IsLink() || want.IsLink() {
		return false
	}
	return want.Mode.Perm() != 0 && want.Mode.Perm() != base.Mode.Perm()
}

// oldMode is the permissions that the file must have for the write.
func (c *fileChange) oldMode() fs.FileMode {
	if c.origin != nil {
		return c.origin.base.Mode.Perm()
	}
	return c.base.Mode.Perm()
}

// mode is what a file that has the mode now gets: its set-id and sticky bits
// stay.
func (c *fileChange) mode(now fs.FileMode) fs.FileMode {
	if !c.remodes() {
		return now
	}
	return now&^fs.ModePerm | c.want.Mode.Perm()
}

// changeMode gives c's file its new permissions. A mode that somebody else sets
// between the look at it and the change, which is two system calls, is lost.
func (t *transaction) changeMode(c *fileChange) error {
	file, info, err := c.folder.open(c.leaf, os.O_RDONLY)
	if err != nil {
		return c.fail("opening file", err)
	}
	defer file.Close()
	if !os.SameFile(c.before, info) {
		return c.stale("was replaced while it was being written")
	}
	same, err := holds(file, c.base.Data)
	switch {
	case err != nil:
		return c.fail("reading file", err)
	case !same:
		return c.stale("was saved while it was being written")
	}
	c.placed = true
	t.w.step("changing mode")
	if err := t.setMode(c, file); err != nil {
		return err
	}
	if entry, err := c.folder.root.Lstat(c.leaf); err == nil && os.SameFile(info, entry) {
		return nil
	}
	// The name belongs to somebody's new file; the old one may have others.
	c.placed = false
	return errors.Join(c.stale("was replaced while it was being written"), t.resetMode(c, file))
}

// setMode changes an open file's permissions from the old to the new ones, and
// makes sure that the system took them all.
func (t *transaction) setMode(c *fileChange, file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return c.fail("looking at file", err)
	}
	if info.Mode().Perm() != c.oldMode() {
		return c.stale("its mode changed while it was being written")
	}
	if err := file.Chmod(c.mode(info.Mode())); err != nil {
		return c.fail("changing mode", err)
	}
	now, err := file.Stat()
	switch {
	case err != nil:
		return c.fail("looking at file", err)
	case now.Mode() != c.mode(info.Mode()):
		return failf(CodePermissionDenied, c.name, "the system makes of mode %v the mode %v", c.mode(info.Mode()), now.Mode())
	}
	t.w.step("mode changed")
	return c.fail("syncing", file.Sync())
}

// resetMode gives a file its old permissions, if it has those that t gave it.
func (t *transaction) resetMode(c *fileChange, file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Mode().Perm() != c.want.Mode.Perm() {
		return nil
	}
	if err := file.Chmod(info.Mode()&^fs.ModePerm | c.oldMode()); err != nil {
		return err
	}
	t.w.step("mode put back")
	return file.Sync()
}

// modeBack undoes changeMode. A file that somebody put there since keeps its
// mode.
func (t *transaction) modeBack(c *fileChange) error {
	file, info, err := c.folder.open(c.leaf, os.O_RDONLY)
	if isNoFile(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if has := identity(info).inode; has != c.ours.inode {
		return nil
	}
	return t.resetMode(c, file)
}

// isNoFile reports whether a file could not be opened because there is none, or
// something else.
func isNoFile(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || CodeOf(err) == CodeNotRegularFile || CodeOf(err) == CodeIsDirectory
}

// remoded judges a change of permissions by the file's.
func remoded(name fingerprint, f intentFile) state {
	switch {
	case name.hash == "" || name.inode != f.Inode || f.Mode == nil:
		return stateUnclear
	case name.perm == f.Mode[1]:
		return stateDone
	case name.perm == f.Mode[0]:
		return stateUndone
	}
	return stateUnclear
}
