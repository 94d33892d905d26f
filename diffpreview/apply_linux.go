package diffpreview

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// syncsFileSystem tells that one call can sync all files of a file system.
const syncsFileSystem = true

// exchangesFiles tells that a file's owner, mode and attributes can be given to
// another, so that a new file may take an old one's place.
const exchangesFiles = true

const (
	renameSwap = unix.RENAME_EXCHANGE
	renameNew  = unix.RENAME_NOREPLACE
)

func renameFlags(from int, a string, to int, b string, flags uint) error {
	return unix.Renameat2(from, a, to, b, flags)
}

// syncAll makes durable everything on f's file system.
func (f *folder) syncAll() error { return unix.Syncfs(f.fd()) }

// ofSystem reports whether an attribute belongs to the security name space.
func ofSystem(name string) bool { return strings.HasPrefix(name, "security.") }

// inherited reports whether a new file may have an attribute from its directory,
// as default ACLs are.
func inherited(name string) bool { return !ofSystem(name) }

// mountPoint reports whether something is mounted on the file itself, as
// containers do with single files. It cannot be renamed then.
func mountPoint(file *os.File) bool {
	var st unix.Statx_t
	err := unix.Statx(int(file.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_TYPE, &st)
	return err == nil && st.Attributes_mask&unix.STATX_ATTR_MOUNT_ROOT != 0 && st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
}

// leaseable are the file systems whose answer to a lease request tells what is
// open on this machine. Network file systems refuse all leases.
var leaseable = map[int64]bool{
	unix.EXT4_SUPER_MAGIC: true, unix.TMPFS_MAGIC: true, unix.XFS_SUPER_MAGIC: true,
	unix.BTRFS_SUPER_MAGIC: true, unix.F2FS_SUPER_MAGIC: true, unix.OVERLAYFS_SUPER_MAGIC: true,
}

// openForWriting reports whether some process is known to have the file open
// for writing. file must be open for reading only, and this process must not
// have it open otherwise: a read lease is granted only where there is no writer.
func openForWriting(file *os.File) bool {
	var st unix.Statfs_t
	if unix.Fstatfs(int(file.Fd()), &st) != nil || !leaseable[int64(st.Type)] {
		return false
	}
	_, err := unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	if err == nil {
		unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
	}
	return errors.Is(err, unix.EAGAIN)
}

// A program that saves a file in place has it open for some tens of microseconds,
// more when it has to wait for a processor. holdOff waits so long for the others
// to be done; one that keeps the file open is not waited for any longer.
const (
	holdOffWait  = 20 * time.Millisecond
	holdOffPause = time.Millisecond
)

// holdOff makes the system delay other programs' opens of the file until
// release. It does nothing when somebody keeps the file open. The kernel
// announces a waiting open by SIGIO, which the Go runtime ignores.
func holdOff(file *os.File) (release func()) {
	for end := time.Now().Add(holdOffWait); ; time.Sleep(holdOffPause) {
		_, err := unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_WRLCK)
		switch {
		case err == nil:
			return func() { unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_UNLCK) }
		case !errors.Is(err, unix.EAGAIN) || time.Now().After(end):
			return func() {}
		}
	}
}

func changeTime(st *syscall.Stat_t) int64 { return st.Ctim.Nano() }
