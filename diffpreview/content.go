package diffpreview

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
)

// MaxEdit is the size in bytes above which a file is not edited. A proposal
// keeps its base, and three copies of a file this large are what a machine
// with 1 GiB to spare can hold.
const MaxEdit = 256 << 20

// Content is what is, or shall be, at a path. Data is never modified once a
// Content holds it.
type Content struct {
	Exists   bool
	Data     []byte
	Mode     fs.FileMode // permission bits
	Document bool        // the text of an open buffer with unsaved changes
}

// Hash is the SHA-256 of the bytes in hex, "" where there is no file.
func (c Content) Hash() string {
	if !c.Exists {
		return ""
	}
	return hashBytes(c.Data)
}

func hashBytes(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
