package diffpreview

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
)

// state is what a crash left of one change.
type state int

const (
	stateUnclear state = iota // the file is neither old nor new: edited since
	stateUndone               // not written, or put back
	stateDone                 // written
	stateForeign              // written, and what it displaced is not its base
	stateTorn                 // partly written
)

// recover finishes or undoes the transaction of an intent after a crash. It
// returns true when all of it is in place, false when none of it is, but for
// what others wrote since, which is left alone. No temporary file remains. body
// returns the bytes of a hash that [intent.bodies] named.
//
// It may be called again with the same intent, as long as the intent's files
// have not been written since; after an error it must be.
func (w *Workspace) recover(in intent, body func(hash string) ([]byte, error)) (applied bool, err error) {
	t := w.newTransaction()
	t.again = true
	defer t.close()
	if err := t.load(in); err != nil {
		return false, err
	}
	switch in.Phase {
	case phaseCommit:
	case phaseOver:
		return true, t.finishLater(in)
	default:
		return false, t.leave()
	}
	states := make([]state, len(t.changes))
	tidying := false
	for i, c := range t.changes {
		var bare bool
		states[i], bare, err = t.inspect(c, in.Files[i], body)
		if err != nil {
			return false, c.fail("recovering", err)
		}
		tidying = tidying || bare && states[i] == stateDone
	}
	if complete(states, tidying) {
		return true, t.finishLater(in)
	}
	for i, s := range states {
		if c := t.changes[i]; c.method != methodMove {
			c.placed = s == stateDone || s == stateForeign || s == stateTorn
		}
	}
	if err := t.needBodies(in, body); err != nil {
		return false, err
	}
	if t.made, err = t.findAll(in.Made); err != nil {
		return false, err
	}
	for _, dir := range in.Emptied {
		p, err := t.find(dir.Root, dir.Rel)
		if err != nil {
			return false, err
		}
		t.emptied = append(t.emptied, emptied{at: p, mode: dir.Mode, user: dir.User, group: dir.Group})
	}
	if err := t.rollBack(nil); err != nil {
		return false, fmt.Errorf("undoing a write: %w", err)
	}
	return false, nil
}

// complete decides whether all changes are written. What is unclear counts as
// written when a later change of the commit is, or when displaced files were
// already being removed, which begins after the last change. Else it counts as
// not written: then its proposal is compared with the file again, and does not
// write twice what it finds there.
func complete(states []state, tidying bool) bool {
	done := false // this or a later one
	for _, s := range slices.Backward(states) {
		switch s {
		case stateDone:
			done = true
		case stateUnclear:
			if !done && !tidying {
				return false
			}
		default:
			return false
		}
	}
	return done || tidying
}

// load makes the changes that in speaks of. A file whose directory is gone has
// no folder.
func (t *transaction) load(in intent) error {
	for _, f := range in.Files {
		p, err := t.find(f.Root, f.Rel)
		if err != nil {
			return err
		}
		c := t.newChange(write{path: p, base: Content{Exists: f.Base != ""}, want: Content{Exists: f.Want != ""}})
		c.method, c.hashes = f.Method, [2]string{f.Base, f.Want}
		c.ours = fingerprint{hash: f.Want}
		if f.Mode != nil {
			c.base.Mode, c.want.Mode = f.Mode[0], f.Mode[1]
		}
		if f.Method == methodMove || f.Method == methodMode {
			c.ours = fingerprint{hash: f.Base, inode: f.Inode}
		}
		if f.To != "" {
			c.to = t.newChange(write{path: Path{p.index, string(f.To)}})
			if c.to.folder, err = t.present(Path{p.index, path.Dir(c.to.path.rel)}); err != nil {
				return c.fail("opening directory", err)
			}
		}
		t.changes = append(t.changes, c)
		if c.folder, err = t.present(Path{p.index, path.Dir(p.rel)}); err != nil {
			return c.fail("opening directory", err)
		}
		if f.Temp == "" {
			continue
		}
		c.temp = path.Base(string(f.Temp))
		c.home, err = t.present(Path{p.index, path.Dir(string(f.Temp))})
		if err != nil {
			return c.fail("opening directory", err)
		}
		c.staged = c.home != nil
	}
	return nil
}

func (t *transaction) find(root, rel osName) (Path, error) {
	for i, r := range t.w.roots {
		if r.path == string(root) {
			return Path{i, string(rel)}, nil
		}
	}
	return Path{}, failf(CodePathOutsideWorkspace, string(rel), "an interrupted write is in %s, which is not served", root)
}

