//go:build !unix

package index

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// root is the directory that everything is read below.
type root struct{ dir *os.Root }

func openRoot(dir string) (root, error) {
	opened, err := os.OpenRoot(dir)
	if err != nil {
		return root{}, fmt.Errorf("opening root %s: %w", dir, err)
	}
	return root{opened}, nil
}

func (r root) close() error { return r.dir.Close() }

// reader reads files below a root; no link leads it out.
type reader struct{ root root }

func newReader(r root) *reader { return &reader{r} }

func (r *reader) close() {}

// read appends a file's bytes to buf; see reader_unix.go.
func (r *reader) read(path string, size int64, buf []byte) (out []byte, binary bool, err error) {
	if size == 0 {
		return buf, false, nil
	}
	if size > maxAtOnce {
		return buf, false, errTooLarge
	}
	name := filepath.FromSlash(path)
	info, err := r.root.dir.Lstat(name)
	if err != nil {
		return buf, false, err
	}
	if !info.Mode().IsRegular() {
		return buf, false, errNotFile
	}
	f, err := r.root.dir.Open(name)
	if err != nil {
		return buf, false, err
	}
	into := bytes.NewBuffer(buf)
	_, err = io.Copy(into, io.LimitReader(f, maxAtOnce))
	if closed := f.Close(); err == nil {
		err = closed
	}
	return into.Bytes(), false, err
}

// stamp returns a file's size and stamp as they are on the disk. There is no
// inode and no change time here.
func (r *reader) stamp(path string) (size int64, stamp uint64, err error) {
	info, err := r.root.dir.Lstat(filepath.FromSlash(path))
	if err != nil {
		return 0, 0, err
	}
	return info.Size(), stampOf(info.Size(), info.ModTime().UnixNano(), 0, 0), nil
}
