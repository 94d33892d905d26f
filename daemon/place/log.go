package place

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
)

// oldLog ends the name of the log that was put aside.
const oldLog = ".old"

// BoundedLog is w, kept at most a little above 1 MiB when it is the daemon's log
// at path: what is there then goes to the same name with ".old", in place of what
// that had. When w is anything else it is returned as it is.
//
// The file is emptied and not exchanged, because the process prints into the
// same one when it breaks down.
func BoundedLog(w io.Writer, path string) io.Writer {
	f, ok := w.(*os.File)
	if !ok {
		return w
	}
	here, err := f.Stat()
	if err != nil || !here.Mode().IsRegular() {
		return w
	}
	if there, err := os.Lstat(path); err != nil || !os.SameFile(here, there) {
		return w
	}
	return &boundedLog{f: f, path: path, size: here.Size(), limit: maxLog}
}

type boundedLog struct {
	f     *os.File
	path  string
	limit int64 // bytes

	mu   sync.Mutex // held over a write; guards size
	size int64      // about: what others print is not counted
}

func (l *boundedLog) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size > l.limit {
		// A log that cannot be put aside goes on: that is better than none.
		l.size = 0
		if err := l.putAside(); err != nil {
			fmt.Fprintf(l.f, "the log could not be put aside: %v\n", err)
		}
	}
	n, err := l.f.Write(line)
	l.size += int64(n)
	return n, err
}

// putAside copies the log and empties it.
func (l *boundedLog) putAside() (err error) {
	from, err := os.Open(l.path)
	if err != nil {
		return err
	}
	defer from.Close()
	old := l.path + oldLog
	if err := os.Remove(old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	to, err := os.OpenFile(old, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, io.LimitReader(from, 2*l.limit))
	if err = errors.Join(err, to.Close()); err != nil {
		return err
	}
	return l.f.Truncate(0)
}
