package tools

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/watch"
)

// maxListed bounds the entries of one result, maxRowBytes what the rows of one
// result take as JSON: one frame of at most 64 MiB, with room for the rest of
// it.
const (
	maxListed   = 100_000
	maxRowBytes = 48 << 20
)

// maxWarnings bounds the warnings of one result; the last one says how many
// more there were.
const maxWarnings = 20

// warning is something that could not be listed or searched.
type warning struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// warnings are those of one result.
type warnings struct {
	list []warning
	all  int
}

func (w *warnings) add(name, message string) {
	if w.all++; w.all <= maxWarnings {
		w.list = append(w.list, warning{name, message})
	}
}

// done is the list, never nil, with what was too much for it.
func (w *warnings) done() []warning {
	if w.list == nil {
		return []warning{}
	}
	if w.all > len(w.list) {
		return append(w.list, warning{".", fmt.Sprintf("%d more warnings", w.all-len(w.list))})
	}
	return w.list
}

// listedFile is one entry. Links are not followed.
type listedFile struct {
	Path  string `json:"path"`
	Size  int64  `json:"size" jsonschema:"bytes; 0 for a directory"`
	IsDir bool   `json:"is_dir"`
	Kind  string `json:"kind,omitempty" jsonschema:"link, or special for a FIFO, socket or device"`
}

// fileRows are the listedFiles of a result as JSON, up to a number of them.
type fileRows struct {
	json  []byte
	limit int
	shown int
	total int // those past the limit included
	full  bool
}

// add appends an entry. size counts for regular files and links.
func (r *fileRows) add(prefix, name string, size int64, kind watch.Kind) {
	r.total++
	if r.full = r.full || r.shown == r.limit || len(r.json) > maxRowBytes-6*(len(prefix)+len(name))-100; r.full {
		return
	}
	if r.shown++; len(r.json) > 0 {
		r.json = append(r.json, ',')
	}
	r.json = append(r.json, `{"path":"`...)
	r.json = appendEscaped(r.json, []byte(prefix))
	r.json = appendEscaped(r.json, []byte(name))
	r.json = append(r.json, `","size":`...)
	if kind == watch.Dir || kind == watch.Special {
		size = 0
	}
	r.json = strconv.AppendInt(r.json, size, 10)
	switch kind {
	case watch.File:
		r.json = append(r.json, `,"is_dir":false}`...)
	case watch.Dir:
		r.json = append(r.json, `,"is_dir":true}`...)
	case watch.Link:
		r.json = append(r.json, `,"is_dir":false,"kind":"link"}`...)
	case watch.Special:
		r.json = append(r.json, `,"is_dir":false,"kind":"special"}`...)
	}
}

// appendFiles appends the object with the members of head, then files, then those
// of tail.
func appendFiles(dst []byte, head listHead, rows *fileRows, tail any) []byte {
	dst = slices.Grow(dst, len(rows.json)+1024) // the rest of the result is short
	dst = appendMembers(append(dst, '{'), head, true)
	dst = append(dst[:len(dst)-1], `,"files":[`...)
	dst = append(dst, rows.json...)
	return appendMembers(append(dst, ']'), tail, false)
}

// kindOf is what an entry of a directory is.
func kindOf(e diffpreview.Entry) watch.Kind {
	switch {
	case e.IsDir:
		return watch.Dir
	case e.Mode&fs.ModeSymlink != 0:
		return watch.Link
	case !e.Mode.IsRegular():
		return watch.Special
	}
	return watch.File
}

// appendMembers appends the members of v, a struct that JSON makes an object of,
// and its closing bracket. first says that none stands before them.
func appendMembers(dst []byte, v any, first bool) []byte {
	text, err := encode(v)
	if err != nil {
		panic(err) // plain structs of this package always encode
	}
	switch {
	case string(text) == "{}":
		return append(dst, '}')
	case !first:
		dst = append(dst, ',')
	}
	return append(dst, text[1:]...)
}

// validName reports whether JSON can carry a name.
func validName(name string) bool { return utf8.ValidString(name) }
