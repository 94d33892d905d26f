package diffpreview

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// syncsFileSystem tells that one call can sync all files of a file system.
const syncsFileSystem = false

// exchangesFiles tells that a file's owner, mode and attributes can be given to
// another, so that a new file may take an old one's place.
const exchangesFiles = true

// exchange swaps what two names of one directory stand for.
func (f *folder) exchange(a, b string) error {
	return supported(unix.RenameatxNp(f.fd(), a, f.fd(), b, unix.RENAME_SWAP))
}

// moveNew renames a to b in another directory, which must have no b.
func (f *folder) moveNew(a string, to *folder, b string) error {
	return supported(unix.RenameatxNp(f.fd(), a, to.fd(), b, unix.RENAME_EXCL))
}

// supported makes one error of the several by which file systems say that they
// do not know a flag.
func supported(err error) error {
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) {
		return fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	return err
}

// syncAll makes durable everything on f's file system.
func (f *folder) syncAll() error { return errors.ErrUnsupported }

// keepAttributes gives to the owner and the extended attributes that from has.
func keepAttributes(from, to *os.File, want fs.FileInfo) error {
	if err := keepOwner(to, want); err != nil {
		return err
	}
	has, err := attributes(to)
	if err != nil {
		return err
	}
	wants, err := attributes(from)
	if err != nil {
		return err
	}
	for name, value := range wants {
		if old, ok := has[name]; ok && bytes.Equal(old, value) {
			continue
		}
		if err := unix.Fsetxattr(int(to.Fd()), name, value, 0); err != nil {
			return fmt.Errorf("setting attribute %s: %w", name, err)
		}
	}
	return nil
}

func mountPoint(*os.File) bool { return false }

// openForWriting reports whether some process is known to have the file open
// for writing. This system does not tell.
func openForWriting(*os.File) bool { return false }

// holdOff makes the system delay other programs' opens of the file until
// release. This system cannot.
func holdOff(*os.File) (release func()) { return func() {} }

func changeTime(st *syscall.Stat_t) int64 { return st.Ctimespec.Nano() }
