package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxFile bounds a configuration file in bytes: hundreds of rules fit, and
// whatever is there instead of one is not read to its end.
const maxFile = 64 << 10

// text is a configuration file as it was read.
type text struct {
	path   string
	data   []byte
	stat   stat
	failed string // why it was not read; "" with !stat.exists: there is none
}

// stat is what tells that a file has changed.
type stat struct {
	exists bool
	info   fs.FileInfo
}

// same reports whether a file is as it was.
func (s stat) same(t stat) bool {
	if s.exists != t.exists || !s.exists {
		return s.exists == t.exists
	}
	return os.SameFile(s.info, t.info) && s.info.Size() == t.info.Size() && s.info.ModTime().Equal(t.info.ModTime()) && s.info.Mode() == t.info.Mode()
}

// readUser reads the user's file. Links are followed wherever they lead: many
// keep such files in a repository. It must be one that only the user, or the
// system's administrator, can have written.
func readUser(path string) text {
	f, err := os.OpenFile(path, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return notOpened(path, err, func() (fs.FileInfo, error) { return os.Lstat(path) })
	}
	return readFile(path, f, trusted)
}

// readWorkspace reads the file of a workspace, through links that stay in it.
func readWorkspace(root string) text {
	path := WorkspacePath(root)
	dir, err := os.OpenRoot(root)
	if err != nil {
		return notOpened(path, err, func() (fs.FileInfo, error) { return nil, err })
	}
	defer dir.Close()
	name := filepath.Join(loomDir, fileName)
	f, err := dir.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return notOpened(path, err, func() (fs.FileInfo, error) { return dir.Lstat(name) })
	}
	return readFile(path, f, func(fs.FileInfo) error { return nil })
}

// notOpened tells a file that does not exist from one that cannot be read. A
// .loom that is a file leaves no room for a configuration, and a root that is
// gone has none; a link to nowhere was meant to lead to one.
func notOpened(path string, err error, lstat func() (fs.FileInfo, error)) text {
	t := text{path: path}
	if !isAbsent(nil, err) {
		t.fail(err)
	} else if _, err := lstat(); err == nil {
		t.failed = "a link that leads nowhere"
	}
	return t
}

// readFile reads and closes f, which must be a regular file that passes check.
func readFile(path string, f *os.File, check func(fs.FileInfo) error) text {
	defer f.Close()
	t := text{path: path}
	info, err := f.Stat()
	if err != nil {
		t.fail(err)
		return t
	}
	t.stat = stat{true, info}
	if err := check(info); err != nil {
		t.fail(err)
		return t
	}
	switch {
	case !info.Mode().IsRegular():
		t.failed = "not a regular file"
		return t
	case info.Size() > maxFile:
		t.failed = fmt.Sprintf("%d bytes: at most %d are read", info.Size(), maxFile)
		return t
	}
	t.data, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		t.fail(err)
	case len(t.data) > maxFile:
		t.failed = fmt.Sprintf("more than %d bytes", maxFile)
	}
	return t
}

// fail notes why a file was not read, without the path, which problems name.
func (t *text) fail(err error) {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	t.failed = err.Error()
	t.data = nil
}
