package diffpreview

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// overwrite writes c's new text over the old in the same file. Other programs
// are held off where the system can do that.
func (t *transaction) overwrite(c *fileChange) error {
	file, info, err := c.folder.open(c.leaf, os.O_RDWR)
	if err != nil {
		return c.fail("opening file", err)
	}
	defer file.Close()
	if err := t.compareAndWrite(c, file, info); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return c.fail("syncing", err)
	}
	t.w.step("overwritten")
	return t.proofread(c, file)
}

func (t *transaction) compareAndWrite(c *fileChange, file *os.File, info fs.FileInfo) error {
	release := holdOff(file)
	defer release()
	same, err := holds(file, c.base.Data)
	if err != nil {
		return c.fail("reading file", err)
	}
	if !same {
		return c.stale("was saved while it was being written")
	}
	if c.remodes() { // who may write a file may not always do this: find out first
		if err := file.Chmod(info.Mode()); err != nil {
			return c.fail("changing mode", err)
		}
	}
	c.placed = true
	t.w.step("overwriting")
	if err := rewrite(file, c.base.Data, c.want.Data, t.w.step); err != nil {
		return c.fail("writing", err)
	}
	keepMode(file, info)
	if c.remodes() {
		return t.setMode(c, file)
	}
	return nil
}

// proofread makes sure that the file is still the one that its name stands for,
// and holds what was written.
func (t *transaction) proofread(c *fileChange, file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return c.fail("looking at file", err)
	}
	entry, err := c.folder.root.Lstat(c.leaf)
	if err != nil || !os.SameFile(info, entry) {
		// The name belongs to somebody's new file; the old one may have others.
		c.placed = false
		return errors.Join(c.stale("was replaced while it was being written"), t.giveBack(c, file))
	}
	same, err := holds(file, c.want.Data)
	if err != nil {
		return c.fail("reading file", err)
	}
	if !same {
		return c.stale("was saved while it was being written")
	}
	return nil
}

// keepMode gives back the set-id bits, which writing takes from a file. Other
// permissions are what somebody else has set meanwhile.
func keepMode(file *os.File, want fs.FileInfo) {
	if now, err := file.Stat(); err == nil && now.Mode() != want.Mode() && now.Mode().Perm() == want.Mode().Perm() {
		file.Chmod(want.Mode()) // the bytes count; without the right to it the bits stay off
	}
}

// rewrite turns a file's bytes from old into text. What is appended is written
// first, so that a full disk is noticed before anything is overwritten.
func rewrite(file *os.File, old, text []byte, step func(string)) error {
	both := min(len(old), len(text))
	if len(text) > both {
		if _, err := file.WriteAt(text[both:], int64(both)); err != nil {
			return err
		}
		step("appended")
	}
	from := commonPrefix(old[:both], text[:both])
	to := both - commonSuffix(old[from:both], text[from:both])
	if from < to {
		if _, err := file.WriteAt(text[from:to], int64(from)); err != nil {
			return err
		}
		step("changed")
	}
	if len(old) > both {
		return file.Truncate(int64(both))
	}
	return nil
}

// writeBack gives c's file its old bytes again, if it holds the new ones or a
// part of them, and its old mode. Anything else is somebody's edit, and stays.
func (t *transaction) writeBack(c *fileChange) error {
	if c.folder == nil {
		return nil
	}
	file, _, err := c.folder.open(c.leaf, os.O_RDWR)
	if isNoFile(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	release := holdOff(file)
	defer release()
	return t.giveBack(c, file)
}

// giveBack is writeBack of an open file. The mode comes first: a file that has
// the old bytes is taken for one that was never written.
func (t *transaction) giveBack(c *fileChange, file *os.File) error {
	if c.remodes() {
		if err := t.resetMode(c, file); err != nil {
			return err
		}
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	restored, err := t.restore(file, info, c.base.Data, c.want.Data)
	if restored && c.before != nil {
		// The time needs the owner's rights; the bytes count.
		if entry, e := c.folder.root.Lstat(c.leaf); e == nil && os.SameFile(info, entry) {
			c.folder.root.Chtimes(c.leaf, time.Time{}, c.before.ModTime())
		}
	}
	return err
}

// restore gives a file its old bytes, if it holds text or a part of it.
func (t *transaction) restore(file *os.File, info fs.FileInfo, old, text []byte) (restored bool, err error) {
	now := make([]byte, info.Size())
	n, err := file.ReadAt(now, 0)
	if n < len(now) {
		return false, fmt.Errorf("reading: %w", err)
	}
	if !bytes.Equal(now, text) && !torn(now, old, text) {
		return false, nil
	}
	if err := rewrite(file, now, old, t.w.step); err != nil {
		return false, fmt.Errorf("writing: %w", err)
	}
	keepMode(file, info)
	t.w.step("restored")
	return true, file.Sync()
}

// block is the piece of a file that a disk writes whole, and the smallest that a
// system leaves unwritten when it crashes.
const block = 4096

// torn reports whether now is what an interrupted rewrite of old into text
// leaves: the new tail up to somewhere, then the new head up to somewhere; or,
// after a crash of the machine, a mixture of old and new blocks.
func torn(now, old, text []byte) bool {
	both := min(len(old), len(text))
	if len(now) < both || len(now) > max(len(old), len(text)) {
		return false
	}
	return tornByKill(now, old, text, both) || tornByCrash(now, old, text)
}

func tornByKill(now, old, text []byte, both int) bool {
	switch {
	case len(old) >= len(text):
		if len(now) != len(old) || !bytes.Equal(now[both:], old[both:]) {
			return false
		}
	case !bytes.Equal(now[both:], text[both:len(now)]):
		return false
	case len(now) < len(text):
		return bytes.Equal(now[:both], old) // the head is written when the tail is there
	}
	k := commonPrefix(now[:both], text)
	return bytes.Equal(now[k:both], old[k:both])
}

func tornByCrash(now, old, text []byte) bool {
	if len(now) <= block || len(now) != len(old) && len(now) != len(text) {
		return false
	}
	for at := 0; at < len(now); at += block {
		piece := now[at:min(at+block, len(now))]
		if !startsAt(old, at, piece) && !startsAt(text, at, piece) {
			return false
		}
	}
	return true
}

// startsAt reports whether whole has piece at offset at.
func startsAt(whole []byte, at int, piece []byte) bool {
	return at <= len(whole) && bytes.HasPrefix(whole[at:], piece)
}
