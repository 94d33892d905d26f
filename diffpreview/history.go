package diffpreview

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// HistoryEntry is what was decided about one hunk, or undone. It holds no text
// of a file.
type HistoryEntry struct {
	Seq      int       `json:"seq"` // from 1, without gaps
	Time     time.Time `json:"time"`
	Proposal string    `json:"proposal"`
	Session  string    `json:"session"`
	Label    string    `json:"label"`
	Path     string    `json:"path"`
	From     string    `json:"from,omitempty"` // the file's name before, when the decision changed it
	Hunk     string    `json:"hunk"`
	Kind     string    `json:"kind"`
	Decision string    `json:"decision"` // accepted, modified, rejected or reopened
	By       string    `json:"by"`       // "tree" when the tree was found to have it, or to have lost it
	Rule     string    `json:"rule,omitempty"`
	Comment  string    `json:"comment,omitempty"`
	// HashBefore and HashAfter are the file's, "" where there is none.
	HashBefore string   `json:"hashBefore"`
	HashAfter  string   `json:"hashAfter"`
	Added      int      `json:"added"` // lines
	Removed    int      `json:"removed"`
	Tools      []string `json:"tools"` // that made the proposal, in the order of their first call
}

const (
	// maxHistoryText bounds a comment in the history, in bytes: every entry is
	// short, so that reading back over many is quick.
	maxHistoryText = 2048
	// maxHistoryTools bounds the tools that an entry names.
	maxHistoryTools = 16
)

// history is what was decided, the newest entries in memory (and in the journal),
// the others in history.jsonl and, older ones, in history.1.jsonl.
type history struct {
	dir   string
	limit int64 // bytes of both files
	seal  *seal // of the lines, which show their numbers alone

	mu     sync.Mutex     // guards the fields below
	recent []HistoryEntry // not in a file yet
	size   int64          // bytes of history.jsonl that are whole entries
	first  int            // the oldest entry there is; 0: there is none
	filed  int            // the newest entry in a file
	last   int            // the newest entry
}

func (h *history) path() string  { return filepath.Join(h.dir, "history.jsonl") }
func (h *history) older() string { return filepath.Join(h.dir, "history.1.jsonl") }

// open finds out which entries there are in the files. A last line that a crash
// cut short is passed over: the journal still has it.
func (h *history) open() error {
	for _, path := range []string{h.older(), h.path()} {
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("history: %w", err)
		}
		err = h.takeStock(f, path)
		if err = errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("history: %w", err)
		}
	}
	h.last = h.filed
	return nil
}

func (h *history) takeStock(f *os.File, path string) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := closeFile(path, info); err != nil {
		return err
	}
	whole := int64(0)
	err = backward(f, info.Size(), func(end int64, line []byte) bool {
		whole = end
		if seq, ok := seqOf(line); ok {
			h.filed = max(h.filed, seq)
			return false
		}
		return true
	})
	if path == h.path() {
		h.size = whole
	}
	if err == nil && whole > 0 && h.first == 0 {
		h.first, err = firstSeq(f, whole)
	}
	return err
}

// add numbers entries. The caller sees to it that entries are added in the order
// in which the journal has them.
func (h *history) add(entries []HistoryEntry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range entries {
		h.last++
		e.Seq = h.last
		if h.first == 0 {
			h.first = e.Seq
		}
		h.recent = append(h.recent, e)
	}
}

// restore is add of the entries that a journal has, the first of which comes
// after before: those that are in a file already are left out.
func (h *history) restore(before int, entries []HistoryEntry) {
	if before+len(entries) < h.filed {
		before = h.filed // not the journal that these files belong to
	}
	if skip := h.filed - before; skip > 0 {
		entries = entries[skip:]
		before = h.filed
	}
	h.mu.Lock()
	h.last = before
	h.mu.Unlock()
	h.add(entries)
}

// save moves the entries up to last to the file. It comes before they leave the
// journal; a crash between the two leaves them in both.
func (h *history) save(last int, step func(string)) error {
	for {
		h.mu.Lock()
		size := h.size
		recent := h.recent
		h.mu.Unlock()
		text, n, err := h.entriesUpTo(recent, last, h.limit/2-size)
		if err != nil || n == 0 {
			return err
		}
		if size > 0 && size+int64(len(text)) > h.limit/2 {
			if err := h.rotate(); err != nil {
				return err
			}
			step("history rotated")
			continue
		}
		if err := h.write(text, size, step); err != nil {
			return err
		}
		h.mu.Lock()
		h.size, h.filed = size+int64(len(text)), recent[n-1].Seq
		h.recent = slices.Clone(h.recent[n:])
		h.mu.Unlock()
	}
}

