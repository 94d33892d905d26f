package diffpreview

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"
)

// phase tells how far a transaction had come when an intent was logged.
type phase string

const (
	phasePrepare phase = "prepare" // temporary files may be there, nothing visible changed
	phaseCommit  phase = "commit"  // everything is prepared, visible names may have changed
	phaseOver    phase = "over"    // everything is in place, what was displaced may have been removed
)

// intent is what the journal keeps of a transaction, so that it can be finished
// or undone after a crash. Its JSON is read only by the same program.
type intent struct {
	Phase phase        `json:"phase"`
	Files []intentFile `json:"files"`
	Made  []intentDir  `json:"made,omitempty"` // directories that may have been made, outermost first
	// Emptied are directories that may have been removed to make room, deepest
	// first, and Unmake those to be removed at the end, as far as they are empty.
	Emptied []intentDir `json:"emptied,omitempty"`
	Unmake  []intentDir `json:"unmake,omitempty"`
}

// intentDir names a directory by its root's absolute path and a slash path below it.
type intentDir struct {
	Root osName `json:"root"`
	Rel  osName `json:"rel"`
	// Mode, User and Group are those of a directory that was emptied.
	Mode  fs.FileMode `json:"mode,omitempty"`
	User  int         `json:"user,omitempty"`
	Group int         `json:"group,omitempty"`
}

// intentFile is one file of an intent, in the order of the commit.
type intentFile struct {
	Root    osName `json:"root"` // absolute path of the root
	Rel     osName `json:"rel"`  // slash path below it
	Method  method `json:"method"`
	Temp    osName `json:"temp,omitempty"` // slash path of the temporary file below the root
	To      osName `json:"to,omitempty"`   // of a move: slash path of the new name
	Base    string `json:"base,omitempty"` // mark of what was there, "" when there was nothing
	Want    string `json:"want,omitempty"` // mark of what shall be there, "" when that is nothing
	BaseLen int64  `json:"baseLen"`        // bytes
	WantLen int64  `json:"wantLen"`        // bytes
	// Inode is the new file's, or that of the one that moves or gets another
	// mode; 0 where the system has none.
	Inode uint64 `json:"inode,omitempty"`
	// Mode is the old and the new permissions where they change by themselves.
	Mode *[2]fs.FileMode `json:"mode,omitempty"`
}

// bodies lists the hashes whose bytes recovery may ask for: both sides of every
// in-place write. All other methods keep the old bytes in the workspace until
// they are done.
func (in intent) bodies() []string {
	var hashes []string
	for _, f := range in.Files {
		if f.Method == methodInPlace {
			hashes = append(hashes, f.Base, f.Want)
		}
	}
	return hashes
}

func (t *transaction) intent(ph phase) intent {
	in := intent{Phase: ph}
	for _, c := range t.changes {
		root := t.dirOf(c.path).Root
		base, want := c.hash()
		f := intentFile{
			Root: root, Rel: osName(c.path.rel), Method: c.method, Base: base, Want: want,
			BaseLen: int64(len(c.base.Data)), WantLen: int64(len(c.want.Data)), Inode: c.ours.inode,
		}
		to := c
		switch c.method {
		case methodMove:
			to = c.to
			f.To = osName(to.path.rel)
		case methodMode, methodInPlace:
			if c.remodes() {
				f.Mode = &[2]fs.FileMode{c.oldMode(), c.want.Mode.Perm()}
			}
		}
		if c.method != methodInPlace && c.method != methodMode || c.staged {
			f.Temp = osName(path.Join(c.home.at.rel, c.temp))
		}
		in.Files = append(in.Files, f)
		for n := range to.missing {
			in.Made = append(in.Made, t.dirOf(to.below(n+1)))
		}
	}
	for _, e := range t.emptied {
		dir := t.dirOf(e.at)
		dir.Mode, dir.User, dir.Group = e.mode, e.user, e.group
		in.Emptied = append(in.Emptied, dir)
	}
	for _, p := range t.unmake {
		in.Unmake = append(in.Unmake, t.dirOf(p))
	}
	return in
}

func (t *transaction) dirOf(p Path) intentDir {
	return intentDir{Root: osName(t.w.roots[p.index].path), Rel: osName(p.rel)}
}

// osName is a file name in JSON: as it is when it is UTF-8, else in base64
// behind a NUL, which no file name can hold.
type osName string

const rawName = "\x00"

// MarshalText encodes the name.
func (n osName) MarshalText() ([]byte, error) {
	if utf8.ValidString(string(n)) {
		return []byte(n), nil
	}
	return []byte(rawName + base64.StdEncoding.EncodeToString([]byte(n))), nil
}

// UnmarshalText decodes the name.
func (n *osName) UnmarshalText(text []byte) error {
	coded, raw := strings.CutPrefix(string(text), rawName)
	if !raw {
		*n = osName(text)
		return nil
	}
	name, err := base64.StdEncoding.DecodeString(coded)
	if err != nil {
		return fmt.Errorf("file name: %w", err)
	}
	*n = osName(name)
	return nil
}
