package diffpreview

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// nobody is the user and group that own nothing.
const nobody = 65534

// asNobody runs do with the file rights of nobody: Linux has them per thread.
func asNobody(t *testing.T, do func()) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root, to act as another user")
	}
	if err := os.Chmod(filepath.Dir(t.TempDir()), 0o755); err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	unix.Setfsgid(nobody)
	unix.Setfsuid(nobody)
	defer func() {
		unix.Setfsuid(0)
		unix.Setfsgid(0)
	}()
	do()
}

func (x *applyTree) inode(name string) uint64 {
	x.Helper()
	info, err := os.Lstat(x.abs(name))
	if err != nil {
		x.Fatal(err)
	}
	return identity(info).inode
}

func (x *applyTree) methods() string {
	var all []string
	for _, f := range x.log[len(x.log)-1].Files {
		all = append(all, string(f.Method))
	}
	return strings.Join(all, " ")
}

func (x *applyTree) wantMethods(want string) {
	x.Helper()
	if got := x.methods(); got != want {
		x.Errorf("methods are %q, want %q", got, want)
	}
}

func (x *applyTree) chown(name string, uid, gid int) {
	x.Helper()
	if err := os.Lchown(x.abs(name), uid, gid); err != nil {
		x.Skipf("cannot give a file to another user: %v", err)
	}
}

func (x *applyTree) wantOwner(name string, uid, gid uint32) {
	x.Helper()
	info, err := os.Lstat(x.abs(name))
	if err != nil {
		x.Fatal(err)
	}
	if st := info.Sys().(*syscall.Stat_t); st.Uid != uid || st.Gid != gid {
		x.Errorf("%s belongs to %d:%d, want %d:%d", name, st.Uid, st.Gid, uid, gid)
	}
}

func TestApplyFollowsUmaskC042(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	old := syscall.Umask(0o002)
	defer syscall.Umask(old)
	x.mustApply(x.create("n", "x\n", 0), x.create("d/n", "x\n", 0))
	if x.mode("n") != 0o664 || x.mode("d/n") != 0o664 || x.mode("d").Perm() != 0o775 {
		t.Errorf("modes are %v %v %v", x.mode("n"), x.mode("d/n"), x.mode("d"))
	}
}

func TestApplyKeepsHardLink(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	x.put("one", "a longer old text\n", 0o640)
	if err := os.Link(x.abs("one"), x.abs("two")); err != nil {
		t.Fatal(err)
	}
	inode := x.inode("one")
	for _, text := range []string{"short\n", "now it is the longer one of them\n", "now it is the longer ONE of them\n", ""} {
		x.mustApply(x.modify("one", x.text("one"), text))
		x.wantMethods("inplace")
		x.want("one", text)
		x.want("two", text)
		if x.inode("one") != inode || x.inode("two") != inode || x.mode("one") != 0o640 {
			t.Errorf("the hard link is broken")
		}
	}
	x.mustApply(x.remove("one", ""))
	x.want("two", "")
}

func TestApplyKeepsAttributesC049(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	x.put("f", "w\n", 0o644)
	if err := unix.Setxattr(x.abs("f"), "user.k", []byte("v"), 0); err != nil {
		t.Skipf("no extended attributes here: %v", err)
	}
	unix.Setxattr(x.abs("f"), "user.empty", nil, 0)
	x.mustApply(x.modify("f", "w\n", "W\n"))
	x.wantMethods("exchange")
	value := make([]byte, 10)
	if n, err := unix.Getxattr(x.abs("f"), "user.k", value); err != nil || string(value[:n]) != "v" {
		t.Errorf("user.k is %q (%v)", value[:max(n, 0)], err)
	}
	if n, err := unix.Getxattr(x.abs("f"), "user.empty", value); err != nil || n != 0 {
		t.Errorf("user.empty has %d bytes (%v)", n, err)
	}
}

// accessList encodes the entries of a POSIX ACL as the kernel has them: tag,
// permissions, id.
func accessList(entries ...[3]uint32) []byte {
	var b bytes.Buffer
	binary.Write(&b, binary.LittleEndian, uint32(2))
	for _, e := range entries {
		binary.Write(&b, binary.LittleEndian, uint16(e[0]))
		binary.Write(&b, binary.LittleEndian, uint16(e[1]))
		binary.Write(&b, binary.LittleEndian, e[2])
	}
	return b.Bytes()
}

