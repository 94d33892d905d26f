package diffpreview

import (
	"errors"
	"fmt"
	"io/fs"
)

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
