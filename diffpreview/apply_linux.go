package diffpreview

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// syncsFileSystem tells that one call can sync all files of a file system.
const syncsFileSystem = true

// exchangesFiles tells that a file's owner, mode and attributes can be given to
// another, so that a new file may take an old one's place.
const exchangesFiles = true

// exchange swaps what two names of one directory stand for.
func (f *folder) exchange(a, b string) error {
	return supported(unix.Renameat2(f.fd(), a, f.fd(), b, unix.RENAME_EXCHANGE))
}

// moveNew renames a to b in another directory, which must have no b.
func (f *folder) moveNew(a string, to *folder, b string) error {
	return supported(unix.Renameat2(f.fd(), a, to.fd(), b, unix.RENAME_NOREPLACE))
}

// supported makes one error of the several by which file systems say that they
// do not know a flag.
func supported(err error) error {
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) {
		return fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	return err
}

// syncAll makes durable everything on f's file system.
func (f *folder) syncAll() error { return unix.Syncfs(f.fd()) }

// keepAttributes gives to the owner and the extended attributes (ACLs are some
// of them) that from has. Attributes of the security name space that the
// process may not set are left to the system's policy.
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
	for name := range has {
		if _, ok := wants[name]; !ok && !strings.HasPrefix(name, "security.") {
			if err := unix.Fremovexattr(int(to.Fd()), name); err != nil {
				return fmt.Errorf("removing attribute %s: %w", name, err)
			}
		}
	}
	for name, value := range wants {
		if old, ok := has[name]; ok && bytes.Equal(old, value) {
			continue
		}
		err := unix.Fsetxattr(int(to.Fd()), name, value, 0)
		if err != nil && !strings.HasPrefix(name, "security.") {
			return fmt.Errorf("setting attribute %s: %w", name, err)
		}
	}
	return nil
}

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

// holdOff makes the system delay other programs' opens of the file until
// release. It does nothing when somebody has the file open already. The kernel
// announces a waiting open by SIGIO, which the Go runtime ignores.
func holdOff(file *os.File) (release func()) {
	if _, err := unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		return func() {}
	}
	return func() { unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_UNLCK) }
}

func changeTime(st *syscall.Stat_t) int64 { return st.Ctim.Nano() }
