package diffpreview

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// syncsFileSystem tells that one call can sync all files of a file system.
const syncsFileSystem = false

// exchangesFiles tells that a file's owner, mode and attributes can be given to
// another, so that a new file may take an old one's place.
const exchangesFiles = true

const (
	renameSwap = unix.RENAME_SWAP
	renameNew  = unix.RENAME_EXCL
)

func renameFlags(from int, a string, to int, b string, flags uint32) error {
	return unix.RenameatxNp(from, a, to, b, flags)
}

// syncAll makes durable everything on f's file system.
func (f *folder) syncAll() error { return errors.ErrUnsupported }

func ofSystem(string) bool { return false }

// inherited reports whether a new file may have an attribute from its directory.
// What a new file has here is the system's own record of where it came from.
func inherited(string) bool { return false }

func mountPoint(*os.File) bool { return false }

// openForWriting reports whether some process is known to have the file open
// for writing. This system does not tell.
func openForWriting(*os.File) bool { return false }

// holdOff makes the system delay other programs' opens of the file until
// release. This system cannot.
func holdOff(*os.File) (release func()) { return func() {} }

func changeTime(st *syscall.Stat_t) int64 { return st.Ctimespec.Nano() }
