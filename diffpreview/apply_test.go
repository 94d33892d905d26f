package diffpreview

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// applyTree is a workspace in a scratch directory.
type applyTree struct {
	testing.TB
	dir  string
	w    *Workspace
	log  []intent // what apply logged, through JSON
	made []Path   // what apply returned
}

func newApplyTree(tb testing.TB, dir string) *applyTree {
	tb.Helper()
	w, err := OpenWorkspace([]string{dir})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { w.Close() })
	return &applyTree{TB: tb, dir: dir, w: w}
}

// memoryDir is a scratch directory on a file system where syncing costs nothing,
// if there is one, for tests that write thousands of times.
func memoryDir(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "loomd-test-")
	if err != nil {
		return tb.TempDir()
	}
	tb.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (x *applyTree) abs(name string) string { return filepath.Join(x.dir, filepath.FromSlash(name)) }

func (x *applyTree) put(name, text string, mode fs.FileMode) {
	x.Helper()
	if err := os.MkdirAll(filepath.Dir(x.abs(name)), 0o755); err != nil {
		x.Fatal(err)
	}
	if err := os.WriteFile(x.abs(name), []byte(text), 0o600); err != nil {
		x.Fatal(err)
	}
	if err := os.Chmod(x.abs(name), mode); err != nil {
		x.Fatal(err)
	}
	// An old file, so that no check takes it for one that is just being written.
	if err := os.Chtimes(x.abs(name), time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		x.Fatal(err)
	}
}

func (x *applyTree) text(name string) string {
	x.Helper()
	data, err := os.ReadFile(x.abs(name))
	if err != nil {
		x.Fatal(err)
	}
	return string(data)
}

func (x *applyTree) want(name, text string) {
	x.Helper()
	if got := x.text(name); got != text {
		x.Errorf("%s holds %.60q, want %.60q", name, got, text)
	}
}

func (x *applyTree) wantAbsent(name string) {
	x.Helper()
	if _, err := os.Lstat(x.abs(name)); !errors.Is(err, fs.ErrNotExist) {
		x.Errorf("%s is there (%v)", name, err)
	}
}

func (x *applyTree) mode(name string) fs.FileMode {
	x.Helper()
	info, err := os.Lstat(x.abs(name))
	if err != nil {
		x.Fatal(err)
	}
	return info.Mode()
}

// noTemps fails when a temporary file is left.
func (x *applyTree) noTemps() {
	x.Helper()
	filepath.WalkDir(x.dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && isTempName(d.Name()) {
			x.Errorf("a temporary file is left: %s", p)
		}
		return nil
	})
}

// picture is everything about the files that must be the same after a failure.
func (x *applyTree) picture() string {
	x.Helper()
	var b strings.Builder
	err := filepath.WalkDir(x.dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if d.IsDir() {
			fmt.Fprintf(&b, "%s %v\n", p, info.Mode())
			return nil
		}
		fmt.Fprintf(&b, "%s %v %d %s", p, info.Mode(), identity(info).inode, info.ModTime())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %s", hashBytes(data))
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		x.Fatal(err)
	}
	return b.String()
}

func (x *applyTree) record(in intent) error {
	text, err := json.Marshal(in)
	if err != nil {
		return err
	}
	var back intent
	if err := json.Unmarshal(text, &back); err != nil {
		return err
	}
	x.log = append(x.log, back)
	return nil
}

func (x *applyTree) apply(writes ...write) error {
	x.Helper()
	x.log = nil
	var err error
	x.made, err = x.w.apply(context.Background(), writes, x.record)
	return err
}

func (x *applyTree) mustApply(writes ...write) {
	x.Helper()
	if err := x.apply(writes...); err != nil {
		x.Fatalf("apply: %v", err)
	}
	x.noTemps()
}

