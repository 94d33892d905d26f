//go:build unix

package index

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// root is the directory that everything is read below. It is opened once: what
// takes its name later is not it.
type root struct{ fd int }

func openRoot(dir string) (root, error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return root{}, fmt.Errorf("opening root %s: %w", dir, err)
	}
	return root{fd}, nil
}

func (r root) close() error { return unix.Close(r.fd) }

// maxOpenDirs bounds the descriptors that a reader holds.
const maxOpenDirs = 24

// reader reads files below a root and follows no link on the way. It keeps the
// directories above the last file open, because the next one is near: opening
// relative to them is cheaper. A reader is for one goroutine and for a short
// time, since a directory may be replaced.
type reader struct {
	root root
	dirs []openDir // each below the one before
}

type openDir struct {
	path string // with "/" at the end
	fd   int
}

func newReader(r root) *reader { return &reader{root: r} }

func (r *reader) close() {
	for _, d := range r.dirs {
		closeQuietly(d.fd)
	}
	r.dirs = r.dirs[:0]
}

// closeQuietly closes what was only read.
func closeQuietly(fd int) {
	if err := unix.Close(fd); err != nil {
		return
	}
}

// parent returns the open directory of a path and the path's last name.
func (r *reader) parent(path string) (int, string, error) {
	for len(r.dirs) > 0 && !strings.HasPrefix(path, r.dirs[len(r.dirs)-1].path) {
		closeQuietly(r.dirs[len(r.dirs)-1].fd)
		r.dirs = r.dirs[:len(r.dirs)-1]
	}
	fd, done := r.root.fd, 0
	if n := len(r.dirs); n > 0 {
		fd, done = r.dirs[n-1].fd, len(r.dirs[n-1].path)
	}
	for {
		i := strings.IndexByte(path[done:], '/')
		if i < 0 {
			return fd, path[done:], nil
		}
		next, err := openAt(fd, path[done:done+i], unix.O_DIRECTORY)
		if err != nil {
			return 0, "", err
		}
		if len(r.dirs) == maxOpenDirs {
			closeQuietly(r.dirs[0].fd)
			r.dirs = append(r.dirs[:0], r.dirs[1:]...)
		}
		done += i + 1
		r.dirs = append(r.dirs, openDir{path[:done], next})
		fd = next
	}
}

func openAt(dir int, name string, flags int) (int, error) {
	for {
		// Without O_NONBLOCK a FIFO in the place of a file would hold us up.
		fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC|flags, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

// read appends a file's bytes to buf. size is what the tree says; another size
// is no error. binary means that reading stopped because the first bytes tell.
func (r *reader) read(path string, size int64, buf []byte) (out []byte, binary bool, err error) {
	if size == 0 {
		return buf, false, nil
	}
	if size > maxAtOnce {
		return buf, false, errTooLarge
	}
	dir, name, err := r.parent(path)
	if err != nil {
		return buf, false, err
	}
	fd, err := openAt(dir, name, 0)
	if err != nil {
		return buf, false, err
	}
	defer closeQuietly(fd)
	return readAll(fd, int(size), buf)
}

func readAll(fd, size int, buf []byte) (out []byte, binary bool, err error) {
	begin := len(buf)
	if size > 2*binaryStep {
		buf = slices.Grow(buf, binaryStep)
		if buf, _, err = readInto(fd, buf, binaryStep); err != nil {
			return buf, false, err
		}
		if binaryStart(buf[begin:]) {
			return buf, true, nil
		}
	}
	limit := size + 1 // one more byte shows a file that has grown
	for {
		rest := limit - (len(buf) - begin)
		buf = slices.Grow(buf, rest)
		var ended bool
		if buf, ended, err = readInto(fd, buf, rest); err != nil || ended {
			return buf, false, err
		}
		var st unix.Stat_t
		if err = unix.Fstat(fd, &st); err != nil {
			return buf, false, err
		}
		if st.Mode&unix.S_IFMT != unix.S_IFREG {
			return buf, false, errNotFile
		}
		if st.Size > maxAtOnce {
			return buf, false, errTooLarge
		}
		if limit = int(st.Size) + 1; limit <= len(buf)-begin {
			return buf, false, nil
		}
	}
}

// readInto reads up to n bytes behind buf, which has the room. ended tells that
// there are no more.
func readInto(fd int, buf []byte, n int) (out []byte, ended bool, err error) {
	for n > 0 {
		m, err := unix.Read(fd, buf[len(buf):len(buf)+n])
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return buf, false, err
		}
		buf = buf[:len(buf)+m]
		if m < n { // a regular file reads short only at its end
			return buf, true, nil
		}
		n -= m
	}
	return buf, false, nil
}

// stamp returns a file's size and stamp as they are on the disk.
func (r *reader) stamp(path string) (size int64, stamp uint64, err error) {
	dir, name, err := r.parent(path)
	if err != nil {
		return 0, 0, err
	}
	var st unix.Stat_t
	if err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return 0, 0, err
	}
	return st.Size, stampOf(st.Size, st.Mtim.Nano(), st.Ctim.Nano(), uint64(st.Ino)), nil
}
