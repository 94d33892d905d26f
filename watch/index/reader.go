package index

import (
	"errors"
	"hash/maphash"
	"io/fs"
	"syscall"
)

// errNotFile is what is met where the tree has a file, and now something else is.
var errNotFile = errors.New("not a regular file")

// maxAtOnce is the largest file that is read into memory as a whole, in bytes.
const maxAtOnce = 1 << 30

var errTooLarge = errors.New("larger than 1 GiB: not searched")

// stampSeed makes stamps comparable within a process, which is as far as they go.
var stampSeed = maphash.MakeSeed()

// stampOf condenses what tells whether a file has changed.
func stampOf(size, modTime, changeTime int64, inode uint64) uint64 {
	return maphash.Comparable(stampSeed, [4]uint64{uint64(size), uint64(modTime), uint64(changeTime), inode})
}

// unreadable turns a failure to read into what a person is told; "" for what is
// simply not there any more, of which the watcher will tell.
func unreadable(err error) string {
	var errno syscall.Errno
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist), errors.Is(err, errNotFile):
		return ""
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	case errors.Is(err, errTooLarge):
		return errTooLarge.Error()
	case errors.As(err, &errno):
		if errno == syscall.ELOOP || errno == syscall.ENOTDIR {
			return ""
		}
		return errno.Error()
	}
	return err.Error()
}

// still reports whether the file that was read, in the directory that it was read
// from, is the one that the tree knows, and has not changed since.
func (r *reader) still(e entry) bool {
	size, stamp, err := r.stamp(e.path)
	return err == nil && size == e.size && stamp == e.stamp
}

// load reads a file whole and decodes it. The bytes are appended to buf, whose
// memory is used when it has room; the text may lie in it.
func (r *reader) load(path string, size int64, buf []byte) (content, []byte, error) {
	raw, binary, err := r.read(path, size, buf)
	switch {
	case err != nil:
		return content{late: -1}, buf, err
	case binary:
		return content{binary: true, late: -1}, raw[:len(buf)], nil
	}
	return decode(raw[len(buf):]), raw, nil
}
