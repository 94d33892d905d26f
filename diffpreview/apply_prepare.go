package diffpreview

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path"
	"syscall"
	"time"
)

// syncOneByOne is up to how many new files are synced each by itself. Above it
// one sync of the file system is cheaper: on ext4 each file's sync is a commit
// of the file system's journal, as is the one sync of all.
const syncOneByOne = 8

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
		return t.syncAll(maps.Keys(t.touched))
	}
	return nil
}

// syncAll makes durable everything on the file systems of the folders.
func (t *transaction) syncAll(folders iter.Seq[*folder]) error {
	done := map[uint64]bool{}
	for f := range folders {
		if done[f.device] {
			continue
		}
		done[f.device] = true
		if err := f.syncAll(); err != nil {
			return t.unsynced(f, err)
		}
	}
	t.w.step("synced")
	return nil
}

func (t *transaction) unsynced(f *folder, err error) error {
	if isNoSpace(err) {
		return &Error{Code: CodeNoSpace, Path: t.w.Name(f.at), Message: "no space left on the file system", Err: err}
	}
	return &Error{Code: CodeIO, Path: t.w.Name(f.at), Message: "what was written could not be made durable", Err: err}
}

// stage makes c's new file or link under its temporary name. Where the directory
// takes no new file, or the new file cannot be made like the old, the change is
// written in place instead.
func (t *transaction) stage(c *fileChange, sync bool) error {
	if c.want.IsLink() {
		return t.stageLink(c, sync)
	}
	perm := fs.FileMode(0o600) // until it has the mode that it shall have
	if c.lender() == nil && c.want.Mode == 0 {
		perm = 0o666
	}
	file, err := c.home.root.OpenFile(c.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	refused := errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
	if refused && c.method == methodExchange && !c.base.IsLink() {
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
		return t.unlike(c, err) // the temporary file is removed at the end
	}
	return err
}

// lender is the change whose file shows what c's new one shall be like; nil when
// there is none, or one of them is a link.
func (c *fileChange) lender() *fileChange {
	from := c.origin
	if c.method == methodExchange {
		from = c
	}
	if from == nil || from.base.IsLink() != c.want.IsLink() {
		return nil
	}
	return from
}

// unlike turns to the old file itself.
func (t *transaction) unlike(c *fileChange, why error) error {
	switch from := c.origin; {
	case from == nil:
		c.method = methodInPlace
	case from.folder.apart(c.home, from.temp):
		return &Error{Code: CodePermissionDenied, Path: c.name, Message: "the file cannot be copied to that file system as it is", Err: why}
	default:
		from.method = methodMove
		t.follow(from, methodInPlace)
	}
	return nil
}

// errUnlike marks that a new file could not be given the old one's owner, mode
// or attributes.
var errUnlike = errors.New("cannot be made like the old file")

func (t *transaction) fill(c *fileChange, file *os.File, sync bool) error {
	if _, err := file.Write(c.want.Data); err != nil {
		return c.fail("writing temporary file", err)
	}
	t.w.step("temporary file written")
	if from := c.lender(); from != nil {
		if err := t.dress(c, from, file); err != nil {
			return err
		}
	} else if c.want.Mode != 0 {
		if err := file.Chmod(c.want.Mode); err != nil {
			return c.fail("setting mode", err)
		}
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

// dress gives to the temporary file of c what the file of from has besides its
// bytes, but for the permissions that the write changes. The mode comes last,
// because a change of owner takes bits from it.
func (t *transaction) dress(c, from *fileChange, file *os.File) error {
	old, info, err := from.folder.open(from.leaf, os.O_RDONLY)
	if err != nil {
		return from.fail("opening file", err)
	}
	defer old.Close()
	if !untouched(from.before, info) {
		if same, err := holds(old, from.base.Data); err != nil || !same {
			return from.stale("was saved while it was being written")
		}
	}
	if c.remodes() && info.Mode().Perm() != c.oldMode() {
		return from.stale("its mode changed while it was being written")
	}
	if err := keepAttributes(old, file, info); err != nil {
		return fmt.Errorf("%w: %w", errUnlike, err)
	}
	mode := c.mode(info.Mode())
	if err := file.Chmod(mode); err != nil {
		return fmt.Errorf("%w: %w", errUnlike, err)
	}
	if from != c && sameContent(from.base, c.want) { // a copy
		if err := c.home.root.Chtimes(c.temp, time.Time{}, info.ModTime()); err != nil {
			return fmt.Errorf("%w: %w", errUnlike, err)
		}
	}
	now, err := file.Stat()
	if err != nil {
		return c.fail("looking at temporary file", err)
	}
	if !sameOwner(info, now) || now.Mode() != mode { // the system drops set-id bits without an error
		return fmt.Errorf("%w: mode %v became %v", errUnlike, mode, now.Mode())
	}
	from.before = info
	return nil
}

// below is the path of the directory that is missing[:n] below home.
func (c *fileChange) below(n int) Path {
	return Path{c.path.index, path.Join(append([]string{c.home.at.rel}, c.missing[:n]...)...)}
}
