package diffpreview

import (
	"encoding/base64"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// phase tells how far a transaction had come when an intent was logged.
type phase string

const (
	phasePrepare phase = "prepare" // temporary files may be there, nothing visible changed
	phaseCommit  phase = "commit"  // everything is prepared, visible names may have changed
)

// intent is what the journal keeps of a transaction, so that it can be finished
// or undone after a crash. Its JSON is read only by the same program.
type intent struct {
	Phase phase        `json:"phase"`
	Files []intentFile `json:"files"`
	Made  []intentDir  `json:"made,omitempty"` // directories that may have been made, outermost first
}

// intentDir names a directory by its root's absolute path and a slash path below it.
type intentDir struct {
	Root osName `json:"root"`
	Rel  osName `json:"rel"`
}

// intentFile is one file of an intent, in the order of the commit.
type intentFile struct {
	Root    osName `json:"root"` // absolute path of the root
	Rel     osName `json:"rel"`  // slash path below it
	Method  method `json:"method"`
	Temp    osName `json:"temp,omitempty"` // slash path of the temporary file below the root
	Base    string `json:"base,omitempty"` // hash of the old bytes, "" when there was no file
	Want    string `json:"want,omitempty"` // hash of the new bytes, "" when there shall be none
	BaseLen int64  `json:"baseLen"`        // bytes
	WantLen int64  `json:"wantLen"`        // bytes
	Inode   uint64 `json:"inode,omitempty"`
	// Inode is the new file's, 0 where the system has none.
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
		root := osName(t.w.roots[c.path.index].path)
		base, want := c.hash()
		f := intentFile{
			Root: root, Rel: osName(c.path.rel), Method: c.method, Base: base, Want: want,
			BaseLen: int64(len(c.base.Data)), WantLen: int64(len(c.want.Data)), Inode: c.ours.inode,
		}
		if c.method != methodInPlace || c.staged {
			f.Temp = osName(path.Join(c.home.at.rel, c.temp))
		}
		in.Files = append(in.Files, f)
		dir := c.home.at.rel
		for _, part := range c.missing {
			dir = path.Join(dir, part)
			in.Made = append(in.Made, intentDir{Root: root, Rel: osName(dir)})
		}
	}
	return in
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
