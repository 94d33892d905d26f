package diffpreview

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// emptied is a directory out of which t takes all files, and which then makes
// room for a file of its name.
type emptied struct {
	at          Path
	info        fs.FileInfo // what it was like; nil after a crash
	was         *folder     // open though it is removed; nil after a crash
	mode        fs.FileMode
	user, group int // -1: unknown
}

// checkEmptied makes sure that t takes everything out of the directory at p,
// where c's file shall be.
func (t *transaction) checkEmptied(c *fileChange, p Path) error {
	f, err := t.folder(p)
	if err != nil {
		return c.fail("opening directory", err)
	}
	names, err := f.names()
	if err != nil {
		return c.fail("reading directory", err)
	}
	if len(names) == 0 {
		return failf(CodeIsDirectory, c.name, "is a directory")
	}
	for _, e := range names {
		below := Path{p.index, path.Join(p.rel, e.Name())}
		switch {
		case e.IsDir():
			if err := t.checkEmptied(c, below); err != nil {
				return err
			}
		case !t.leaving[below]:
			return failf(CodeIsDirectory, c.name, "is a directory, which has %s in it", t.w.Name(below))
		}
	}
	info, err := f.dir.Stat()
	if err != nil {
		return c.fail("looking at directory", err)
	}
	user, group := owner(info)
	t.emptied = append(t.emptied, emptied{at: p, info: info, was: f, mode: info.Mode(), user: user, group: group})
	return nil
}

// nested refuses to put c's file where another one of t needs a directory.
func (t *transaction) nested(c *fileChange) error {
	to := c
	if c.to != nil {
		to = c.to
	}
	if !to.want.Exists {
		return nil
	}
	for dir := range to.path.above() {
		if t.placing[dir] {
			return failf(CodeIsDirectory, t.w.Name(dir), "must be a directory: %s is to be in it", to.name)
		}
	}
	return nil
}

// arrange puts the changes in order, and finds the moves that must make room
// before anything else comes: those go through their temporary names. What is
// taken out of a directory that is removed waits outside of it.
func (t *transaction) arrange() error {
	needed := map[Path]bool{}
	for _, c := range t.changes {
		if c.to == nil {
			continue
		}
		for p := range t.placing {
			for ; p.rel != "." && !needed[p]; p.rel = path.Dir(p.rel) {
				needed[p] = true
			}
		}
		break
	}
	for _, c := range t.changes {
		c.via = c.via || c.to != nil && needed[c.path]
		if c.method == methodMode || c.method == methodMove {
			c.keeps()
		}
		if c.method != methodDelete && c.method != methodMove {
			continue
		}
		for _, e := range t.emptied {
			if c.path.index != e.at.index || !strings.HasPrefix(c.path.rel, e.at.rel+"/") {
				continue
			}
			above, err := t.folder(Path{e.at.index, path.Dir(e.at.rel)})
			if err != nil {
				return c.fail("opening directory", err)
			}
			c.home, c.via = above, true
		}
	}
	t.sort()
	return nil
}

// vacate carries out what makes room for the rest of the commit.
func (t *transaction) vacate() error {
	for _, c := range t.changes {
		if c.method == methodDelete || c.method == methodMove && c.via {
			if err := t.placeDelete(c); err != nil {
				return err
			}
			t.w.step("placed")
		}
	}
	for _, e := range t.emptied {
		above, err := t.folder(Path{e.at.index, path.Dir(e.at.rel)})
		if err == nil {
			err = above.removeDir(path.Base(e.at.rel))
		}
		if err != nil {
			return t.stillFull(e, err)
		}
		t.forget(e.at)
		t.touched[above] = true
		t.w.step("directory emptied")
	}
	return nil
}

func (t *transaction) stillFull(e emptied, err error) error {
	c := &fileChange{write: write{path: e.at}, name: t.w.Name(e.at)}
	if errors.Is(err, fs.ErrExist) { // that is, ENOTEMPTY
		return c.stale("somebody put something into the directory while it was being emptied")
	}
	return c.fail("removing directory", err)
}

// forget drops the handle of a directory that was removed from those in use.
func (t *transaction) forget(p Path) {
	if f := t.folders[p]; f != nil {
		t.closed = append(t.closed, f)
		delete(t.folders, p)
		delete(t.touched, f)
	}
}

// remake makes the emptied directories again, as they were.
func (t *transaction) remake() error {
	var all error
	for _, e := range slices.Backward(t.emptied) {
		all = errors.Join(all, t.remakeOne(e))
	}
	for _, c := range t.changes { // the handles of the directories that were removed are of no use
		if c.folder == nil || slices.Contains(t.closed, c.folder) {
			var err error
			if c.folder, err = t.present(Path{c.path.index, path.Dir(c.path.rel)}); err != nil {
				all = errors.Join(all, fmt.Errorf("opening directory of %s: %w", c.name, err))
			}
		}
	}
	return all
}

func (t *transaction) remakeOne(e emptied) error {
	above, err := t.present(Path{e.at.index, path.Dir(e.at.rel)})
	if above == nil || err != nil {
		return err
	}
	err = above.root.Mkdir(path.Base(e.at.rel), e.mode.Perm())
	if errors.Is(err, fs.ErrExist) {
		return nil // it was not removed, or somebody made one
	}
	if err != nil {
		return fmt.Errorf("making %s again: %w", t.w.Name(e.at), err)
	}
	t.touched[above] = true
	if f, err := t.folder(e.at); err == nil {
		e.dress(f)
	}
	t.w.step("directory made again")
	return nil
}

// homeless says what becomes of a file whose old directory is not there. With a
// directory that somebody removed the file is removed, too; but one that t
// emptied has to be there first.
func (t *transaction) homeless(c *fileChange) error {
	for _, e := range t.emptied {
		if e.at.index == c.path.index && strings.HasPrefix(c.path.rel, e.at.rel+"/") {
			return &Error{
				Code: CodeIsDirectory, Path: c.name, Message: "cannot be put back: " + t.w.Name(e.at) + " was its directory, and is something else now",
				Hint: "move " + t.w.Name(e.at) + " away, and start the daemon again",
			}
		}
	}
	return nil
}

// dress gives the directory, as far as it can, what the emptied one had. The
// files in it count; that much about it must not keep them away.
func (e emptied) dress(f *folder) {
	if e.was != nil {
		keepAttributes(e.was.dir, f.dir, e.info)
	}
	if e.user >= 0 {
		f.dir.Chown(e.user, e.group)
	}
	f.dir.Chmod(e.mode)
}

// removeUnmade removes the directories that a write was to remove, as far as
// they are empty. Whatever keeps one is a reason to leave it.
func (t *transaction) removeUnmade() {
	slices.SortFunc(t.unmake, func(a, b Path) int { return cmp.Compare(strings.Count(b.rel, "/"), strings.Count(a.rel, "/")) })
	for _, p := range t.unmake {
		if p.rel == "." {
			continue
		}
		above, err := t.present(Path{p.index, path.Dir(p.rel)})
		if above == nil || err != nil {
			continue
		}
		if above.removeDir(path.Base(p.rel)) == nil {
			t.forget(p)
			t.touched[above] = true
			t.w.step("directory unmade")
		}
	}
}
