package watch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// disk reads below one root through a descriptor of the root. No link is
// followed on the way, whatever is swapped for what meanwhile.
type disk struct {
	root    string
	fd      int
	at      fileKey
	stepped atomic.Bool // the kernel has no openat2, or a filter refuses it
}

func openDisk(root string) (*disk, error) {
	fd, err := retry(func() (int, error) {
		return unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: root, Err: err}
	}
	d := &disk{root: root, fd: fd}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		unix.Close(fd)
		return nil, &fs.PathError{Op: "stat", Path: root, Err: err}
	}
	d.at = keyOf(&st)
	return d, nil
}

func (d *disk) close() { unix.Close(d.fd) }

// key names the root's inode.
func (d *disk) key() fileKey { return d.at }

func (d *disk) open(rel string, flags int) (int, error) {
	flags |= unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NOFOLLOW | unix.O_NONBLOCK
	if d.stepped.Load() {
		return d.openSteps(rel, flags)
	}
	fd, err := retry(func() (int, error) {
		return unix.Openat2(d.fd, rel, &unix.OpenHow{Flags: uint64(flags), Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_BENEATH})
	})
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.EAGAIN) {
		if !errors.Is(err, unix.EAGAIN) {
			d.stepped.Store(true)
		}
		return d.openSteps(rel, flags)
	}
	return fd, err
}

// openSteps opens one name after the other, so that each is seen to be no link.
func (d *disk) openSteps(rel string, flags int) (int, error) {
	dir := d.fd
	for {
		name, rest, more := strings.Cut(rel, "/")
		use := flags
		if more {
			use = unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC | unix.O_NOFOLLOW
		}
		fd, err := retry(func() (int, error) { return unix.Openat(dir, name, use, 0) })
		if dir != d.fd {
			unix.Close(dir)
		}
		if err != nil || !more {
			return fd, err
		}
		dir, rel = fd, rest
	}
}

// openDir opens directory rel; "." is the root.
func (d *disk) openDir(rel string) (dirHandle, error) {
	fd, err := d.open(rel, unix.O_DIRECTORY)
	if err != nil {
		return dirHandle{}, &fs.PathError{Op: "open", Path: rel, Err: err}
	}
	h := dirHandle{fd: fd}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		h.close()
		return dirHandle{}, &fs.PathError{Op: "stat", Path: rel, Err: err}
	}
	h.key = keyOf(&st)
	return h, nil
}

// readFile reads a regular file of at most maxOutsideFile bytes.
func (d *disk) readFile(rel string) ([]byte, error) {
	fd, err := d.open(path.Clean(rel), 0)
	if err != nil {
		if vanished(err) {
			err = fs.ErrNotExist
		}
		return nil, &fs.PathError{Op: "open", Path: rel, Err: err}
	}
	f := os.NewFile(uintptr(fd), rel)
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: rel, Err: fs.ErrNotExist}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxOutsideFile+1))
	if err == nil && len(data) > maxOutsideFile {
		err = fmt.Errorf("reading %s: over %d bytes", rel, maxOutsideFile)
	}
	return data, err
}

// dirHandle is an open directory.
type dirHandle struct {
	fd  int
	key fileKey
}

func (h dirHandle) close() { unix.Close(h.fd) }

// dirBuffer is the size, in bytes, of the buffer that list wants.
const dirBuffer = 64 << 10

// list calls each for every entry, in the file system's order.
func (h dirHandle) list(buf []byte, each func(listed)) error {
	for {
		n, err := retry(func() (int, error) { return unix.Getdents(h.fd, buf) })
		if err != nil {
			return fmt.Errorf("reading directory: %w", err)
		}
		if n <= 0 {
			return nil
		}
		for rest := buf[:n]; len(rest) > 0; {
			// struct linux_dirent64: inode, offset, length, type, name.
			size := binary.NativeEndian.Uint16(rest[16:])
			name := rest[19:size]
			for i, c := range name {
				if c == 0 {
					name = name[:i]
					break
				}
			}
			if s := string(name); s != "." && s != ".." {
				each(listed{name: s, kind: direntKind(rest[18]), ino: binary.NativeEndian.Uint64(rest)})
			}
			rest = rest[size:]
		}
	}
}

func direntKind(t byte) Kind {
	switch t {
	case unix.DT_REG:
		return File
	case unix.DT_DIR:
		return Dir
	case unix.DT_LNK:
		return Link
	case unix.DT_UNKNOWN:
		return 0
	}
	return Special
}

// stat looks at one entry of the directory.
func (h dirHandle) stat(name string) (stamp, fileKey, error) {
	var st unix.Stat_t
	_, err := retry(func() (int, error) { return 0, unix.Fstatat(h.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	if err != nil {
		return stamp{}, fileKey{}, err
	}
	return stampOf(&st), keyOf(&st), nil
}

// statPath looks at what an absolute path leads to, through links when follow.
func statPath(abs string, follow bool) (stamp, fileKey, error) {
	flags := unix.AT_SYMLINK_NOFOLLOW
	if follow {
		flags = 0
	}
	var st unix.Stat_t
	_, err := retry(func() (int, error) { return 0, unix.Fstatat(unix.AT_FDCWD, abs, &st, flags) })
	if err != nil {
		return stamp{}, fileKey{}, err
	}
	return stampOf(&st), keyOf(&st), nil
}

func keyOf(st *unix.Stat_t) fileKey { return fileKey{uint64(st.Dev), st.Ino} }

func stampOf(st *unix.Stat_t) stamp {
	s := stamp{size: st.Size, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(), ino: st.Ino}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		s.kind = File
	case unix.S_IFDIR:
		s.kind = Dir
	case unix.S_IFLNK:
		s.kind = Link
	default:
		s.kind = Special
	}
	s.linked = s.kind != Dir && st.Nlink > 1
	return s
}

// retry repeats a system call that a signal interrupted.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != unix.EINTR {
			return n, err
		}
	}
}

// mountTable is the list of what is mounted where, as this process sees it.
func mountTable() string {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	return string(data)
}
