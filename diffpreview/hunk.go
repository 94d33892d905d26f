package diffpreview

import (
	"bytes"
	"fmt"
	"io/fs"
	"time"
)

// HunkKind says what a hunk changes.
type HunkKind string

// A text hunk is a run of changed lines. A link, a binary file, one that comes or
// goes are whole files. A new name and a new mode are properties: they stand
// beside the hunks of the content, and are decided apart from them.
const (
	KindText   HunkKind = "text"
	KindCreate HunkKind = "create"
	KindDelete HunkKind = "delete"
	KindBinary HunkKind = "binary"
	KindLink   HunkKind = "link" // a link's target changes, or a file becomes a link, or a link a file
	KindRename HunkKind = "rename"
	KindMode   HunkKind = "mode"
)

// HunkState is where a hunk stands.
type HunkState string

// Accepted and rejected hunks are decided; only open ones are in the view.
const (
	HunkOpen     HunkState = "open"
	HunkAccepted HunkState = "accepted"
	HunkRejected HunkState = "rejected"
	HunkConflict HunkState = "conflict"
)

// Hunk is one maximal run of changed lines, or a whole file. Start and Count
// are lines of the proposal's base, and the base holds there: Old while the
// hunk is open or rejected, New once it is accepted, and the tree's own text
// in a conflict.
type Hunk struct {
	ID    string
	Kind  HunkKind
	State HunkState
	Start int // from 0
	Count int
	Old   []byte // the text the agent replaced
	New   []byte // the agent's text
	// OldMode and NewMode are the modes before and after, of a mode hunk and of a
	// whole file, where 0 stands for that of any new file.
	OldMode, NewMode fs.FileMode
	From, To         Path // of a rename
	// Made is, of an accepted new file or name, how many of the directories right
	// above it were made for it.
	Made int
	// Since is the proposal's version at which State, Old or New last changed.
	// A decision made on a version from Since on means this very hunk.
	Since int
	// Lost is set on a decided hunk when its lines were changed by somebody
	// since: it cannot be undone any more.
	Lost bool
	// Unsaved is set on a hunk that was accepted into an editor's buffer until
	// its text is on disk: a buffer can be closed unsaved.
	Unsaved bool
	// Whole marks a conflict of the whole file: it was deleted, created or
	// turned into another kind of text under the proposal.
	Whole bool
	// Parts are the hunks that a conflict was made of, placed in Old. They come
	// back when the tree's text does.
	Parts []Hunk
	// Was is, of a conflict that was decided, the conflict: an undo brings it back.
	Was []Hunk
	// Held is set on a hunk that a person opened again: no rule decides it.
	Held bool
	// Of is the hunk that this one was split from, "" for a whole run of lines.
	Of       string
	Decision *Decision
}

// Decision is who decided a hunk, when, and what they said.
type Decision struct {
	By       string
	Time     time.Time
	Comment  string
	Modified bool   // accepted with another text than the agent's
	Rule     string `json:",omitempty"` // the rule that decided in a person's place
}

// decided reports whether nobody is asked about h any more.
func (h *Hunk) decided() bool { return h.State == HunkAccepted || h.State == HunkRejected }

// property reports whether h speaks of the file's name or mode and not of its
// content.
func (h *Hunk) property() bool { return h.Kind == KindRename || h.Kind == KindMode }

// wholeFile reports whether h speaks of the file's content as one piece and not
// of lines in it.
func (h *Hunk) wholeFile() bool { return !h.property() && (h.Kind != KindText || h.Whole) }

// original is the whole file that h changes, agent what it makes of it.
func (h *Hunk) original() Content {
	return Content{Exists: h.Kind != KindCreate, Data: h.Old, Mode: h.OldMode}
}

func (h *Hunk) agent() Content {
	return Content{Exists: h.Kind != KindDelete, Data: h.New, Mode: h.NewMode}
}

// edit puts text in the place of lines [start, start+count) of a base.
type edit struct {
	start, count int
	text         []byte
}

