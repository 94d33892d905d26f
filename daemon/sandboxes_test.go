package daemon

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/diffpreview"
)

// command runs a script where the commands of a session run.
func (h *house) command(sess diffpreview.Session, script string) (dir string) {
	h.t.Helper()
	place, err := h.server.sandboxes.of(sess).Begin(h.ctx, "")
	if err != nil {
		h.t.Fatal(err)
	}
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = place.Dir()
	if out, err := cmd.CombinedOutput(); err != nil {
		h.t.Fatalf("%v: %s", err, out)
	}
	if _, err := place.End(h.ctx, diffpreview.Call{ID: "c", Tool: "bash"}); err != nil {
		h.t.Fatal(err)
	}
	return place.Dir()
}

func (h *house) session(id string) diffpreview.Session {
	h.t.Helper()
	sess, ok := h.server.store.Session(id)
	if !ok {
		h.t.Fatalf("no session %s", id)
	}
	return sess
}

func thereIs(t *testing.T, path string, want bool) {
	t.Helper()
	if _, err := os.Lstat(path); (err == nil) != want {
		t.Errorf("%s is there: %v (%v)", path, err == nil, err)
	}
}

// What a command of a session changes is proposed; its copy is private, another
// session's is another, and it goes with the session or the daemon.
func TestACopyForEachSession(t *testing.T) {
	state := t.TempDir()
	root := t.TempDir()
	h := newHouseKeeping(t, state, root)
	h.save("f", "1\n")
	h.connect(helloAgent, nil)
	other, err := h.server.store.JoinSession(diffpreview.Session{Label: "other", Toolset: toolsetDiscards})
	if err != nil {
		t.Fatal(err)
	}
	sess := h.session(h.server.store.Sessions()[0].ID)
	dir := h.command(sess, "echo 2 >> f")
	otherDir := h.command(other, "echo 3 >> f")
	if list, err := h.server.store.List(diffpreview.Filter{}); err != nil || len(list) != 1 || list[0].Session != sess.ID {
		t.Errorf("proposals: %v, %v", list, err)
	}
	h.wantDisk("f", "1\n")
	base := h.server.sandboxes.own
	info, err := os.Stat(base)
	if err != nil || info.Mode().Perm() != 0o700 || !strings.HasPrefix(dir, base) || !strings.HasPrefix(base, state) {
		t.Errorf("%s: %v, %v", base, info, err)
	}
	reviewer := h.connect(helloReviewer, nil)
	reviewer.must("loom/sessions/close", protocol.SessionsCloseParams{ID: sess.ID}, nil)
	h.server.sandboxes.removing.Wait()
	thereIs(t, dir, false)
	thereIs(t, otherDir, true)
	if h.server.sandboxes.of(other) != h.server.sandboxes.of(other) {
		t.Error("a session has two copies")
	}
}

// A daemon removes the copies that one before it left, and its own at its end.
func TestCopiesThatWereLeftOver(t *testing.T) {
	state, root := t.TempDir(), t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	server, err := New(Options{Roots: []string{root}, Socket: filepath.Join(t.TempDir(), "s")})
	if err != nil {
		t.Fatal(err)
	}
	base := server.sandboxes.base
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	thereIs(t, base, false)
	left := filepath.Join(base, "1-old", "s1", "files")
	if err := os.MkdirAll(left, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(left, 0); err != nil {
		t.Fatal(err)
	}
	h := newHouseKeeping(t, state, root)
	h.server.sandboxes.removing.Wait()
	thereIs(t, filepath.Join(base, "1-old"), false)
	thereIs(t, h.server.sandboxes.own, true)
}

// Where the daemon's state lies in a root, the copies do not.
func TestCopiesAreOutsideOfEveryRoot(t *testing.T) {
	root := t.TempDir()
	h := newHouseKeeping(t, filepath.Join(root, "state"), root)
	if own := h.server.sandboxes.own; own == "" || strings.HasPrefix(own, root) {
		t.Errorf("copies are in %q", own)
	}
	h.save("f", "1\n")
	sess, err := h.server.store.JoinSession(diffpreview.Session{Label: "a"})
	if err != nil {
		t.Fatal(err)
	}
	h.command(sess, "echo 2 >> f; test ! -e state/loomd/*/sandboxes")
	h.wantDisk("f", "1\n")
}
