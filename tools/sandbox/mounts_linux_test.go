package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

func TestMountsBelow(t *testing.T) {
	const table = `22 1 8:1 / / rw - ext4 /dev/a rw
30 22 8:1 /v /copy/a\040b/src rw,relatime shared:1 - ext4 /dev/a rw
31 22 8:1 /v /copy/a\040b2 rw - ext4 /dev/a rw
short
32 30 8:1 /w /copy/a\040b/src/x\134y rw - ext4 /dev/a rw
33 22 8:1 /w /copy/a\040b rw - ext4 /dev/a rw
`
	got, want := mountsBelow(table, "/copy/a b"), []string{"/copy/a b/src", `/copy/a b/src/x\y`, "/copy/a b"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// inMounts names the variable that a test has that runs in a mount namespace of its own.
const inMounts = "LOOMD_TEST_MOUNTS"

// What a command mounts in its copy is a place outside: its files are not proposed, a
// rejection and the copy's end remove none of them.
func TestMountsAreNotTheCopys(t *testing.T) {
	if os.Getenv(inMounts) == "" {
		againWithMounts(t)
		return
	}
	outside := filepath.Join(t.TempDir(), "out side")
	if err := os.Mkdir(outside, 0o700); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(outside, "kept")
	if err := os.WriteFile(kept, []byte("kept\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	stays := func() {
		t.Helper()
		if text, err := os.ReadFile(kept); string(text) != "kept\n" {
			t.Fatalf("the file outside: %q, %v", text, err)
		}
	}
	t.Run("at a command's end", func(t *testing.T) {
		w := newWorld(t, map[string]string{"dir/a": "a\n"})
		w.want(w.run("mount --bind '"+outside+"' dir; mount --bind '"+outside+"' dir; echo n > n"), "n create", "")
		w.inStep()
		stays()
	})
	t.Run("while a command runs", func(t *testing.T) {
		w := newWorld(t, map[string]string{"dir/kept": "kept\n"})
		d := w.begin()
		sh(t, d.Dir(), nil, "mount --bind '"+outside+"' dir")
		w.tree("rm -r dir")
		w.end(w.begin())
		w.end(d)
		w.inStep()
		stays()
	})
	t.Run("at the session's end", func(t *testing.T) {
		w := newWorld(t, map[string]string{"dir/a": "a\n"})
		d := w.begin()
		sh(t, d.Dir(), nil, "mount --bind '"+outside+"' dir")
		if err := w.copy.Close(); err != nil {
			t.Error(err)
		}
		stays()
	})
	stays()
}

// againWithMounts runs the test once more, where it may mount and nobody else sees it.
func againWithMounts(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	attr := func() *syscall.SysProcAttr {
		return &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}
	}
	dir := t.TempDir()
	can := exec.Command("mount", "--bind", dir, dir)
	can.SysProcAttr = attr()
	if out, err := can.CombinedOutput(); err != nil {
		t.Skipf("nothing can be mounted here: %v %s", err, out)
	}
	cmd := exec.Command(self, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), inMounts+"=1")
	cmd.SysProcAttr = attr()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
