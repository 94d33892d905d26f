package sandbox

import (
	"bytes"
	"io/fs"
	"time"

	"github.com/loomd/loomd/diffpreview"
)

// kind says what is at a path. Links are never followed.
type kind uint8

const (
	none kind = iota
	file
	dir
	link
	special // a FIFO, a socket, a device
)

// stamp is what a stat tells of an entry. Two that are the same mean the same content,
// unless the first is racy.
type stamp struct {
	kind         kind
	mode         fs.FileMode // permission bits
	size         int64
	mtime, ctime int64 // in ns since 1970; ctime is 0 where the system has none
	ino          uint64
	racy         bool // changed so recently that another change could leave the same times
}

const (
	// clockTick is above the resolution of the kernel's clock for time stamps, which is
	// at most 10 ms.
	clockTick = 20 * time.Millisecond
	// coarseTick is the resolution of FAT's times, the coarsest there are. A time without
	// a fraction of a second may be of such a file system.
	coarseTick = 2 * time.Second
)

// stampOf is the stamp of an entry that was looked at no earlier than at.
func stampOf(info fs.FileInfo, at time.Time) stamp {
	s := stamp{kind: kindOf(info.Mode()), mode: info.Mode().Perm(), size: info.Size(), mtime: info.ModTime().UnixNano()}
	s.ctime, s.ino = systemStamp(info)
	return s.seenAt(at)
}

// seenAt makes a stamp of what a stat told.
func (s stamp) seenAt(at time.Time) stamp {
	if s.kind == dir {
		return stamp{kind: dir, mode: s.mode} // its own times and size tell nothing that is asked
	}
	changed := max(s.mtime, s.ctime)
	tick := clockTick
	if changed%int64(time.Second) == 0 {
		tick = coarseTick
	}
	s.racy = at.UnixNano()-changed < int64(tick)
	return s
}

func kindOf(mode fs.FileMode) kind {
	switch {
	case mode.IsRegular():
		return file
	case mode.IsDir():
		return dir
	case mode&fs.ModeSymlink != 0:
		return link
	}
	return special
}

func (s stamp) same(o stamp) bool {
	s.racy, o.racy = false, false
	return s == o
}

// settled is same where s also rules out a change that left the same times.
func (s stamp) settled(o stamp) bool { return !s.racy && s.same(o) }

// settle makes a stamp of the copy that was just written trustworthy: whoever writes to
// the file gives it a new mtime, so only a recent one could be met again.
func (s stamp) settle(at time.Time) stamp {
	s.racy = at.UnixNano()-s.mtime < int64(clockTick)
	return s
}

// record is what is known of one path of a root: what the copy has there, and what that
// was made of.
type record struct {
	copy stamp // as it was left by Begin or seen by the last End; kind none: nothing is there
	// tree is what the tree had when copy was made of it, or when it was last looked at;
	// kind none when it had nothing.
	tree   stamp
	over   *diffpreview.Content // what copy was made of instead, or was seen to hold: a text of the view, or of a command
	body   body                 // the bytes of a file
	target string               // of a link, as the tree would have it

	reset bool // copy is what a command left, and it is put back when no command runs
	left  bool // copy is what a command left, and it stays: the rules leave it out, or it is a directory

	seen uint32 // the last walk that came upon it
}

// inStep reports whether the copy has what the tree's entry is.
func (r *record) inStep(tree stamp) bool {
	return r.over == nil && !r.reset && r.tree.settled(tree)
}

// body says where the bytes are that a file of the copy had. The zero body is unknown:
// then the tree has them, if its file has not changed since.
type body struct {
	known  bool
	memory []byte // of a file that is not packed
	packed bool
	at     int64 // in the pack
	size   int64
}

func inMemory(data []byte) body { return body{known: true, memory: data, size: int64(len(data))} }

// holds reports whether the body is known and is data.
func (b body) holds(p *pack, data []byte) bool {
	if !b.known || b.size != int64(len(data)) {
		return false
	}
	own, err := b.bytes(p)
	return err == nil && bytes.Equal(own, data)
}

func (b body) bytes(p *pack) ([]byte, error) {
	if !b.packed {
		return b.memory, nil
	}
	return p.read(b.at, b.size)
}