func TestApplyKeepsACL(t *testing.T) {
	const none = ^uint32(0)
	list := accessList([3]uint32{1, 6, none}, [3]uint32{2, 4, 1000}, [3]uint32{4, 0, none}, [3]uint32{16, 4, none}, [3]uint32{32, 0, none})
	x := newApplyTree(t, t.TempDir())
	x.put("listed", "w\n", 0o600)
	if err := unix.Setxattr(x.abs("listed"), "system.posix_acl_access", list, 0); err != nil {
		t.Skipf("no ACLs here: %v", err)
	}
	x.put("plain", "w\n", 0o640)
	// New files of the directory get this list; the plain file must not.
	if err := unix.Setxattr(x.dir, "system.posix_acl_default", list, 0); err != nil {
		t.Fatal(err)
	}
	listed := x.mode("listed")
	x.mustApply(x.modify("listed", "w\n", "W\n"), x.modify("plain", "w\n", "W\n"))
	x.wantMethods("exchange exchange")
	got := make([]byte, 100)
	if n, err := unix.Getxattr(x.abs("listed"), "system.posix_acl_access", got); err != nil || !bytes.Equal(got[:n], list) {
		t.Errorf("the list is %x (%v), want %x", got[:max(n, 0)], err, list)
	}
	if _, err := unix.Getxattr(x.abs("plain"), "system.posix_acl_access", got); !errors.Is(err, unix.ENODATA) {
		t.Errorf("the plain file got a list (%v)", err)
	}
	if x.mode("listed") != listed || x.mode("plain") != 0o640 {
		t.Errorf("modes are %v and %v", x.mode("listed"), x.mode("plain"))
	}
}

func TestApplyKeepsOwner(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	x.put("f", "w\n", 0o640)
	x.chown("f", 1000, 1001)
	x.mustApply(x.modify("f", "w\n", "W\n"))
	x.wantMethods("exchange")
	x.wantOwner("f", 1000, 1001)
	if x.mode("f") != 0o640 {
		t.Errorf("mode is %v", x.mode("f"))
	}
}

func TestApplyKeepsOwnerInPlace(t *testing.T) {
	// nobody may write the file, and files in the directory, but not give any away.
	x := newApplyTree(t, t.TempDir())
	x.put("f", "w\n", 0o666)
	os.Chmod(x.dir, 0o777)
	inode := x.inode("f")
	asNobody(t, func() { x.mustApply(x.modify("f", "w\n", "W, and more\n")) })
	x.wantMethods("inplace")
	x.want("f", "W, and more\n")
	x.wantOwner("f", 0, 0)
	if x.inode("f") != inode {
		t.Error("the file is another one")
	}
}

func TestRecoverUnlikeTemporaryFile(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	x.put("f", "w\n", 0o666)
	os.Chmod(x.dir, 0o777)
	wr := x.modify("f", "w\n", "W\n")
	asNobody(t, func() {
		x.w.step = func(stage string) {
			if stage == "overwritten" {
				panic(crashed{})
			}
		}
		defer func() { recover() }()
		x.apply(wr)
	})
	x.w.step = func(string) {}
	if !x.restart([]write{wr}) {
		t.Error("not applied")
	}
	x.want("f", "W\n")
	x.noTemps()
}

func TestApplyReadOnlyC047(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	x.put("f", "w\n", 0o444)
	x.put("mine", "m\n", 0o644)
	x.put("hidden", "h\n", 0o222)
	for _, name := range []string{"f", "mine", "hidden", "."} {
		x.chown(name, nobody, nobody)
	}
	asNobody(t, func() {
		for _, wr := range []write{x.modify("f", "w\n", "W\n"), x.remove("f", "w\n")} {
			before := x.inode("f")
			err := x.apply(x.modify("mine", "m\n", "M\n"), wr)
			var e *Error
			if !errors.As(err, &e) || e.Code != CodePermissionDenied || e.Path != "f" {
				t.Errorf("apply: %v (%s)", err, CodeOf(err))
			}
			if len(x.log) != 0 || x.inode("f") != before || x.mode("f") != 0o444 {
				t.Error("something happened")
			}
		}
		if err := x.apply(x.modify("hidden", "h\n", "H\n")); CodeOf(err) != CodePermissionDenied {
			t.Errorf("unreadable file: %v", err)
		}
	})
	x.want("f", "w\n")
	x.want("mine", "m\n")
	x.noTemps()
}

