package diffpreview

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// inlineBody is the size in bytes up to which a text stays in the journal's
// line. Larger ones get a file of their own, written once per content: below
// a disk block that would only waste space.
const inlineBody = 4096

// newBody begins the name of a body that is being written.
const newBody = ".new-"

// savedText is a text in a record: in the line or in a file of its own.
type savedText struct {
	Inline []byte `json:"inline,omitempty"`
	Body   string `json:"body,omitempty"`
}

// bodies are the files of long texts, named by the SHA-256 of the text, and sealed.
type bodies struct {
	dir  string
	seal *seal

	mu     sync.Mutex // guards the fields below
	size   int64      // bytes of all files
	saving map[string]chan struct{}
	held   map[string]int // by holds
	// fresh are the files that were held at any time since a sweep was announced;
	// nil when none was.
	fresh map[string]bool
}

// hold keeps the bodies that were saved through it from being swept. It is
// released when a record that names them is in the journal, or will never be.
type hold struct {
	b     *bodies
	names []string
}

func (b *bodies) hold() *hold { return &hold{b: b} }

func (h *hold) release() {
	h.b.mu.Lock()
	defer h.b.mu.Unlock()
	for _, name := range h.names {
		if h.b.held[name]--; h.b.held[name] == 0 {
			delete(h.b.held, name)
		}
	}
	h.names = nil
}

// take makes name held, and waits while somebody else is writing it: before that
// is done it is not on the disk. The caller writes the file if it is not there,
// and calls done.
func (h *hold) take(name string) (done func()) {
	b := h.b
	b.mu.Lock()
	defer b.mu.Unlock()
	h.names = append(h.names, name)
	b.held[name]++
	if b.fresh != nil {
		b.fresh[name] = true
	}
	for b.saving[name] != nil {
		other := b.saving[name]
		b.mu.Unlock()
		<-other
		b.mu.Lock()
	}
	mine := make(chan struct{})
	b.saving[name] = mine
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.saving, name)
		close(mine)
	}
}

// save puts a text away and returns how a record names it.
func (h *hold) save(text []byte) (savedText, error) {
	if len(text) <= inlineBody {
		return savedText{Inline: text}, nil
	}
	b, hash := h.b, hashBytes(text)
	defer h.take(hash)()
	path := filepath.Join(b.dir, hash)
	if _, err := os.Lstat(path); err == nil {
		return savedText{Body: hash}, nil
	}
	size, err := b.write(path, text)
	if err != nil {
		return savedText{}, ioError("journal", err)
	}
	b.mu.Lock()
	b.size += size
	b.mu.Unlock()
	if err := syncDir(b.dir); err != nil {
		removeFile(path) // else the next one would take it for durable
		return savedText{}, ioError("journal", err)
	}
	return savedText{Body: hash}, nil
}

// write puts a text sealed into a file at path, at once, and returns the file's size.
func (b *bodies) write(path string, text []byte) (int64, error) {
	f, err := createPrivate(b.dir, newBody+"*")
	if err != nil {
		return 0, err
	}
	size, err := b.seal.writeBody(f, text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = replaceFile(f.Name(), path)
	}
	if err != nil {
		removeFile(f.Name())
	}
	return size, err
}

func (b *bodies) load(t savedText) ([]byte, error) {
	if t.Body == "" {
		return t.Inline, nil
	}
	return b.body(t.Body)
}

// body returns a long text and checks that it is the one that was saved.
func (b *bodies) body(hash string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(b.dir, filepath.Base(hash)))
	if err != nil {
		return nil, fmt.Errorf("journal body: %w", err)
	}
	if text, sealed := b.seal.openBody(data); sealed {
		data = text
	}
	if hashBytes(data) != hash {
		return nil, fmt.Errorf("journal body %s is damaged, or was sealed with another key", hash)
	}
	return data, nil
}

// announce says that a sweep is coming: what is saved from now on, and what is
// held now, may be named by records that the sweeper does not know of.
func (b *bodies) announce() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fresh = map[string]bool{}
	for name := range b.held {
		b.fresh[name] = true
	}
}

// cancel takes an announcement back.
func (b *bodies) cancel() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fresh = nil
}

// sweep removes the bodies that keep does not name and that were not held since
// the announcement. step is called before every removal.
func (b *bodies) sweep(keep map[string]bool, step func(string)) error {
	defer b.cancel()
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	var failed []error
	for _, e := range entries {
		if keep[e.Name()] || strings.HasPrefix(e.Name(), newBody) {
			continue
		}
		step("sweeping")
		if err := b.remove(e); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// remove removes a body unless it is fresh. Who begins to save one waits
// meanwhile, so that it does not take for there what is going.
func (b *bodies) remove(e os.DirEntry) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fresh[e.Name()] {
		return nil
	}
	info, err := e.Info()
	if err == nil {
		err = removeFile(filepath.Join(b.dir, e.Name()))
	}
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	b.size -= info.Size()
	return nil
}

// open takes stock when nothing is being saved: what a crash left half written
// goes, and everything is closed to others.
func (b *bodies) open() error {
	if err := privateDir(b.dir); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	for _, e := range entries {
		path := filepath.Join(b.dir, e.Name())
		if strings.HasPrefix(e.Name(), newBody) {
			removeFile(path)
			continue
		}
		info, err := e.Info()
		if err != nil {
			return fmt.Errorf("journal: %w", err)
		}
		if err := closeFile(path, info); err != nil {
			return fmt.Errorf("journal: %w", err)
		}
		size, err := b.reseal(e.Name(), info.Size())
		if err != nil {
			return fmt.Errorf("journal: %w", err)
		}
		b.size += size
	}
	return nil
}

// reseal seals a text that an older version left as it is, and returns the file's
// size. What is damaged is left alone: whoever needs it hears of that.
func (b *bodies) reseal(name string, size int64) (int64, error) {
	path := filepath.Join(b.dir, name)
	if sealed, err := isSealed(path); sealed || err != nil {
		return size, err
	}
	text, err := os.ReadFile(path)
	if err != nil || hashBytes(text) != name {
		return size, err
	}
	if size, err = b.write(path, text); err == nil {
		err = syncDir(b.dir)
	}
	return size, err
}

// bytes is the size of all bodies.
func (b *bodies) bytes() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.size
}
