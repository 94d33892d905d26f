package watch

import (
	"errors"
	"io/fs"
	"syscall"
	"time"
)

// Kind says what an Entry is. Links are never followed.
type Kind uint8

// The kinds of entries.
const (
	File Kind = iota + 1
	Dir
	Link
	Special // a FIFO, a device, a socket
)

// fileKey names one inode of this machine. It is zero where the system tells
// none without opening the file; then nothing is known to be the same.
type fileKey struct{ dev, ino uint64 }

// stamp is what a stat tells of an entry. Two stamps that are the same mean the
// same content, unless the first is racy.
type stamp struct {
	size, mtime, ctime int64 // the times in ns
	ino                uint64
	kind               Kind
	linked             bool // other names lead to this, and what is done through one gives no event here
	racy               bool // it was changed so recently that another change could leave the same times
}

func (s stamp) same(o stamp) bool {
	return s.size == o.size && s.mtime == o.mtime && s.ctime == o.ctime && s.ino == o.ino && s.kind == o.kind
}

const (
	// clockTick is above the resolution of the kernel's clock for time stamps,
	// which is at most 10 ms.
	clockTick = 20 * time.Millisecond

	// coarseTick is the resolution of FAT's times, the coarsest there are. A time
	// without a fraction of a second may be of such a file system.
	coarseTick = 2 * time.Second
)

// mark sets racy. at is a time, in ns, not after the stat. The change time
// counts, because anybody can set the other.
func (s *stamp) mark(at int64) {
	tick := clockTick
	if s.ctime%int64(time.Second) == 0 {
		tick = coarseTick
	}
	s.racy = at-s.ctime < int64(tick)
}

// listed is one entry of a directory as reading the directory tells it. kind is
// 0 where only a stat would tell, ino 0 where it is not told.
type listed struct {
	name string
	kind Kind
	ino  uint64
}

// vanished reports whether err says that there is nothing of the kind that was
// asked for: the entry went, or something else took its place.
func vanished(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)
}
