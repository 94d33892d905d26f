package diffpreview

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// rollBack takes back what t did, last first, and returns why. What somebody
// else wrote meanwhile stays.
func (t *transaction) rollBack(why error) error {
	why = t.undoAll(why, func(c *fileChange) bool { return c.placed && c.method != methodDelete })
	t.removeMade() // one of them may stand where a file stood
	if err := t.remake(); err != nil {
		why = errors.Join(why, err, errHalfDone)
	}
	why = t.undoAll(why, func(c *fileChange) bool { return c.placed && c.method == methodDelete || c.aside })
	if err := t.tidy(); err != nil {
		why = errors.Join(why, err)
	}
	t.removeMade()
	if err := t.sync(); err != nil {
		why = errors.Join(why, err, errHalfDone)
	}
	return why
}

// undoAll takes back the changes that are meant.
func (t *transaction) undoAll(why error, meant func(*fileChange) bool) error {
	for _, c := range slices.Backward(t.changes) {
		if !meant(c) {
			continue
		}
		if err := t.undo(c); err != nil {
			c.staged, c.aside = false, false // what is under the temporary name is needed
			why = errors.Join(why, c.fail("putting back", err), errHalfDone)
			continue
		}
		c.placed = false
		t.w.step("put back")
	}
	return why
}

func (t *transaction) undo(c *fileChange) error {
	switch c.method {
	case methodDelete:
		return t.bringBack(c)
	case methodMove:
		if c.aside {
			return t.moveBack(c)
		}
		return t.moveOut(c)
	case methodExchange:
		return t.putBack(c)
	case methodCreate:
		return t.takeAway(c)
	case methodMode:
		return t.modeBack(c)
	}
	return t.writeBack(c)
}

// bringBack gives a deleted file its name again, unless somebody made a new
// file there. After a crash the file may be one that somebody else deleted.
func (t *transaction) bringBack(c *fileChange) error {
	if c.folder == nil {
		return t.homeless(c)
	}
	t.touched[c.folder] = true
	err := t.moveNew(c.home, c.temp, c.folder, c.leaf)
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// putBack exchanges the displaced file with the name again. If what comes out
// is not what t had put there, somebody saved meanwhile: that is newer than
// what now stands under the name, and is exchanged back in its turn, and so on.
func (t *transaction) putBack(c *fileChange) error {
	if err := t.straighten(c); err != nil {
		return err
	}
	placed := c.ours
	for range patience {
		aside, err := c.home.fingerprint(c.temp)
		if err != nil {
			return err
		}
		err = t.swap(c)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // somebody deleted the file, and meant this or a newer text
		}
		if err != nil {
			return err
		}
		t.w.step("exchanged back")
		out, err := c.home.fingerprint(c.temp)
		if err != nil {
			return err
		}
		if out.is(placed) {
			return nil
		}
		placed = aside
	}
	return fmt.Errorf("replaced %d times in a row", patience)
}

// takeAway removes a created file, unless somebody wrote to it.
func (t *transaction) takeAway(c *fileChange) error {
	if err := c.home.remove(c.temp); err != nil { // the same file, where names are moved by linking
		return err
	}
	err := c.folder.move(c.leaf, c.home, c.temp)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	c.staged = true
	t.w.step("taken away")
	found, err := c.home.fingerprint(c.temp)
	if err != nil || found.is(c.ours) {
		return err
	}
	return t.bringBack(c)
}
