package diffpreview

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"time"
)

// MaxEdit is the size in bytes above which a file is not edited. A proposal
// keeps its base, and three copies of a file this large are what a machine
// with 1 GiB to spare can hold.
const MaxEdit = 256 << 20

// settleTime is how old a file's last change must be before its bytes are taken
// as what its writer meant. Many programs save by emptying the file first; they
// are done in a few milliseconds, on a slow disk in some tens.
const settleTime = 200 * time.Millisecond

// Content is what is, or shall be, at a path. Data is never modified once a
// Content holds it.
type Content struct {
	Exists   bool
	Data     []byte      // of a link: its target
	Mode     fs.FileMode // permission bits, or fs.ModeSymlink for a link
	Document bool        // the text of an open buffer with unsaved changes

	changed time.Time // on disk: when the file was written last, or its directory where there is no file
}

// unsettled is how long it takes until a file's bytes can be trusted; 0 when
// they can be now.
func (c Content) unsettled(now time.Time) time.Duration {
	age := now.Sub(c.changed)
	if c.Document || age < 0 || age >= settleTime {
		return 0
	}
	return settleTime - age
}

// IsLink reports whether c is a symbolic link.
func (c Content) IsLink() bool { return c.Exists && c.Mode&fs.ModeSymlink != 0 }

func sameContent(a, b Content) bool {
	return a.Exists == b.Exists && a.IsLink() == b.IsLink() && bytes.Equal(a.Data, b.Data)
}

// sameFile is sameContent with the permissions: all that a reviewer is asked about.
func sameFile(a, b Content) bool {
	return sameContent(a, b) && a.Mode.Perm() == b.Mode.Perm()
}

// Hash is the SHA-256 of the bytes in hex, of a link's target after "link "; ""
// where there is no file.
func (c Content) Hash() string {
	if !c.Exists {
		return ""
	}
	if c.IsLink() {
		return hashBytes(append([]byte("link "), c.Data...))
	}
	return hashBytes(c.Data)
}

func hashBytes(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