// patch applies edits, sorted by start and disjoint, to data. What they leave is
// copied. An insertion that comes behind the edit of lines from the same one on
// goes behind its text.
func (f lineForm) patch(data []byte, edits []edit) []byte {
	size := len(data)
	for _, e := range edits {
		size += len(e.text)
	}
	out := make([]byte, 0, size)
	lines := f.lines(data)
	from := 0 // data[:from] is consumed
	for _, e := range edits {
		out = append(out, data[from:max(from, lines.offset(e.start))]...)
		out = append(out, e.text...)
		from = max(from, lines.offset(e.start+e.count))
	}
	return append(out, data[from:]...)
}

// lineForm is how bytes are cut into lines. Contents of different forms cannot
// be compared line by line.
type lineForm string

const (
	formBytes   lineForm = "bytes" // UTF-8 and everything else that ends lines with the byte \n
	formUTF16LE lineForm = "utf-16le"
	formUTF16BE lineForm = "utf-16be"
	formBinary  lineForm = "binary" // one piece
)

// formOf looks at the start of a file alone: nothing further on has a say in how
// it is cut into lines. It agrees with [Inspect].
func formOf(c Content) lineForm {
	if c.IsLink() {
		return formBinary
	}
	enc, bom := BOMOf(c.Data)
	switch {
	case IsBinary(c.Data):
		return formBinary
	case bom != 2 || len(c.Data)%2 != 0:
		return formBytes
	case enc == UTF16LE:
		return formUTF16LE
	}
	return formUTF16BE
}

// formBetween is the form in which old and new can be compared. What differs
// in form is one piece.
func formBetween(old, new Content) lineForm {
	switch {
	case !old.Exists:
		return formOf(new)
	case !new.Exists:
		return formOf(old)
	}
	a, b := formOf(old), formOf(new)
	switch {
	case a == b:
		return a
	case old.IsLink() || new.IsLink():
		return formBinary
	case len(old.Data) == 0:
		return b
	case len(new.Data) == 0:
		return a
	}
	return formBinary
}

func (f lineForm) encoding() Encoding {
	switch f {
	case formUTF16LE:
		return UTF16LE
	case formUTF16BE:
		return UTF16BE
	case formBinary:
		return Binary
	}
	return Bytes
}

func (f lineForm) split(data []byte) [][]byte {
	if f != formBinary {
		return SplitLines(data, f.encoding())
	}
	if len(data) == 0 {
		return nil
	}
	return [][]byte{data}
}

// diff returns old and new in lines and the runs in which they differ.
func (f lineForm) diff(old, new []byte) (oldLines, newLines [][]byte, spans []Span) {
	return f.split(old), f.split(new), f.compare(old, new).spans
}

// compare is the diff of two texts. Binary ones are one piece each.
func (f lineForm) compare(old, new []byte) textDiff {
	if f != formBinary {
		return diffTexts(old, new, f.encoding())
	}
	d := textDiff{old: f.split(old), new: f.split(new)}
	if !bytes.Equal(old, new) {
		d.spans = []Span{{0, len(d.old), 0, len(d.new)}}
	}
	return d
}

// count is how many lines a text has.
func (f lineForm) count(text []byte) int { return countLines(text, f.encoding()) }

// lines finds the lines of a text by their numbers.
func (f lineForm) lines(text []byte) *lineCursor { return &lineCursor{data: text, enc: f.encoding()} }

// joinLines is the bytes of consecutive lines of one text.
func joinLines(lines [][]byte) []byte {
	if len(lines) == 0 {
		return nil
	}
	return bytes.Join(lines, nil)
}

// touches reports whether the line ranges [a, b) and [c, d) of one text meet:
// they overlap, or they are insertions at one point. Neighbours do not meet.
func touches(a, b, c, d int) bool {
	switch {
	case a == b && c == d:
		return a == c
	case a == b:
		return c < a && a < d
	case c == d:
		return a < c && c < b
	}
	return max(a, c) < min(b, d)
}

// disturbedBy reports whether a change of the tree meets the range [a, b). A
// deletion beside an insertion does too: what the text was inserted next to is
// gone, and when it comes back nothing else would tell on which side.
func disturbedBy(a, b int, s Span) bool {
	c, d := s.OldStart, s.OldStart+s.OldLines
	if a == b && s.NewLines == 0 {
		return c <= a && a <= d
	}
	return touches(a, b, c, d)
}

func hunkID(n int) string { return fmt.Sprintf("h%d", n) }
