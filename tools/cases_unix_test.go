//go:build unix

package tools

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/loomd/loomd/diffpreview"
)

func inodeOf(info fs.FileInfo) uint64 { return uint64(info.Sys().(*syscall.Stat_t).Ino) }

func (s *scene) wantMode(name string, mode fs.FileMode) {
	s.t.Helper()
	info, err := os.Lstat(filepath.Join(s.dir, name))
	must(s.t, err)
	if got := info.Mode().Perm(); got != mode {
		s.t.Errorf("%s has mode %04o, want %04o", name, got, mode)
	}
}

func TestC041_ModeKept(t *testing.T) {
	for _, mode := range []fs.FileMode{0o755, 0o640, 0o600, 0o664, 0o4755, 0o444 | 0o200} {
		s := newScene(t, map[string]string{"s.sh": "#!/bin/sh\necho one\n"})
		script := filepath.Join(s.dir, "s.sh")
		must(t, syscall.Chmod(script, uint32(mode)))
		s.accept(s.propose("edit_file", args{"path": "s.sh", "edits": edits("one", "two")}))
		s.wantDisk("s.sh", "#!/bin/sh\necho two\n")
		s.wantMode("s.sh", mode&fs.ModePerm)
		if mode != 0o755 {
			continue
		}
		if out, err := exec.Command(script).CombinedOutput(); err != nil || string(out) != "two\n" {
			t.Errorf("./s.sh says %q, %v", out, err)
		}
		s.accept(s.propose("write_file", args{"path": "s.sh", "content": "#!/bin/sh\necho three\n"}))
		s.wantMode("s.sh", mode)
	}
}

func TestC042_NewFileFollowsTheUmask(t *testing.T) {
	old := syscall.Umask(0)
	t.Cleanup(func() { syscall.Umask(old) })
	for umask, want := range map[int][2]fs.FileMode{0o002: {0o664, 0o775}, 0o022: {0o644, 0o755}, 0o077: {0o600, 0o700}} {
		syscall.Umask(umask)
		s := newScene(t, nil)
		s.accept(s.propose("edit_file", args{"path": "n", "edits": edits("", "x\n")}))
		s.wantDisk("n", "x\n")
		s.wantMode("n", want[0])
		s.accept(s.propose("write_file", args{"path": "d/e/n", "content": "x\n"}))
		s.wantMode("d/e/n", want[0])
		s.wantMode("d", want[1])
		s.wantMode("d/e", want[1])
	}
}

func TestC043_SymlinkIsWrittenThrough(t *testing.T) {
	links := map[string]string{ // name: target
		"link": "real", "chain": "link", "d/up": "../real", "dir": "d", "d/deep": "more/../../real",
	}
	for _, name := range []string{"link", "chain", "d/up", "dir/up", "d/deep", "absolute"} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, map[string]string{"real": "w\n", "d/more/": ""})
			for at, target := range links {
				must(t, os.Symlink(target, filepath.Join(s.dir, at)))
			}
			must(t, os.Symlink(filepath.Join(s.dir, "real"), filepath.Join(s.dir, "absolute")))
			was := s.tree()
			got := s.propose("edit_file", args{"path": name, "edits": edits("w", "W")})
			if got["path"] != "real" || got["via"] != name {
				t.Errorf("the proposal is of %v via %v", got["path"], got["via"])
			}
			s.reject(got)
			s.wantTree(was, "a reject")
			s.accept(s.propose("edit_file", args{"path": name, "edits": edits("w", "W")}))
			s.wantDisk("real", "W\n")
			now := s.tree()
			delete(was, "real")
			delete(now, "real")
			for at, state := range was {
				if now[at] != state {
					t.Errorf("%s was %+v and is %+v", at, state, now[at])
				}
			}
		})
	}
}

func TestC047_ReadOnlyFile(t *testing.T) {
	if !asNobody(t) {
		return
	}
	s := newScene(t, map[string]string{"f": "w\n", "g": "w\n", "d/f": "w\n"})
	f, g := filepath.Join(s.dir, "f"), filepath.Join(s.dir, "g")
	early := s.propose("edit_file", args{"path": "g", "edits": edits("w", "W")})
	must(t, os.Chmod(f, 0o444))
	must(t, os.Chmod(g, 0o444))
	for tool, a := range map[string]args{
		"edit_file":  {"path": "f", "edits": edits("w", "W")},
		"write_file": {"path": "f", "content": "W\n"},
	} {
		got := s.refuse("permission_denied", tool, a)
		if message := got["message"].(string); !strings.Contains(message, "f: ") || !strings.Contains(message, "permission") {
			t.Errorf("%s: the message is %q: it lacks path or reason", tool, message)
		}
	}
	s.mustNotDecide(early, true, nil, diffpreview.CodePermissionDenied)
	s.wantMode("g", 0o444)
	must(t, os.Chmod(g, 0o644))
	s.accept(early)
	s.wantDisk("g", "W\n")
	must(t, os.Chmod(filepath.Join(s.dir, "d"), 0o555))
	t.Cleanup(func() { os.Chmod(filepath.Join(s.dir, "d"), 0o755) })
	out, got := s.call("write_file", args{"path": "d/new", "content": "x"})
	if out.IsError {
		if out.Code != "permission_denied" {
			t.Errorf("a new file in a directory of mode 0555: %s", out.Structured)
		}
		return
	}
	s.mustNotDecide(got, true, nil, diffpreview.CodePermissionDenied)
	s.wantAbsent("d/new")
}

func TestC049_ExtendedAttributes(t *testing.T) {
	s := newScene(t, map[string]string{"f": "w\n"})
	f := filepath.Join(s.dir, "f")
	if err := unix.Setxattr(f, "user.k", []byte("v"), 0); err != nil {
		t.Skipf("the file system takes no attributes: %v", err)
	}
	must(t, unix.Setxattr(f, "user.empty", nil, 0))
	for _, step := range []args{{"path": "f", "edits": edits("w", "W")}, {"path": "f", "edits": edits("W", "again")}} {
		s.accept(s.propose("edit_file", step))
		value := make([]byte, 10)
		n, err := unix.Getxattr(f, "user.k", value)
		if err != nil || string(value[:n]) != "v" {
			t.Errorf("user.k is %q, %v", value[:max(n, 0)], err)
		}
		if n, err := unix.Getxattr(f, "user.empty", value); err != nil || n != 0 {
			t.Errorf("user.empty has %d bytes, %v", n, err)
		}
	}
	s.wantDisk("f", "again\n")
}