// entriesUpTo are the lines of the first n entries, which are as many as room
// bytes hold, but one at least if there is one up to last.
func (h *history) entriesUpTo(entries []HistoryEntry, last int, room int64) (text []byte, n int, err error) {
	for ; n < len(entries) && entries[n].Seq <= last; n++ {
		line, err := json.Marshal(&entries[n])
		if err != nil {
			return nil, 0, fmt.Errorf("history: %w", err)
		}
		line = h.seal.seal(sealHistory, line).line(fmt.Sprintf(`"seq":%d,`, entries[n].Seq))
		if n > 0 && int64(len(text)+len(line)) >= room {
			break
		}
		text = append(append(text, line...), '\n')
	}
	return text, n, nil
}

func (h *history) write(text []byte, size int64, step func(string)) error {
	f, err := openPrivate(h.path(), os.O_APPEND|os.O_CREATE)
	if err != nil {
		return ioError("history", err)
	}
	// What a crash cut short goes first; the file stays shared with readers, who
	// know how far they may read.
	if err = f.Truncate(size); err == nil {
		_, err = f.Write(text[:len(text)/2])
	}
	step("history half written")
	if err == nil {
		_, err = f.Write(text[len(text)/2:])
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		f.Truncate(size)
	}
	err = errors.Join(err, f.Close())
	if err == nil && size == 0 {
		err = syncDir(h.dir)
	}
	step("history written")
	if err != nil {
		return ioError("history", err)
	}
	return nil
}

// rotate makes the file the older one, which drops the oldest entries.
func (h *history) rotate() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := replaceFile(h.path(), h.older()); err != nil {
		return ioError("history", err)
	}
	h.size = 0
	f, err := os.Open(h.older())
	if err != nil {
		return ioError("history", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		h.first, err = firstSeq(f, info.Size())
	}
	if err == nil {
		err = syncDir(h.dir)
	}
	if err != nil {
		return ioError("history", err)
	}
	return nil
}

// historyOf says what a review tells of a hunk of after, which was before.
func (s *Store) historyOf(before, after *Proposal, hashBefore string, h *Hunk, r *Review) HistoryEntry {
	e := HistoryEntry{
		Time: s.now().UTC(), Proposal: after.ID, Session: after.Session, Label: s.label(after.Session),
		Path: after.Name, Hunk: h.ID, Kind: string(h.Kind), Decision: r.Decision, By: r.By, Comment: shortened(r.Comment),
		HashBefore: hashBefore, HashAfter: r.Hash, Tools: toolsOf(after.Steps),
	}
	if before.Path != after.Path {
		e.From = before.Name
	}
	if d := h.Decision; d != nil {
		e.Rule = d.Rule
		if !d.Time.IsZero() {
			e.Time = d.Time
		}
	}
	if h.Kind != KindBinary {
		e.Added, e.Removed = len(after.form.split(h.New)), len(after.form.split(h.Old))
	}
	return e
}

func toolsOf(steps []StepRecord) []string {
	tools := []string{}
	for _, s := range steps {
		if !slices.Contains(tools, s.Call.Tool) && len(tools) < maxHistoryTools {
			tools = append(tools, s.Call.Tool)
		}
	}
	return tools
}

// shortened cuts a text to maxHistoryText.
func shortened(text string) string {
	if len(text) <= maxHistoryText {
		return text
	}
	const more = "…"
	end := maxHistoryText - len(more)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.ToValidUTF8(text[:end], "\uFFFD") + more
}

// seqOf reads an entry's number, which an unfinished or damaged line has not.
func seqOf(line []byte) (seq int, ok bool) {
	var e struct {
		Seq int `json:"seq"`
	}
	err := json.Unmarshal(line, &e)
	return e.Seq, err == nil && e.Seq > 0
}

// firstSeq is the number of the first entry within the first size bytes.
func firstSeq(r io.ReaderAt, size int64) (int, error) {
	first := 0
	err := forward(r, 0, size, func(line []byte) bool {
		seq, ok := seqOf(line)
		first = seq
		return !ok
	})
	return first, err
}
