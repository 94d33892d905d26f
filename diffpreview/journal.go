package diffpreview

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// inlineBody is the size in bytes up to which a text stays in the journal's
// line. Larger ones get a file of their own, written once per content: below
// a disk block that would only waste space.
const inlineBody = 4096

// journal is the append-only record of sessions, proposals, decisions and
// writes. It lies outside the workspace in a private directory: journal.jsonl
// has a JSON record per line, bodies/ has the long texts by their SHA-256.
// What append returned for is on the disk.
type journal struct {
	dir  string
	mu   sync.Mutex // guards file and the fields below
	file *os.File
	size int64 // bytes of file that are complete lines
	// owed is the end of a write that found no room. It comes before anything
	// else: a write without its end must be the last record of a journal, since a
	// restart judges it by the files.
	owed []byte
	// broken is a failure after which it is not known what the file holds, so
	// nothing more is answered.
	broken error
}

// record is one line. Every member is optional; proposals are whole states, of
// which the last one counts.
type record struct {
	Sessions  []Session       `json:"sessions,omitempty"`
	Proposals []savedProposal `json:"proposals,omitempty"`
	Reviews   []savedReview   `json:"reviews,omitempty"`
	Delivered map[string]int  `json:"delivered,omitempty"` // by session: how many reviews its agent was told
	Counters  *counters       `json:"counters,omitempty"`
	Rules     *[]Rule         `json:"rules,omitempty"` // all that persons added
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
}

type beginWrite struct {
	ID     int     `json:"id"`
	Intent intent  `json:"intent"`
	Then   *record `json:"then,omitempty"`
}

type endWrite struct {
	ID      int  `json:"id"`
	Applied bool `json:"applied"`
}

func openJournal(dir string) (*journal, error) {
	for _, d := range []string{dir, filepath.Join(dir, "bodies")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, fmt.Errorf("journal: %w", err)
		}
	}
	return &journal{dir: dir}, nil
}

func (j *journal) path() string { return filepath.Join(j.dir, "journal.jsonl") }

// replay calls each for every complete record, oldest first. A line cut short
// by a crash is the last one, was never answered for, and is passed over.
func (j *journal) replay(each func(record) error) error {
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
		var rec record
		if err := json.Unmarshal(line, &rec); err != nil {
			return fmt.Errorf("journal: line %d: %w", n, err)
		}
		if err := each(rec); err != nil {
			return fmt.Errorf("journal: line %d: %w", n, err)
		}
	}
}

// restart replaces the file by one that holds only rec, and opens it for
// appending. Bodies that keep does not name are removed.
func (j *journal) restart(rec record, keep map[string]bool) error {
	line, err := json.Marshal(rec)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	tmp := j.path() + ".new"
	if err := writeSynced(tmp, append(line, '\n')); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if err := os.Rename(tmp, j.path()); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if err := syncDir(j.dir); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	j.file, err = os.OpenFile(j.path(), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	j.size = int64(len(line)) + 1
	bodies, err := os.ReadDir(filepath.Join(j.dir, "bodies"))
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	for _, b := range bodies {
		if !keep[b.Name()] {
			os.Remove(filepath.Join(j.dir, "bodies", b.Name()))
		}
	}
	return nil
}

// append writes a record; with sync it is on the disk when append returns. A
// record that finds no room leaves the journal as it was.
func (j *journal) append(rec record, sync bool) error {
	line, err := json.Marshal(rec)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return j.broken
	}
	line = append(append(slices.Clip(j.owed), line...), '\n')
	if _, err := j.file.Write(line); err != nil {
		if rec.End != nil {
			j.owed = line
		}
		if e := j.file.Truncate(j.size); e != nil { // half a line would spoil the next
			j.broken = ioError("journal", errors.Join(err, e))
		}
		return ioError("journal", err)
	}
	j.size, j.owed = j.size+int64(len(line)), nil
	if !sync {
		return nil
	}
	if err := j.file.Sync(); err != nil {
		j.broken = ioError("journal", err)
		return j.broken
	}
	return nil
}

func (j *journal) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	return j.file.Close()
}

// savedText is a text in a record: in the line or in a file of its own.
type savedText struct {
	Inline []byte `json:"inline,omitempty"`
	Body   string `json:"body,omitempty"`
}

// save puts a text away and returns how a record names it.
func (j *journal) save(text []byte) (savedText, error) {
	if len(text) <= inlineBody {
		return savedText{Inline: text}, nil
	}
	hash := hashBytes(text)
	path := filepath.Join(j.dir, "bodies", hash)
	if _, err := os.Lstat(path); err == nil {
		return savedText{Body: hash}, nil
	}
	f, err := os.CreateTemp(filepath.Join(j.dir, "bodies"), ".new-*")
	if err != nil {
		return savedText{}, ioError("journal", err)
	}
	f.Close()
	if err = writeSynced(f.Name(), text); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err == nil {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		os.Remove(f.Name())
		return savedText{}, ioError("journal", err)
	}
	return savedText{Body: hash}, nil
}

func (j *journal) load(t savedText) ([]byte, error) {
	if t.Body == "" {
		return t.Inline, nil
	}
	return j.body(t.Body)
}

// body returns a long text and checks that it is the one that was saved.
func (j *journal) body(hash string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(j.dir, "bodies", filepath.Base(hash)))
	if err != nil {
		return nil, fmt.Errorf("journal body: %w", err)
	}
	if hashBytes(data) != hash {
		return nil, fmt.Errorf("journal body %s is damaged", hash)
	}
	return data, nil
}

func writeSynced(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err = io.Copy(f, bytes.NewReader(data)); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncDir makes a rename in dir durable. Windows cannot and need not.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}
