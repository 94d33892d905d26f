package diffpreview

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sort"
	"strings"
	"time"
)

// HistoryFilter narrows a history. Empty members match everything.
type HistoryFilter struct {
	Session  string // an id or a label
	Path     string // a file, or a directory with all below it, as [Workspace.Resolve] takes it
	Proposal string
	Since    time.Time
	Before   int // only entries with a lower Seq; 0: up to the newest
	Limit    int // how many, the newest of them; 0: historyPage, at most maxHistoryPage
}

const (
	historyPage    = 100
	maxHistoryPage = 1000
	// historyBlock is how many bytes of a file are read at a time, from its end to
	// find what matches, historyPeek when an entry is looked for by its number.
	historyBlock = 64 << 10
	historyPeek  = 4 << 10
)

// History returns the newest decisions that match, the newest last, and whether
// there are older ones that do: ask again with Before the first one's Seq. It
// reads the files from their end, in pieces.
func (s *Store) History(f HistoryFilter) (entries []HistoryEntry, more bool, err error) {
	q := s.historyQuery(f)
	q.found = []HistoryEntry{}
	recent, files, err := s.history.view()
	if err != nil {
		return nil, false, err
	}
	defer func() {
		for _, file := range files {
			file.Close()
		}
	}()
	for i := range slices.Backward(recent) {
		if !q.take(&recent[i]) {
			break
		}
	}
	for _, file := range files {
		if len(q.found) > q.limit {
			break
		}
		if err := q.read(file); err != nil {
			return nil, false, fmt.Errorf("history: %w", err)
		}
	}
	if q.damaged > 0 {
		s.logger.Warn("The history has lines that cannot be read", "lines", q.damaged)
	}
	if more = len(q.found) > q.limit; more {
		q.found = q.found[:q.limit]
	}
	slices.Reverse(q.found)
	return q.found, more, nil
}

// HistoryRange is the Seq of the oldest decision that is remembered and of the
// newest; 0 when there is none. Older ones than first were dropped.
func (s *Store) HistoryRange() (first, last int) {
	s.history.mu.Lock()
	defer s.history.mu.Unlock()
	return s.history.first, s.history.last
}

// historyQuery is a filter at work.
type historyQuery struct {
	HistoryFilter
	seal    *seal
	limit   int
	needles [][][]byte // of each, a line that matches holds one
	found   []HistoryEntry
	damaged int
}

func (s *Store) historyQuery(f HistoryFilter) *historyQuery {
	q := &historyQuery{HistoryFilter: f, seal: s.journal.seal, limit: f.Limit}
	if q.limit <= 0 {
		q.limit = historyPage
	}
	q.limit = min(q.limit, maxHistoryPage)
	if f.Path != "" {
		if p, _, err := s.ws.Resolve(f.Path); err == nil { // else it may have been there
			q.Path = s.ws.Name(p)
		}
	}
	member := func(key, value string) []byte {
		text, _ := json.Marshal(value) // a string has no error
		return append([]byte(`"`+key+`":`), bytes.TrimSuffix(text, []byte(`"`))...)
	}
	if f.Session != "" {
		q.needles = append(q.needles, [][]byte{member("session", f.Session), member("label", f.Session)})
	}
	if q.Path != "" && q.Path != "." {
		q.needles = append(q.needles, [][]byte{member("path", q.Path), member("from", q.Path)})
	}
	if f.Proposal != "" {
		q.needles = append(q.needles, [][]byte{member("proposal", f.Proposal)})
	}
	return q
}

// maybe reports whether a line may match, without reading it as JSON.
func (q *historyQuery) maybe(line []byte) bool {
	return !slices.ContainsFunc(q.needles, func(any [][]byte) bool {
		return !slices.ContainsFunc(any, func(needle []byte) bool { return bytes.Contains(line, needle) })
	})
}

func (q *historyQuery) matches(e *HistoryEntry) bool {
	below := func(name string) bool {
		return name == q.Path || strings.HasPrefix(name, q.Path+"/")
	}
	switch {
	case q.Session != "" && e.Session != q.Session && e.Label != q.Session,
		q.Proposal != "" && e.Proposal != q.Proposal,
		q.Path != "" && q.Path != "." && !below(e.Path) && (e.From == "" || !below(e.From)),
		e.Time.Before(q.Since),
		q.Before > 0 && e.Seq >= q.Before:
		return false
	}
	return true
}