// mustFail applies writes, and wants a failure with code that leaves everything
// as it was.
func (x *applyTree) mustFail(code Code, name string, writes ...write) {
	x.Helper()
	before := x.picture()
	err := x.apply(writes...)
	if CodeOf(err) != code {
		x.Fatalf("apply: %v (%s), want %s", err, CodeOf(err), code)
	}
	var e *Error
	if errors.As(err, &e) && e.Path != name {
		x.Errorf("the error names %q, want %q", e.Path, name)
	}
	if after := x.picture(); after != before {
		x.Errorf("not as before:\n%s\nbut\n%s", before, after)
	}
	x.noTemps()
}

func TestApplyKeepsMode(t *testing.T) {
	for _, mode := range []fs.FileMode{0o644, 0o755, 0o600, 0o640, 0o444, 0o755 | fs.ModeSetgid} {
		t.Run(mode.String(), func(t *testing.T) {
			if mode == 0o444 && os.Getuid() != 0 {
				t.Skip("only root may write a read-only file")
			}
			x := newApplyTree(t, t.TempDir())
			x.put("s.sh", "old\n", mode)
			x.mustApply(x.modify("s.sh", "old\n", "new text\n"))
			x.want("s.sh", "new text\n")
			if got := x.mode("s.sh"); got != mode {
				t.Errorf("mode is %v, want %v", got, mode)
			}
		})
	}
}

func TestApplyCreates(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	x.mustApply(
		x.create("a/b/c/new", "n\n", 0), x.create("a/b/other", "o\n", 0),
		x.create("run.sh", "#!\n", 0o755), x.create("private", "p", 0o600), x.create("empty", "", 0),
	)
	x.want("a/b/c/new", "n\n")
	x.want("a/b/other", "o\n")
	x.want("empty", "")
	if runtime.GOOS != "windows" && (x.mode("run.sh") != 0o755 || x.mode("private") != 0o600) {
		t.Errorf("modes are %v and %v", x.mode("run.sh"), x.mode("private"))
	}
}

func TestApplyDeletes(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	x.put("d/f", "f\n", 0o644)
	x.mustApply(x.remove("d/f", "f\n"))
	x.wantAbsent("d/f")
	x.mode("d") // the directory is not what was decided about
}

func TestApplyFileBecomesDirectory(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	x.put("a", "file\n", 0o644)
	x.mustApply(x.create("a/b/c", "below\n", 0), x.remove("a", "file\n"))
	x.want("a/b/c", "below\n")
}

func TestApplyFileBecomesDirectoryRollsBack(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	x.put("a", "file\n", 0o644)
	before := x.picture()
	x.w.step = func(stage string) {
		if stage == "directory made" {
			x.put("z", "somebody's\n", 0o644)
		}
	}
	err := x.apply(x.remove("a", "file\n"), x.create("a/b/c", "below\n", 0), x.create("z", "Z\n", 0))
	if CodeOf(err) != CodeStale {
		t.Fatalf("apply: %v", err)
	}
	x.want("z", "somebody's\n")
	os.Remove(x.abs("z"))
	if after := x.picture(); after != before {
		t.Errorf("not as before:\n%s\nbut\n%s", before, after)
	}
}

func TestApplyNothing(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	x.put("f", "same", 0o644)
	before := x.picture()
	x.mustApply(x.modify("f", "same", "same"), write{path: x.path("absent")})
	if after := x.picture(); after != before || len(x.log) != 0 {
		t.Errorf("something happened: %d intents\n%s\n%s", len(x.log), before, after)
	}
}