func TestApplyUnwritableDirectory(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	x.put("d/f", "w\n", 0o644)
	x.put("d/g", "g\n", 0o644)
	x.chown("d/f", nobody, nobody)
	x.chown("d/g", nobody, nobody)
	inode := x.inode("d/f")
	asNobody(t, func() {
		x.mustApply(x.modify("d/f", "w\n", "W\n"))
		x.wantMethods("inplace")
		x.want("d/f", "W\n")
		x.mustFail(CodePermissionDenied, "d/g", x.modify("d/f", "W\n", "x"), x.remove("d/g", "g\n"))
		x.mustFail(CodePermissionDenied, "d/new", x.modify("d/f", "W\n", "x"), x.create("d/new", "g\n", 0))
		x.mustFail(CodePermissionDenied, "d/e/new", x.modify("d/f", "W\n", "x"), x.create("d/e/new", "g\n", 0))
	})
	if x.inode("d/f") != inode {
		t.Error("the file is another one")
	}
}

func TestApplySpecialFiles(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	x.put("f", "f\n", 0o644)
	if err := syscall.Mkfifo(x.abs("p"), 0o644); err != nil {
		t.Skip(err)
	}
	os.Symlink("f", x.abs("link"))
	os.Symlink(".", x.abs("loop"))
	os.Symlink("nowhere", x.abs("dangling"))
	ok := x.modify("f", "f\n", "never\n")
	x.mustFail(CodeNotRegularFile, "p", ok, x.modify("p", "", "x"))
	x.mustFail(CodeNotRegularFile, "p", ok, x.create("p", "x", 0))
	x.mustFail(CodeNotRegularFile, "p", ok, x.remove("p", ""))
	x.mustFail(CodeStale, "link", ok, x.modify("link", "f\n", "x"))
	x.mustFail(CodeStale, "dangling", ok, x.create("dangling", "x", 0))
	x.mustFail(CodeStale, "loop/f", x.modify("loop/f", "f\n", "x"))
	if err := unix.Mknod(x.abs("null"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))); err == nil {
		x.mustFail(CodeNotRegularFile, "null", ok, x.modify("null", "", "x"))
	}
}

// A program that has the file open for writing keeps writing to the file that
// the name stands for.
func TestApplyOpenFileIsWrittenInPlace(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	x.put("log", "one\n", 0o644)
	file, err := os.OpenFile(x.abs("log"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	reader, err := os.Open(x.abs("log"))
	if err != nil {
		t.Fatal(err)
	}
	if !openForWriting(reader) {
		t.Skip("this file system does not tell who writes")
	}
	reader.Close()
	x.mustApply(x.modify("log", "one\n", "ONE\n"))
	x.wantMethods("inplace")
	file.WriteString("two\n")
	x.want("log", "ONE\ntwo\n")
}

func TestApplyExecutable(t *testing.T) {
	// A program that is being executed cannot be opened for writing, but replaced.
	x := newApplyTree(t, t.TempDir())
	program, err := os.ReadFile("/bin/cat")
	if err != nil {
		t.Skip(err)
	}
	x.put("cat", string(program), 0o755)
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	process, err := os.StartProcess(x.abs("cat"), []string{"cat"}, &os.ProcAttr{Files: []*os.File{in}})
	if err != nil {
		t.Skip(err)
	}
	in.Close()
	defer process.Wait()
	defer process.Kill()
	x.mustApply(x.modify("cat", string(program), "#!/bin/sh\n"))
	x.want("cat", "#!/bin/sh\n")
	if x.mode("cat") != 0o755 {
		t.Errorf("mode is %v", x.mode("cat"))
	}
}

// A directory changes places with a link to another directory of the workspace,
// again and again. Nothing is written through the link.
func TestApplyFollowsNoSwappedLink(t *testing.T) {
	x := newApplyTree(t, memoryDir(t))
	x.put("d/f", "0", 0o644)
	x.put("other/f", "0", 0o644)
	if err := os.Symlink("other", x.abs("link")); err != nil {
		t.Fatal(err)
	}
	dir, err := os.OpenRoot(x.abs("d"))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	before := x.inode("other/f")
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				unix.Renameat2(unix.AT_FDCWD, x.abs("d"), unix.AT_FDCWD, x.abs("link"), unix.RENAME_EXCHANGE)
			}
		}
	}()
	written := 0
	for range 3000 {
		if x.apply(x.modify("d/f", "0", "1")) == nil {
			written++
			if err := dir.WriteFile("f", []byte("0"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	close(stop)
	<-stopped
	x.want("other/f", "0")
	if x.inode("other/f") != before {
		t.Error("the other file is another one")
	}
	x.noTemps()
	t.Logf("%d of 3000 writes found the directory", written)
}
