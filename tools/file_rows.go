package tools

import (
	"fmt"
	"io/fs"
	"strconv"
	"unicode/utf8"

	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/watch"
	"github.com/loomd/loomd/watch/index"
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
	out   *rowWriter
	limit int
	shown int
	total int // those past the limit included
	full  bool
}

// newFileRows begins the object with the members of head and a list of files.
func newFileRows(head listHead, limit int) *fileRows {
	r := &fileRows{out: newRowWriter(), limit: limit}
	r.out.buf = append(r.out.buf, '{')
	r.out.members(head, true)
	r.out.buf = append(r.out.buf[:len(r.out.buf)-1], `,"files":[`...)
	return r
}

// end closes the list and the object, with the members of tail.
func (r *fileRows) end(tail any) *rowWriter {
	r.out.room(1)
	r.out.buf = append(r.out.buf, ']')
	r.out.members(tail, false)
	return r.out
}

// add appends an entry whose path goes on behind prefix. Its size counts for
// regular files and links.
func (r *fileRows) add(prefix string, e index.Entry) {
	r.total++
	most := maxEscape*(len(prefix)+len(e.Path)) + len(`,{"path":"","size":,"is_dir":false,"kind":"special"}`) + 20
	if r.full = r.full || r.shown == r.limit || r.out.len() > maxRowBytes || most > chunkSize; r.full {
		return
	}
	r.out.room(most)
	buf := r.out.buf
	if r.shown++; r.shown > 1 {
		buf = append(buf, ',')
	}
	buf = append(buf, `{"path":"`...)
	if prefix != "" {
		buf = appendEscaped(buf, []byte(prefix))
	}
	if e.Plain {
		buf = append(buf, e.Path...)
	} else {
		buf = appendEscaped(buf, []byte(e.Path))
	}
	buf = append(buf, `","size":`...)
	if e.Kind == watch.Dir || e.Kind == watch.Special {
		e.Size = 0
	}
	buf = strconv.AppendInt(buf, e.Size, 10)
	switch e.Kind {
	case watch.Dir:
		buf = append(buf, `,"is_dir":true}`...)
	case watch.Link:
		buf = append(buf, `,"is_dir":false,"kind":"link"}`...)
	case watch.Special:
		buf = append(buf, `,"is_dir":false,"kind":"special"}`...)
	default:
		buf = append(buf, `,"is_dir":false}`...)
	}
	r.out.buf = buf
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

// validName reports whether JSON can carry a name.
func validName(name string) bool { return utf8.ValidString(name) }
