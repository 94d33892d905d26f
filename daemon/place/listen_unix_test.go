//go:build unix

package place_test

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/loomd/loomd/daemon/place"
)

// short returns a directory whose sockets have short names.
func short(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "p")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// TestC220 looks at the socket and its directory in a tight loop while they are
// made and taken away 50 times under a umask that takes nothing away.
func TestC220(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	dir := filepath.Join(short(t), "loomd")
	path := filepath.Join(dir, "s.sock")

	stop, seen := make(chan struct{}), make(chan int)
	go func() {
		sights := 0
		defer func() { seen <- sights }()
		for {
			select {
			case <-stop:
				return
			default:
			}
			if info, err := os.Lstat(dir); err == nil && info.Mode() != fs.ModeDir|0o700 {
				t.Errorf("the directory has mode %v", info.Mode())
				return
			}
			info, err := os.Lstat(path)
			if err == nil && info.Mode() != fs.ModeSocket|0o600 {
				t.Errorf("the socket has mode %v", info.Mode())
				return
			}
			if err == nil {
				sights++
			}
		}
	}()
	for range 50 {
		if err := place.MakePrivateDir(dir); err != nil {
			t.Fatal(err)
		}
		l, err := place.ListenPrivate(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(dir); err != nil { // fails when something is left in it
			t.Fatal(err)
		}
	}
	close(stop)
	t.Logf("the socket was seen %d times", <-seen)
}

func TestMakePrivateDirWithAnyUmask(t *testing.T) {
	for _, umask := range []int{0, 0o022, 0o077, 0o777} {
		func() {
			base := short(t)
			defer syscall.Umask(syscall.Umask(umask))
			for _, dir := range []string{filepath.Join(base, "a", "b"), filepath.Join(base, "a")} {
				if err := place.MakePrivateDir(dir); err != nil {
					t.Fatalf("umask %03o: %v", umask, err)
				}
				if info, err := os.Lstat(dir); err != nil || info.Mode() != fs.ModeDir|0o700 {
					t.Errorf("umask %03o: %s has mode %v, %v", umask, dir, info.Mode(), err)
				}
			}
		}()
	}
}

func TestMakePrivateDirRefuses(t *testing.T) {
	base := short(t)
	open, file := filepath.Join(base, "open"), filepath.Join(base, "file")
	link, dangling := filepath.Join(base, "link"), filepath.Join(base, "dangling")
	real := filepath.Join(base, "real")
	for _, err := range []error{
		os.Mkdir(open, 0o700),
		os.Chmod(open, 0o750),
		os.WriteFile(file, nil, 0o600),
		os.Mkdir(real, 0o700),
		os.Symlink(real, link),
		os.Symlink(filepath.Join(base, "absent"), dangling),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	dirs := map[string]string{open: "0750", file: "not a directory", link: "symbolic link", dangling: "symbolic link"}
	if os.Getuid() != 0 {
		dirs["/"] = "uid 0"
	} else {
		other := filepath.Join(base, "other")
		if err := os.Mkdir(other, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(other, 12345, -1); err != nil {
			t.Fatal(err)
		}
		dirs[other] = "uid 12345"
	}
	for dir, reason := range dirs {
		err := place.MakePrivateDir(dir)
		var np *place.NotPrivateError
		if !errors.As(err, &np) || !strings.Contains(np.Reason, reason) {
			t.Errorf("MakePrivateDir(%s) = %v, want a refusal that says %q", dir, err, reason)
		}
	}
	if info, _ := os.Lstat(open); info.Mode().Perm() != 0o750 {
		t.Errorf("a refused directory was changed to %v", info.Mode())
	}
}

func TestListenPrivateReplacesStale(t *testing.T) {
	path := filepath.Join(short(t), "s")
	old, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	old.SetUnlinkOnClose(false)
	if _, err := place.ListenPrivate(path); !errors.Is(err, place.ErrAnswered) {
		t.Fatalf("listening where somebody answers: %v, want %v", err, place.ErrAnswered)
	}
	old.Close() // as after kill -9: the file stays and nobody answers
	l, err := place.ListenPrivate(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()

	accepted := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			err = errors.Join(place.CheckPeer(conn.(*net.UnixConn)), conn.Close())
		}
		accepted <- err
	}()
	conn, err := place.Dial(context.Background(), path, false)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if err := <-accepted; err != nil {
		t.Error(err)
	}
	if l.Addr().String() != path {
		t.Errorf("Addr() = %s, want %s", l.Addr(), path)
	}
}

func TestListenPrivateRefuses(t *testing.T) {
	dir := short(t)
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, filepath.Join(dir, strings.Repeat("x", 100)), filepath.Join(dir, "absent", "s")} {
		if l, err := place.ListenPrivate(path); err == nil {
			l.Close()
			t.Errorf("ListenPrivate(%s) listens", path)
		}
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "precious" {
		t.Errorf("a file in the way became %q, %v", data, err)
	}
	if ents, _ := os.ReadDir(dir); len(ents) != 1 {
		t.Errorf("left behind: %v", ents)
	}
}

func TestCloseLeavesASuccessorsSocket(t *testing.T) {
	path := filepath.Join(short(t), "s")
	first, err := place.ListenPrivate(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	second, err := place.ListenPrivate(path)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("second Close: %v", err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("closing the first listener took the second's socket: %v", err)
	}
}

func TestDialChecksDirectory(t *testing.T) {
	dir := short(t)
	path := filepath.Join(dir, "s")
	l, err := place.ListenPrivate(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var np *place.NotPrivateError
	if conn, err := place.Dial(context.Background(), path, true); !errors.As(err, &np) {
		if err == nil {
			conn.Close()
		}
		t.Errorf("dialling in a directory that others can enter: %v", err)
	}
}
