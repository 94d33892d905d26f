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
