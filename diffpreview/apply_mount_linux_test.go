package diffpreview

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// mountOn mounts, or skips the test where this process may not.
func mountOn(t *testing.T, source, target, kind string, flags uintptr, data string) {
	t.Helper()
	if err := syscall.Mount(source, target, kind, flags, data); err != nil {
		t.Skipf("cannot mount: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(target, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

func TestApplyFullDisk(t *testing.T) {
	dir := t.TempDir()
	mountOn(t, "tmpfs", dir, "tmpfs", 0, "size=256k")
	x := newApplyTree(t, dir)
	x.put("f", "small\n", 0o644)
	x.put("linked", strings.Repeat("l", 5000), 0o644)
	x.put("z", "z\n", 0o644)
	if err := os.Link(x.abs("linked"), x.abs("link")); err != nil {
		t.Fatal(err)
	}
	huge := strings.Repeat("x", 300<<10)
	old := x.text("linked")
	x.mustFail(CodeNoSpace, "f", x.modify("f", "small\n", huge), x.modify("z", "z\n", "Z"))
	x.mustFail(CodeNoSpace, "z", x.modify("f", "small\n", "f"), x.modify("z", "z\n", huge))
	x.mustFail(CodeNoSpace, "new", x.modify("f", "small\n", "f"), x.create("new", huge, 0))
	x.mustFail(CodeNoSpace, "d/new", x.modify("f", "small\n", "f"), x.create("d/new", huge, 0))
	x.mustFail(CodeNoSpace, "linked", x.modify("f", "small\n", "f"), x.create("e/g", "g", 0), x.remove("z", "z\n"), x.modify("linked", old, huge))
	x.mustApply(x.modify("f", "small\n", "f"), x.modify("linked", old, "L"))
	x.want("link", "L")
}

func TestApplyReadOnlyFileSystem(t *testing.T) {
	dir := t.TempDir()
	mountOn(t, "tmpfs", dir, "tmpfs", 0, "size=64k")
	x := newApplyTree(t, dir)
	x.put("f", "f\n", 0o644)
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, "size=64k"); err != nil {
		t.Skip(err)
	}
	x.mustFail(CodePermissionDenied, "f", x.modify("f", "f\n", "F\n"))
	x.mustFail(CodePermissionDenied, "f", x.remove("f", "f\n"))
	x.mustFail(CodePermissionDenied, "g", x.create("g", "g\n", 0))
}

// Containers mount single files; such a name cannot be renamed.
func TestApplyMountedFile(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	x.put("source", "s\n", 0o644)
	x.put("f", "", 0o644)
	mountOn(t, x.abs("source"), x.abs("f"), "", syscall.MS_BIND, "")
	x.mustApply(x.modify("f", "s\n", "S\n"))
	x.want("source", "S\n")
	err := x.apply(x.remove("f", "S\n"))
	if CodeOf(err) != CodeIO {
		t.Errorf("delete of a mounted file: %v (%s)", err, CodeOf(err))
	}
	x.want("f", "S\n")
}

func TestApplyAcrossFileSystems(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	x.put("f", "f\n", 0o644)
	if err := os.Mkdir(x.abs("m"), 0o755); err != nil {
		t.Fatal(err)
	}
	mountOn(t, "tmpfs", x.abs("m"), "tmpfs", 0, "size=64k")
	x.put("m/g", "g\n", 0o644)
	x.mustApply(x.modify("f", "f\n", "F\n"), x.modify("m/g", "g\n", "G\n"), x.create("m/new/h", "h\n", 0))
	x.want("f", "F\n")
	x.want("m/g", "G\n")
	x.want("m/new/h", "h\n")
}

// On an overlay the first write replaces a file of the lower layer, with other
// numbers and without its hard links.
func TestApplyOverlay(t *testing.T) {
	dir := memoryDir(t)
	for _, name := range []string{"lower", "upper", "work", "merged"} {
		if err := os.Mkdir(dir+"/"+name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	lower := newApplyTree(t, dir+"/lower")
	for _, name := range []string{"plain", "linked", "gone"} {
		lower.put(name, name, 0o644)
	}
	if err := os.Link(lower.abs("linked"), lower.abs("twin")); err != nil {
		t.Fatal(err)
	}
	mountOn(t, "overlay", dir+"/merged", "overlay", 0, "lowerdir="+dir+"/lower,upperdir="+dir+"/upper,workdir="+dir+"/work")
	x := newApplyTree(t, dir+"/merged")
	x.mustApply(x.modify("plain", "plain", "PLAIN"), x.modify("linked", "linked", "LINKED"), x.remove("gone", "gone"), x.create("new/n", "n", 0))
	x.want("plain", "PLAIN")
	x.want("linked", "LINKED")
	x.wantAbsent("gone")
	lower.want("plain", "plain")
	lower.want("twin", "linked")
}

// A move to another file system is a copy with all that the file has; what
// cannot be kept is refused.
func TestApplyMovesAcrossFileSystems(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	for _, name := range []string{"a", "b", "c", "linked", "nowhere/f"} {
		x.put(name, name+"\n", 0o640)
	}
	x.hardLink("linked", "twin")
	x.putLink("link", "a")
	x.chown("a", 1000, 1001)
	if err := os.Mkdir(x.abs("m"), 0o755); err != nil {
		t.Fatal(err)
	}
	mountOn(t, "tmpfs", x.abs("m"), "tmpfs", 0, "size=64k")
	time := x.modified("a")
	x.mustFail(CodeInvalidArguments, "m/linked", x.move("a", "m/a", "a\n", "a\n"), x.move("linked", "m/linked", "linked\n", "linked\n"))
	writer, err := os.OpenFile(x.abs("c"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	x.mustFail(CodeStale, "c", x.move("a", "m/a", "a\n", "a\n"), x.move("c", "m/c", "c\n", "c\n"))
	writer.Close()
	x.mustApply(
		x.move("a", "m/new/a", "a\n", "a\n"), remode(x.move("b", "m/b", "b\n", "B\n"), 0o640, 0o755),
		write{path: x.path("m/link"), from: x.path("link"), base: linkTo("a"), want: linkTo("a")},
	)
	x.wantAbsent("a")
	x.want("m/new/a", "a\n")
	x.want("m/b", "B\n")
	x.wantLink("m/link", "a")
	x.wantOwner("m/new/a", 1000, 1001)
	if x.mode("m/new/a") != 0o640 || x.mode("m/b") != 0o755 || !x.modified("m/new/a").Equal(time) {
		t.Errorf("modes are %v and %v, time is %v", x.mode("m/new/a"), x.mode("m/b"), x.modified("m/new/a"))
	}
}

// The same file system mounted at another place takes no rename either.
func TestApplyMovesIntoABindMount(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	x.put("a", "a\n", 0o640)
	x.put("source/s", "s\n", 0o640)
	if err := os.Mkdir(x.abs("m"), 0o755); err != nil {
		t.Fatal(err)
	}
	mountOn(t, x.abs("source"), x.abs("m"), "", syscall.MS_BIND, "")
	x.mustApply(x.move("a", "m/a", "a\n", "a\n"))
	x.want("source/a", "a\n")
	x.wantAbsent("a")
}