// take notes an entry that matches, and reports whether more are wanted: one
// more than the limit tells that there are more.
func (q *historyQuery) take(e *HistoryEntry) bool {
	if q.matches(e) {
		q.found = append(q.found, *e)
	}
	return len(q.found) <= q.limit
}

func (q *historyQuery) read(file historyFile) error {
	end := file.size
	if q.Before > 0 {
		var err error
		if end, err = startOf(file, file.size, q.Before); err != nil {
			return err
		}
	}
	return backward(file, end, func(_ int64, line []byte) bool {
		line, err := q.seal.openLine(sealHistory, line)
		if err != nil {
			q.damaged++
			return true
		}
		if !q.maybe(line) {
			return true
		}
		var e HistoryEntry
		if json.Unmarshal(line, &e) != nil {
			q.damaged++
			return true
		}
		return q.take(&e)
	})
}

// historyFile is a file of the history up to its last whole entry of now.
type historyFile struct {
	*os.File
	size int64
}

// view returns all entries of now: those in memory, and the files, the newest
// first.
func (h *history) view() ([]HistoryEntry, []historyFile, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var files []historyFile
	for _, path := range []string{h.path(), h.older()} {
		size := h.size
		if path == h.path() && size == 0 {
			continue
		}
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && path == h.older() {
			var info fs.FileInfo
			if info, err = f.Stat(); err == nil {
				size = info.Size()
			}
		}
		if err != nil {
			for _, open := range files {
				open.Close()
			}
			return nil, nil, fmt.Errorf("history: %w", err)
		}
		files = append(files, historyFile{f, size})
	}
	return h.recent, files, nil
}

// backward calls each with the lines of the first end bytes, the last first, and
// with the place where each ends, until it returns false. Text behind the last
// line end is passed over.
func backward(r io.ReaderAt, end int64, each func(end int64, line []byte) bool) error {
	var text []byte // of the bytes from end on, as far as no line of it was passed on
	ended := false  // text ends with a line end
	for end > 0 {
		size := min(end, historyBlock)
		block := make([]byte, size, int(size)+len(text))
		if n, err := r.ReadAt(block, end-size); n < len(block) {
			return err
		}
		end -= size
		text = append(block, text...)
		if !ended {
			text, ended = text[:bytes.LastIndexByte(text, '\n')+1], true
		}
		for len(text) > 0 {
			start := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
			if start == 0 && end > 0 {
				break
			}
			if !each(end+int64(len(text)), text[start:len(text)-1]) {
				return nil
			}
			text = text[:start]
		}
		ended = len(text) > 0
	}
	return nil
}

// forward calls each with the lines between two places, the first of which
// begins a line, until it returns false.
func forward(r io.ReaderAt, from, to int64, each func(line []byte) bool) error {
	var text []byte
	for from < to {
		block := make([]byte, min(to-from, historyPeek))
		if n, err := r.ReadAt(block, from); n < len(block) {
			return err
		}
		from += int64(len(block))
		text = append(text, block...)
		for {
			line, rest, ok := bytes.Cut(text, []byte("\n"))
			if !ok {
				break
			}
			if !each(line) {
				return nil
			}
			text = rest
		}
	}
	return nil
}

// startOf is where the first entry with at least the number seq begins within
// the first size bytes, size when there is none. Lines that cannot be read are
// passed over.
func startOf(r io.ReaderAt, size int64, seq int) (int64, error) {
	var failed error
	// lineAt is the first line that begins at or after a place, and can be read.
	lineAt := func(at int64) (start int64, number int) {
		start = at
		if at > 0 {
			start-- // unless a line ends right before
			err := forward(r, start, size, func(line []byte) bool {
				start += int64(len(line)) + 1
				return false
			})
			failed = errors.Join(failed, err)
		}
		err := forward(r, start, size, func(line []byte) bool {
			n, ok := seqOf(line)
			if number = n; !ok {
				start += int64(len(line)) + 1
			}
			return !ok
		})
		failed = errors.Join(failed, err)
		return start, number
	}
	at := sort.Search(int(size), func(at int) bool {
		_, number := lineAt(int64(at))
		return failed != nil || number == 0 || number >= seq
	})
	if failed != nil || at == int(size) {
		return size, failed
	}
	start, number := lineAt(int64(at))
	if number == 0 {
		return size, failed
	}
	return start, failed
}
