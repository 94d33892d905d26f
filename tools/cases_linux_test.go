package tools

import (
	"encoding/binary"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// writes watches the workspace's directory and counts what changed files in it.
type writes struct {
	t  *testing.T
	fd int
}

func watchWrites(t *testing.T, dir string) *writes {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	must(t, err)
	t.Cleanup(func() { unix.Close(fd) })
	_, err = unix.InotifyAddWatch(fd, dir,
		unix.IN_MODIFY|unix.IN_CLOSE_WRITE|unix.IN_ATTRIB|unix.IN_CREATE|unix.IN_DELETE|unix.IN_MOVE|unix.IN_MOVE_SELF|unix.IN_DELETE_SELF)
	must(t, err)
	return &writes{t, fd}
}

// names are the files of the events until now, one per event.
func (w *writes) names() []string {
	w.t.Helper()
	var names []string
	buf := make([]byte, 64<<10)
	for {
		n, err := unix.Read(w.fd, buf)
		if errors.Is(err, unix.EAGAIN) {
			return names
		}
		must(w.t, err)
		for event := buf[:n]; len(event) >= unix.SizeofInotifyEvent; {
			length := int(binary.NativeEndian.Uint32(event[12:]))
			name := event[unix.SizeofInotifyEvent : unix.SizeofInotifyEvent+length]
			names = append(names, strings.TrimRight(string(name), "\x00"))
			event = event[unix.SizeofInotifyEvent+length:]
		}
	}
}

func TestC167_RejectedTextNeverReachesTheDisk(t *testing.T) {
	s := newScene(t, map[string]string{"f": "state=1\n"})
	w := watchWrites(t, s.dir)
	s.accept(s.propose("edit_file", args{"path": "f", "edits": edits("state=1", "state=2")}))
	if len(w.names()) == 0 {
		t.Fatal("the watch does not see an accept")
	}
	was := stateOf(t, filepath.Join(s.dir, "f"))
	got := s.propose("edit_file", args{"path": "f", "edits": edits("state=2", "state=3")})
	s.reject(got)
	new := s.propose("write_file", args{"path": "n", "content": "state=3\n"})
	s.reject(new)
	if names := w.names(); len(names) > 0 {
		t.Errorf("a proposal and its reject wrote %q", names)
	}
	s.wantDisk("f", "state=2\n")
	if now := stateOf(t, filepath.Join(s.dir, "f")); now != was {
		t.Errorf("f was %+v and is %+v", was, now)
	}
}
