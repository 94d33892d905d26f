//go:build linux || darwin

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

func (f *folder) fd() int { return int(f.dir.Fd()) }

// link gives the file called a the name b in another directory too. It fails
// with [errors.ErrUnsupported] where it cannot.
func (f *folder) link(a string, to *folder, b string) error {
	err := unix.Linkat(f.fd(), a, to.fd(), b, 0)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EMLINK) {
		return fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	return supported(err)
}

// move renames a to b in another directory, replacing what is there.
func (f *folder) move(a string, to *folder, b string) error {
	return unix.Renameat(f.fd(), a, to.fd(), b)
}

// exchange swaps what two names of one directory stand for.
func (f *folder) exchange(a, b string) error {
	return supported(renameFlags(f.fd(), a, f.fd(), b, renameSwap))
}

// moveNew renames a to b in another directory, which must have no b.
func (f *folder) moveNew(a string, to *folder, b string) error {
	return supported(renameFlags(f.fd(), a, to.fd(), b, renameNew))
}

// supported makes one error of the several by which file systems say that they
// do not know a flag.
func supported(err error) error {
	for _, unknown := range []error{unix.EINVAL, unix.ENOSYS, unix.ENOTSUP, unix.EOPNOTSUPP} {
		if errors.Is(err, unknown) {
			return fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
		}
	}
	return err
}

// removeDir removes the directory called name, which must be empty.
func (f *folder) removeDir(name string) error {
	return unix.Unlinkat(f.fd(), name, unix.AT_REMOVEDIR)
}

// sync makes durable which names f holds.
func (f *folder) sync() error {
	err := f.dir.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return nil // a file system without that notion
	}
	return err
}

// writable fails when the process may not add or remove names.
func (f *folder) writable() error {
	return unix.Faccessat(f.fd(), ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS)
}

func identity(info fs.FileInfo) fileID {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}
	}
	return fileID{device: uint64(st.Dev), inode: st.Ino} //nolint:unconvert // int32 on darwin
}

// links is the number of names that a file has.
func links(info fs.FileInfo) uint64 {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 1
	}
	return uint64(st.Nlink) //nolint:unconvert // uint16 on darwin
}

// sameOwner reports whether two files belong to the same user and group.
func sameOwner(a, b fs.FileInfo) bool {
	sa, oka := a.Sys().(*syscall.Stat_t)
	sb, okb := b.Sys().(*syscall.Stat_t)
	return oka && okb && sa.Uid == sb.Uid && sa.Gid == sb.Gid
}

// owner is the user and group that a file belongs to.
func owner(info fs.FileInfo) (user, group int) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return -1, -1
	}
	return int(st.Uid), int(st.Gid)
}

// lendOwner gives to the link called name the owner in like, as far as the
// process may.
func (f *folder) lendOwner(name string, like fs.FileInfo) {
	user, group := owner(like)
	if info, err := f.root.Lstat(name); err != nil || !sameOwner(info, like) {
		f.root.Lchown(name, user, group)
	}
}

// apart reports whether no file can be renamed from f to the directory to,
// because it is on another file system or mounted elsewhere. free is a name that
// f has not.
func (f *folder) apart(to *folder, free string) bool {
	if f == to {
		return false
	}
	return f.device != to.device || errors.Is(f.move(free, to, free), unix.EXDEV)
}

// sameProperties reports whether two looks at a file show the same mode and owner.
func sameProperties(a, b fs.FileInfo) bool { return a.Mode() == b.Mode() && sameOwner(a, b) }

// untouched reports whether the file was neither written nor otherwise changed
// between two looks at it, as far as the clock of the file system can tell.
func untouched(a, b fs.FileInfo) bool {
	sa, oka := a.Sys().(*syscall.Stat_t)
	sb, okb := b.Sys().(*syscall.Stat_t)
	return oka && okb && os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && changeTime(sa) == changeTime(sb)
}

// keepOwner gives file the owner and group in want.
func keepOwner(file *os.File, want fs.FileInfo) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	has, _ := info.Sys().(*syscall.Stat_t)
	wants, _ := want.Sys().(*syscall.Stat_t)
	if has.Uid == wants.Uid && has.Gid == wants.Gid {
		return nil
	}
	if err := file.Chown(int(wants.Uid), int(wants.Gid)); err != nil {
		return fmt.Errorf("setting owner: %w", err)
	}
	return nil
}

// keepAttributes gives to the owner and the extended attributes (on Linux ACLs
// are some of them) that from has. Attributes that are the system's and that the
// process may not set are left to its policy.
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
		if _, ok := wants[name]; !ok && inherited(name) {
			if err := unix.Fremovexattr(int(to.Fd()), name); err != nil {
				return fmt.Errorf("removing attribute %s: %w", name, err)
			}
		}
	}
	for name, value := range wants {
		if old, ok := has[name]; ok && bytes.Equal(old, value) {
			continue
		}
		if err := unix.Fsetxattr(int(to.Fd()), name, value, 0); err != nil && !ofSystem(name) {
			return fmt.Errorf("setting attribute %s: %w", name, err)
		}
	}
	return nil
}

// attributes reads the extended attributes; none where the file system has none.
func attributes(file *os.File) (map[string][]byte, error) {
	names, err := grown(func(buf []byte) (int, error) { return unix.Flistxattr(int(file.Fd()), buf) })
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.ENOSYS) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing attributes: %w", err)
	}
	all := map[string][]byte{}
	for _, name := range bytes.Split(names, []byte{0}) {
		if len(name) == 0 {
			continue
		}
		value, err := grown(func(buf []byte) (int, error) { return unix.Fgetxattr(int(file.Fd()), string(name), buf) })
		if err != nil {
			return nil, fmt.Errorf("reading attribute %s: %w", name, err)
		}
		all[string(name)] = value
	}
	return all, nil
}

// grown calls get with a buffer that is large enough.
func grown(get func([]byte) (int, error)) ([]byte, error) {
	for {
		n, err := get(nil)
		if err != nil || n == 0 {
			return nil, err
		}
		buf := make([]byte, n)
		n, err = get(buf)
		if err == nil {
			return buf[:n], nil
		}
		if !errors.Is(err, unix.ERANGE) { // it grew between the two calls
			return nil, err
		}
	}
}

func isNoSpace(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
}
