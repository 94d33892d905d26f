package diffpreview

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

func (x *applyTree) path(name string) Path { return Path{0, name} }

func (x *applyTree) modify(name, old, text string) write {
	return write{
		path: x.path(name),
		base: Content{Exists: true, Data: []byte(old)}, want: Content{Exists: true, Data: []byte(text)},
	}
}

func (x *applyTree) create(name, text string, mode fs.FileMode) write {
	return write{path: x.path(name), want: Content{Exists: true, Data: []byte(text), Mode: mode}}
}

func (x *applyTree) remove(name, old string) write {
	return write{path: x.path(name), base: Content{Exists: true, Data: []byte(old)}}
}

// move takes a file from one name to another, with other bytes or not.
func (x *applyTree) move(from, to, old, text string) write {
	wr := x.modify(to, old, text)
	wr.from = x.path(from)
	return wr
}

// remode gives permissions to a write of a file that has others.
func remode(wr write, old, mode fs.FileMode) write {
	wr.base.Mode, wr.want.Mode = old, mode
	return wr
}

func linkTo(target string) Content {
	return Content{Exists: true, Data: []byte(target), Mode: fs.ModeSymlink | fs.ModePerm}
}

// relink turns what is base into a link.
func (x *applyTree) relink(name string, base Content, target string) write {
	return write{path: x.path(name), base: base, want: linkTo(target)}
}

// unlink turns a link into what want is.
func (x *applyTree) unlink(name, target string, want Content) write {
	return write{path: x.path(name), base: linkTo(target), want: want}
}

func file(text string) Content { return Content{Exists: true, Data: []byte(text)} }

func (x *applyTree) putLink(name, target string) {
	x.Helper()
	if err := os.MkdirAll(filepath.Dir(x.abs(name)), 0o755); err != nil {
		x.Fatal(err)
	}
	if err := os.Symlink(target, x.abs(name)); err != nil {
		x.Skipf("cannot make links here: %v", err)
	}
}

func (x *applyTree) wantLink(name, target string) {
	x.Helper()
	if got, err := os.Readlink(x.abs(name)); err != nil || got != target {
		x.Errorf("%s leads to %q (%v), want %q", name, got, err, target)
	}
}

// hardLink gives a file a second name.
func (x *applyTree) hardLink(name, second string) {
	x.Helper()
	if err := os.Link(x.abs(name), x.abs(second)); err != nil {
		x.Fatal(err)
	}
}

func (x *applyTree) modified(name string) time.Time {
	x.Helper()
	info, err := os.Lstat(x.abs(name))
	if err != nil {
		x.Fatal(err)
	}
	return info.ModTime()
}