func (t *transaction) findAll(dirs []intentDir) ([]Path, error) {
	var all []Path
	for _, dir := range dirs {
		p, err := t.find(dir.Root, dir.Rel)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// present is folder, and nil without an error where there is no such directory.
func (t *transaction) present(p Path) (*folder, error) {
	f, err := t.folder(p)
	if isGone(err) {
		return nil, nil
	}
	return f, err
}

// finishLater does what remains of a write that is in place.
func (t *transaction) finishLater(in intent) error {
	var err error
	t.unmake, err = t.findAll(in.Unmake)
	return errors.Join(err, t.leave())
}

// leave removes the temporary files, and what was to be unmade.
func (t *transaction) leave() error {
	for _, c := range t.changes {
		if c.staged {
			t.touched[c.home] = true
		}
	}
	if err := t.tidy(); err != nil {
		return err
	}
	t.removeUnmade()
	return t.sync()
}

// inspect tells what became of c. bare: the temporary file that an exchange has
// until the tidying is not there.
func (t *transaction) inspect(c *fileChange, f intentFile, body func(string) ([]byte, error)) (s state, bare bool, err error) {
	if c.method == methodMove {
		s, err = t.inspectMove(c, f)
		return s, false, err
	}
	if c.method == methodExchange && c.folder != nil {
		if err := t.straighten(c); err != nil {
			return stateUnclear, false, err
		}
	}
	name, err := lookAt(c.folder, c.leaf)
	if err != nil {
		return stateUnclear, false, err
	}
	var aside fingerprint
	if c.temp != "" {
		if aside, err = lookAt(c.home, c.temp); err != nil {
			return stateUnclear, false, err
		}
	}
	switch c.method {
	case methodExchange:
		return exchanged(name, aside, f), aside.hash == "", nil
	case methodDelete:
		return deleted(name, aside, f), false, nil
	case methodCreate:
		return created(name, aside, f), false, nil
	case methodMode:
		return remoded(name, f), false, nil
	}
	s, err = t.overwritten(c, name, f, body)
	return s, false, err
}

// lookAt is the fingerprint of what a name stands for; its hash is "" when that
// is nothing.
func lookAt(f *folder, name string) (fingerprint, error) {
	if f == nil {
		return fingerprint{}, nil
	}
	found, err := f.fingerprint(name)
	if errors.Is(err, fs.ErrNotExist) {
		return fingerprint{}, nil
	}
	return found, err
}

// exchanged judges by what is under the name and what is aside, under the
// temporary one.
func exchanged(name, aside fingerprint, f intentFile) state {
	switch {
	case aside.hash == f.Base:
		return stateDone
	case aside.hash == f.Want:
		if name.hash == f.Want {
			return stateDone // the displaced file had the same bytes
		}
		return stateUndone
	case aside.hash != "" && aside.inode == f.Inode && f.Inode != 0:
		return stateUndone
	case aside.hash != "":
		return stateForeign
	}
	return replaced(name, f)
}

// replaced judges by the name alone, the temporary file being gone.
func replaced(name fingerprint, f intentFile) state {
	switch {
	case name.hash == f.Want, name.inode == f.Inode && f.Inode != 0:
		return stateDone
	case name.hash == f.Base:
		return stateUndone
	}
	return stateUnclear
}

func deleted(name, aside fingerprint, f intentFile) state {
	switch {
	case aside.hash == f.Base:
		return stateDone
	case aside.hash != "":
		return stateForeign
	}
	return replaced(name, f)
}

func created(name, aside fingerprint, f intentFile) state {
	if aside.hash != "" && (name.hash != aside.hash || name.inode != aside.inode) {
		return stateUndone
	}
	if name.hash == "" {
		return stateUnclear // put back, or deleted by somebody
	}
	return replaced(name, f)
}

// overwritten judges an in-place write by the bytes, and by the mode that the
// file gets after them.
func (t *transaction) overwritten(c *fileChange, name fingerprint, f intentFile, body func(string) ([]byte, error)) (state, error) {
	switch {
	case name.hash == f.Want && f.Mode != nil && name.perm == f.Mode[0]:
		return stateTorn, nil
	case name.hash == f.Want:
		return stateDone, nil
	case name.hash == f.Base && f.Mode != nil && name.perm == f.Mode[1]: // after a crash of the machine
		return stateTorn, nil
	case name.hash == f.Base:
		return stateUndone, nil
	case name.hash == "":
		return stateUnclear, nil
	}
	content, err := t.w.read(c.path)
	if err != nil || content.IsLink() {
		return stateUnclear, nil //nolint:nilerr // what is no readable file is nothing that a write left
	}
	if err := c.fetch(f, body); err != nil {
		return stateUnclear, err
	}
	if torn(content.Data, c.base.Data, c.want.Data) {
		return stateTorn, nil
	}
	return stateUnclear, nil
}

// needBodies fetches what undoing the in-place writes takes.
func (t *transaction) needBodies(in intent, body func(string) ([]byte, error)) error {
	for i, c := range t.changes {
		if c.method == methodInPlace && c.placed {
			if err := c.fetch(in.Files[i], body); err != nil {
				return err
			}
		}
	}
	return nil
}

// fetch gets the bytes of both sides of an in-place write.
func (c *fileChange) fetch(f intentFile, body func(string) ([]byte, error)) error {
	var err error
	if c.base.Data, err = fetchBody(f.Base, body); err != nil {
		return fmt.Errorf("old text of %s: %w", c.name, err)
	}
	if c.want.Data, err = fetchBody(f.Want, body); err != nil {
		return fmt.Errorf("new text of %s: %w", c.name, err)
	}
	return nil
}

func fetchBody(hash string, body func(string) ([]byte, error)) ([]byte, error) {
	data, err := body(hash)
	if err != nil {
		return nil, err
	}
	if hashBytes(data) != hash {
		return nil, failf(CodeInternal, "", "the stored bytes are not those of %s", hash)
	}
	return data, nil
}
