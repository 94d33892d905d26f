//go:build !linux && !darwin

package diffpreview

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"syscall"
)

// syncsFileSystem tells that one call can sync all files of a file system.
const syncsFileSystem = false

// exchangesFiles tells that a file's owner, mode and attributes can be given to
// another, so that a new file may take an old one's place. Here they cannot:
// access control lists and alternate streams would be lost.
const exchangesFiles = false

func (f *folder) exchange(string, string) error { return errors.ErrUnsupported }

func (f *folder) moveNew(string, *folder, string) error { return errors.ErrUnsupported }

// link gives the file called a the name b in another directory too.
func (f *folder) link(a string, to *folder, b string) error {
	below, err := f.below(to, b)
	if err != nil {
		return err
	}
	err = f.root.Link(a, below)
	if err != nil && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
		return errors.Join(errors.ErrUnsupported, err)
	}
	return err
}

// move renames a to b in another directory, replacing what is there.
func (f *folder) move(a string, to *folder, b string) error {
	if below, err := f.below(to, b); err == nil {
		return f.root.Rename(a, below)
	}
	if above, err := to.below(f, a); err == nil {
		return to.root.Rename(above, b)
	}
	if f.top == nil || f.top != to.top {
		return errors.ErrUnsupported
	}
	return f.top.root.Rename(path.Join(f.at.rel, a), path.Join(to.at.rel, b))
}

func (f *folder) apart(*folder, string) bool { return false }

// below is the path of a name in a directory that is f or beneath it.
func (f *folder) below(to *folder, name string) (string, error) {
	rel, err := filepath.Rel(filepath.FromSlash(f.at.rel), filepath.FromSlash(to.at.rel))
	if err != nil {
		return "", err
	}
	if !filepath.IsLocal(rel) {
		return "", errors.ErrUnsupported
	}
	return filepath.Join(rel, name), nil
}

// removeDir removes the directory called name, which must be empty.
func (f *folder) removeDir(name string) error {
	info, err := f.root.Lstat(name)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return syscall.ENOTDIR
	}
	return f.root.Remove(name)
}

// sync makes durable which names f holds. The system does it by itself.
func (f *folder) sync() error { return nil }

func (f *folder) syncAll() error { return errors.ErrUnsupported }

func (f *folder) writable() error { return nil }

func identity(fs.FileInfo) fileID { return fileID{} }

func links(fs.FileInfo) uint64 { return 1 }

func sameOwner(_, _ fs.FileInfo) bool { return true }

func owner(fs.FileInfo) (user, group int) { return -1, -1 }

func (f *folder) lendOwner(string, fs.FileInfo) {}

func sameProperties(a, b fs.FileInfo) bool { return a.Mode() == b.Mode() }

func untouched(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

func keepAttributes(_, _ *os.File, _ fs.FileInfo) error { return errors.ErrUnsupported }

func mountPoint(*os.File) bool { return false }

func openForWriting(*os.File) bool { return false }

func holdOff(*os.File) (release func()) { return func() {} }

// isNoSpace recognises a full disk: on Windows ERROR_HANDLE_DISK_FULL (39) and
// ERROR_DISK_FULL (112).
func isNoSpace(err error) bool {
	var number syscall.Errno
	if runtime.GOOS == "windows" && errors.As(err, &number) {
		return number == 39 || number == 112
	}
	return errors.Is(err, syscall.ENOSPC)
}