func TestApplyRefuses(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	x.put("f", "text\n", 0o644)
	x.put("d/g", "g\n", 0o644)
	ok := x.modify("f", "text\n", "never\n")
	for _, c := range []struct {
		what string
		code Code
		name string
		w    write
	}{
		{"other bytes", CodeStale, "d/g", x.modify("d/g", "old\n", "new\n")},
		{"longer than its base", CodeStale, "d/g", x.modify("d/g", "g", "new\n")},
		{"shorter than its base", CodeStale, "d/g", x.modify("d/g", "g\n\n", "new\n")},
		{"gone", CodeStale, "h", x.modify("h", "h\n", "H\n")},
		{"gone with its directory", CodeStale, "no/h", x.modify("no/h", "h\n", "H\n")},
		{"appeared", CodeStale, "d/g", x.create("d/g", "G\n", 0)},
		{"delete of other bytes", CodeStale, "d/g", x.remove("d/g", "old\n")},
		{"below a file", CodeStale, "d/g/h", x.create("d/g/h", "h\n", 0)},
		{"directory", CodeIsDirectory, "d", x.modify("d", "", "x")},
		{"create over directory", CodeIsDirectory, "d", x.create("d", "x", 0)},
		{"the root", CodeIsDirectory, ".", x.create(".", "x", 0)},
		{"outside", CodePathOutsideWorkspace, "../out", x.create("../out", "x", 0)},
		{"outside, below", CodePathOutsideWorkspace, "../out/a/b", x.create("../out/a/b", "x", 0)},
	} {
		t.Run(c.what, func(t *testing.T) {
			x.TB = t
			x.mustFail(c.code, c.name, ok, c.w)
		})
	}
}

func TestApplyManyFiles(t *testing.T) {
	// More than are synced one by one.
	x := newApplyTree(t, t.TempDir())
	var writes []write
	for i := range 5 * syncOneByOne {
		name := fmt.Sprintf("d%d/f%d", i%(2*syncOneByOne), i)
		x.put(name, "old", 0o644)
		writes = append(writes, x.modify(name, "old", name))
	}
	x.mustApply(writes...)
	for _, wr := range writes {
		x.want(wr.path.rel, wr.path.rel)
	}
	for i := range writes {
		writes[i] = x.modify(writes[i].path.rel, writes[i].path.rel, "again")
	}
	last := writes[len(writes)-1].path.rel
	writes[len(writes)-1].base.Data = []byte("other")
	x.mustFail(CodeStale, last, writes...)
}

func TestApplyCancelled(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	x.put("f", "old", 0o644)
	before := x.picture()
	for _, at := range []string{"checked", "prepare logged", "temporary file written", "staged"} {
		ctx, cancel := context.WithCancel(context.Background())
		x.w.step = func(stage string) {
			if stage == at {
				cancel()
			}
		}
		_, err := x.w.apply(ctx, []write{x.modify("f", "old", "new"), x.create("g", "g", 0)}, x.record)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at %q: %v", at, err)
		}
		if after := x.picture(); after != before {
			t.Errorf("cancelled at %q: not as before:\n%s\nbut\n%s", at, before, after)
		}
		cancel()
	}
	ctx, cancel := context.WithCancel(context.Background())
	x.w.step = func(stage string) {
		if stage == "commit logged" {
			cancel()
		}
	}
	if _, err := x.w.apply(ctx, []write{x.modify("f", "old", "new")}, x.record); err != nil {
		t.Errorf("cancelled after the commit was logged: %v", err)
	}
	x.want("f", "new")
}

func TestApplyLogFails(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	x.put("f", "old", 0o644)
	before := x.picture()
	broken := errors.New("journal is full")
	for _, ph := range []phase{phasePrepare, phaseCommit} {
		_, err := x.w.apply(context.Background(), []write{x.modify("f", "old", "new")}, func(in intent) error {
			if in.Phase == ph {
				return broken
			}
			return nil
		})
		if !errors.Is(err, broken) {
			t.Errorf("%s: %v", ph, err)
		}
		if after := x.picture(); after != before {
			t.Errorf("%s: not as before:\n%s\nbut\n%s", ph, before, after)
		}
	}
}

func TestIntentNamesSurviveJSON(t *testing.T) {
	for _, name := range []osName{"plain", "ä/€", "\xff\xfe raw", "", "base64"} {
		text, err := json.Marshal(intentFile{Rel: name})
		if err != nil {
			t.Fatal(err)
		}
		var back intentFile
		if err := json.Unmarshal(text, &back); err != nil || back.Rel != name {
			t.Errorf("%q came back as %q (%v)", name, back.Rel, err)
		}
	}
}
