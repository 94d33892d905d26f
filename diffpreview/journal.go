package diffpreview

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// journal is the append-only record of sessions, proposals, decisions and
// writes. It lies outside the workspace in a private directory: journal.jsonl
// has a JSON record per line, bodies/ has the long texts by their SHA-256. Both are
// sealed by the key in the file key.
// What append returned for is on the disk.
type journal struct {
	*bodies
	dir  string
	step func(stage string) // called between stages; tests stop the program there
	mu   sync.Mutex         // guards the fields below; comes before that of bodies
	file *os.File
	size int64 // bytes of file that are complete lines
	// owed is the end of a write that found no room. It comes before anything
	// else: a write without its end must be the last record of a journal that
	// speaks of its files, since a restart judges it by them.
	owed []byte
	// broken is a failure after which it is not known what the file holds, so
	// nothing more is answered.
	broken error
	// dueAt is the number of bytes, bodies included, at which the journal is worth
	// compacting.
	dueAt int64
}

// record is one line. Every member is optional; proposals are whole states, of
// which the last one counts.
type record struct {
	// Counters begin a journal.
	Counters  *counters       `json:"counters,omitempty"`
	Sessions  []Session       `json:"sessions,omitempty"`
	Proposals []savedProposal `json:"proposals,omitempty"`
	Reviews   []savedReview   `json:"reviews,omitempty"`
	Delivered map[string]int  `json:"delivered,omitempty"` // by session: how many reviews its agent was told
	Rules     *[]Rule         `json:"rules,omitempty"`     // all that persons added
	Seen      []savedSight    `json:"seen,omitempty"`
	// History tells of the record's proposals. An entry's number follows from its
	// place; those of a write have theirs where the write ends.
	History []HistoryEntry `json:"history,omitempty"`
	// Begin is a write that is about to happen, with the states that hold when
	// it has happened. End says how it ended.
	Begin *beginWrite `json:"begin,omitempty"`
	End   *endWrite   `json:"end,omitempty"`
}

type counters struct {
	Proposals int `json:"proposals"`
	Sessions  int `json:"sessions"`
	Writes    int `json:"writes"`
	Rules     int `json:"rules"`
	History   int `json:"history,omitempty"` // entries that are not in the journal any more
}

type beginWrite struct {
	ID     int     `json:"id"`
	Intent intent  `json:"intent"`
	Then   *record `json:"then,omitempty"`
	// Texts are what [intent.bodies] names, by hash.
	Texts map[string]savedText `json:"texts,omitempty"`
}

type endWrite struct {
	ID      int  `json:"id"`
	Applied bool `json:"applied"`
}

func openJournal(dir string) (*journal, error) {
	if err := privateDir(dir); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	seal, err := openSeal(dir)
	if err != nil {
		return nil, err
	}
	b := &bodies{dir: filepath.Join(dir, "bodies"), seal: seal, saving: map[string]chan struct{}{}, held: map[string]int{}}
	if err := b.open(); err != nil {
		return nil, err
	}
	return &journal{bodies: b, dir: dir, step: func(string) {}}, nil
}

func (j *journal) path() string { return filepath.Join(j.dir, "journal.jsonl") }

// replay calls each for every complete record, oldest first, and opens the
// journal for more. A line cut short by a crash is the last one, was never
// answered for, and is passed over.
func (j *journal) replay(each func(record) error) error {
	if err := j.read(each); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	var err error
	if j.file, err = openPrivate(j.path(), os.O_APPEND|os.O_CREATE); err == nil {
		err = j.file.Truncate(j.size)
	}
	if err == nil {
		err = syncDir(j.dir)
	}
	if err != nil {
		return ioError("journal", err)
	}
	return nil
}

func (j *journal) read(each func(record) error) error {
	f, err := os.Open(j.path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<16)
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("journal: %w", err)
		}
		j.size += int64(len(line))
		if line, err = j.seal.openLine(sealJournal, line); err != nil {
			return fmt.Errorf("journal: line %d: %w", n, err)
		}
		var rec record
		if err := json.Unmarshal(line, &rec); err != nil {
			return fmt.Errorf("journal: line %d: %w", n, err)
		}
		if err := each(rec); err != nil {
			return fmt.Errorf("journal: line %d: %w", n, err)
		}
	}
}

