//go:build unix

package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestC220 starts loomd 50 times under umask 000 while a loop looks at the
// socket, its directory and the state.
func TestC220(t *testing.T) {
	dir, env := newWorkspace(t, "a\n")
	defer syscall.Umask(syscall.Umask(0))
	work := filepath.Dir(dir)
	stop, ended := make(chan struct{}), make(chan int)
	go watchModes(t, work, stop, ended)
	for range 50 {
		cmd := exec.Command("loomd", "call", "list_files")
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for _, d := range daemonsIn(work) {
			d.end(syscall.SIGTERM)
		}
	}
	close(stop)
	if n := <-ended; n == 0 {
		t.Error("the socket was never seen")
	}
}

// watchModes looks until stop is closed and sends how often it saw a socket.
func watchModes(t *testing.T, work string, stop <-chan struct{}, ended chan<- int) {
	sights := 0
	defer func() { ended <- sights }()
	sockets := filepath.Join(work, ".run", "loomd")
	for {
		select {
		case <-stop:
			return
		default:
		}
		if info, err := os.Lstat(sockets); err == nil && info.Mode() != fs.ModeDir|0o700 {
			t.Errorf("the socket's directory has mode %v", info.Mode())
			return
		}
		files, _ := os.ReadDir(sockets)
		for _, f := range files {
			if f.Type() != fs.ModeSocket {
				continue
			}
			info, err := f.Info()
			if err == nil && info.Mode() != fs.ModeSocket|0o600 {
				t.Errorf("the socket has mode %v", info.Mode())
				return
			}
			if err == nil {
				sights++
			}
		}
		if !privateBelow(t, filepath.Join(work, ".state")) {
			return
		}
	}
}

// privateBelow says whether nobody else can use what lies under dir.
func privateBelow(t *testing.T, dir string) bool {
	private := true
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
			private = false
		}
		return nil
	})
	return private
}
