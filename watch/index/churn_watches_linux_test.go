package index_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// fewWatches gives the child a user namespace in which it may watch 50 things.
func fewWatches(cmd *exec.Cmd) {
	cmd.Env = append(cmd.Env, watchesEnv+"=50")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
}

// namespaces skips where a process may not have a user namespace of its own.
func namespaces(t *testing.T) {
	t.Helper()
	cmd := exec.Command("true")
	fewWatches(cmd)
	if err := cmd.Run(); errors.Is(err, os.ErrPermission) {
		t.Skip("no user namespaces here")
	}
}

// TestFewWatches: with 50 watches for 300 directories every answer is right, and
// the status says what is missing and what would help.
func TestFewWatches(t *testing.T) {
	namespaces(t)
	base := realTemp(t)
	root, env := filepath.Join(base, "root"), cleanEnv(filepath.Join(base, "home"))
	w := &writer{
		m: newModel(), rng: rand.New(rand.NewPCG(newSeed(t), 0)), root: root, dir: "w", attic: filepath.Join(base, "attic"), disk: tree{},
	}
	for i := range 300 {
		write(t, filepath.Join(root, fmt.Sprintf("many/d%d/f.txt", i)), []byte("text\n"))
	}
	for _, dir := range []string{w.attic, w.abs(w.dir)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := serve(t, "index", root, env, fewWatches)
	for round := range size(40, 1000) {
		for range 1 + w.rng.IntN(6) {
			if err := w.step(); err != nil {
				t.Fatal(err)
			}
		}
		write(t, filepath.Join(root, fmt.Sprintf("many/d%d/f.txt", w.rng.IntN(300))), []byte(w.text()))
		compareWithDisk(t, s, root, env)
		if t.Failed() {
			t.Fatalf("round %d, last: %s", round, w.last)
		}
	}
	status, err := s.status()
	if err != nil || !strings.Contains(status, `"polling"`) || !strings.Contains(status, "max_user_watches") {
		t.Errorf("the status does not tell of the limit: %s, %v", status, err)
	}
}

// TestOverflowIsTold: after a queue that overflowed while the process stood
// still, the first answer is right, and the status is honest before and after.
func TestOverflowIsTold(t *testing.T) {
	g := newGrown(t, newSeed(t), 0)
	for i := range 20 {
		write(t, g.abs(fmt.Sprintf("d%d/f.txt", i)), []byte("text\n"))
	}
	s := serve(t, "index", g.root, g.env)
	compareWithDisk(t, s, g.root, g.env)
	s.signal(t, syscall.SIGSTOP)
	rng := rand.New(rand.NewPCG(newSeed(t), 0))
	for i := range size(maxQueued(t)/2+1000, 40_000) {
		write(t, g.abs(fmt.Sprintf("d%d/new%d.txt", rng.IntN(20), i)), []byte("text\n"))
	}
	s.signal(t, syscall.SIGCONT)
	compareWithDisk(t, s, g.root, g.env)
	status, err := s.status()
	if err != nil || !strings.Contains(status, `"live"`) || !s.said(eventsLost) {
		t.Errorf("after the queue overflowed: %s, %v", status, err)
	}
	// Events go on being heard.
	write(t, filepath.Join(g.root, "d1/later.txt"), []byte("later\n"))
	compareWithDisk(t, s, g.root, g.env)
}