// sealed is a record that is ready to be written.
func (j *journal) sealed(rec *record) (sealed, error) {
	line, err := json.Marshal(rec)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	return j.seal.seal(sealJournal, line), nil
}

// append writes a record; with sync it is on the disk when append returns. A
// record that finds no room leaves the journal as it was.
func (j *journal) append(rec record, sync bool) error {
	line, err := j.sealed(&rec)
	if err != nil {
		return err
	}
	return j.appendLine(line, rec.End != nil, sync)
}

// appendLine appends a record's line. One that must not be lost when there is no
// room is owed.
func (j *journal) appendLine(line sealed, must, sync bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return j.broken
	}
	if err := line.write(j.file, j.owed); err != nil {
		if must {
			j.owed = append(append(slices.Clip(j.owed), line.line("")...), '\n')
		}
		if e := j.file.Truncate(j.size); e != nil { // half a line would spoil the next
			j.broken = ioError("journal", errors.Join(err, e))
		}
		return ioError("journal", err)
	}
	j.size, j.owed = j.size+int64(len(j.owed)+line.size()), nil
	j.step("appended")
	if !sync {
		return nil
	}
	if err := j.file.Sync(); err != nil {
		j.broken = ioError("journal", err)
		return j.broken
	}
	return nil
}

// length is where the next record will be.
func (j *journal) length() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.size
}

// bytes is the size of the journal with its bodies.
func (j *journal) bytes() int64 { return j.length() + j.bodies.bytes() }

// due reports whether the journal has grown enough to be compacted.
func (j *journal) due() bool {
	size := j.bytes()
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.broken == nil && size >= j.dueAt
}

// next sets how many bytes there must be before the journal is due.
func (j *journal) next(size int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.dueAt = size
}

// rewrite puts in the journal's place one that holds what write writes, and
// after that what was appended from the byte at on. paused is for how long no
// record could be appended. After a failure the journal is the old one.
func (j *journal) rewrite(at int64, write func(w io.Writer) error) (paused time.Duration, err error) {
	fresh := j.path() + ".new"
	f, err := openPrivate(fresh, os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return 0, ioError("journal", err)
	}
	w := bufio.NewWriterSize(f, 1<<16)
	if err = write(w); err == nil {
		at, err = j.copyTail(w, at, j.length()) // most of it, while others go on
	}
	if err == nil {
		err = errors.Join(w.Flush(), f.Sync())
	}
	j.step("journal written")
	j.mu.Lock()
	defer j.mu.Unlock()
	started := time.Now()
	if err == nil && j.broken != nil {
		err = j.broken
	}
	if err == nil && at < j.size {
		if _, err = j.copyTail(w, at, j.size); err == nil {
			err = errors.Join(w.Flush(), f.Sync())
		}
	}
	j.step("tail copied")
	var size int64
	if info, e := f.Stat(); err == nil && e == nil {
		size = info.Size()
	} else {
		err = errors.Join(err, e)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = j.swap(fresh, size)
	}
	if err != nil {
		removeFile(fresh)
		return 0, ioError("journal", err)
	}
	return time.Since(started), nil
}

// copyTail copies the records between two places of the journal, whose bytes do
// not change any more, and returns the second.
func (j *journal) copyTail(w io.Writer, from, to int64) (int64, error) {
	f, err := os.Open(j.path())
	if err != nil {
		return from, err
	}
	defer f.Close()
	n, err := io.Copy(w, io.NewSectionReader(f, from, to-from))
	if err == nil && n < to-from {
		err = io.ErrUnexpectedEOF
	}
	return from + n, err
}

// swap makes the file fresh the journal. The old one is closed for that, since
// not every system renames onto an open file.
func (j *journal) swap(fresh string, size int64) error {
	j.file.Close() // what append returned for is synced
	err := replaceFile(fresh, j.path())
	if err == nil {
		j.step("renamed")
		j.size = size
		if err = syncDir(j.dir); err != nil { // a crash may bring the old one back, without what follows
			j.broken = ioError("journal", err)
		}
		j.step("rename synced")
	}
	file, e := openPrivate(j.path(), os.O_APPEND)
	if e != nil {
		j.broken = ioError("journal", e)
		return errors.Join(err, e)
	}
	j.file = file
	return err
}

func (j *journal) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	return j.file.Close()
}
