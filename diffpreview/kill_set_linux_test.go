//go:build amd64 || arm64

package diffpreview

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// killForm is a file or a link, or nothing.
type killForm struct {
	mode fs.FileMode // 0: nothing
	text string      // of a link its target
	attr string      // of killAttribute
}

func fileForm(mode fs.FileMode, text string) killForm { return killForm{mode: mode, text: text} }

// killAttribute is an extended attribute that some of the files have.
const killAttribute = "user.loomd-test"

func (f killForm) with(attr string) killForm { f.attr = attr; return f }

// Texts longer than [inlineBody] are files of their own in the journal. What
// each of the two hunks of an edit replaces is so long, too.
var (
	longText   = numbered(600, nil)
	longEdit   = rewritten("%d edited\n")
	longGrown  = rewritten("%d edited\nand longer\n")
	longShrunk = rewritten("%x\n")
)

// rewritten is longText with most lines in another form.
func rewritten(form string) string {
	lines := map[int]string{}
	for i := range 280 {
		lines[10+i] = fmt.Sprintf(form, 10+i)
		lines[310+i] = fmt.Sprintf(form, 310+i)
	}
	return numbered(600, lines)
}

// killSet is the change set, in kinds of files: how many of each, their name,
// and what they are before and after. twin files have a second hard link, which
// must show the same; moved ones have another name before.
var killSet = []struct {
	n        int
	name     string
	old, new killForm
	twin     bool
	moved    string
}{
	{n: 5, name: "src/plain%d.go", old: fileForm(0o644, longText), new: fileForm(0o644, longEdit)},
	{n: 2, name: "src/short%d.go", old: fileForm(0o644, "1\n2\n"), new: fileForm(0o644, "1\n3\n")},
	{n: 4, name: "private%d/key", old: fileForm(0o600, longText), new: fileForm(0o600, longEdit)},
	{n: 4, name: "bin/run%d", old: fileForm(0o755, longText), new: fileForm(0o755, longEdit)},
	{n: 3, name: "attr/f%d", old: fileForm(0o644, longText).with("kept"), new: fileForm(0o644, longEdit).with("kept")},
	{n: 4, name: "linked/grows%d", old: fileForm(0o644, longText), new: fileForm(0o644, longGrown), twin: true},
	{n: 3, name: "linked/shrinks%d", old: fileForm(0o640, longText), new: fileForm(0o640, longShrunk), twin: true},
	{n: 4, name: "src/new%d.go", new: fileForm(0o644, longText)},
	{n: 4, name: "fresh/%d/deep/f", new: fileForm(0o644, "new\n")},
	{n: 2, name: "gone/f%d", old: fileForm(0o644, longText)},
	{n: 2, name: "gone%d/only", old: fileForm(0o600, "x\n")},
	{n: 2, name: "moved/to%d", moved: "moved/from%d", old: fileForm(0o644, longText), new: fileForm(0o644, longEdit)},
	{n: 3, name: "away%d/deep/f", moved: "moved/f%d", old: fileForm(0o640, longText), new: fileForm(0o640, longText)},
	{n: 2, name: "mode/runs%d", old: fileForm(0o644, longText), new: fileForm(0o755, longText)},
	{n: 1, name: "mode/edited%d", old: fileForm(0o755, longText), new: fileForm(0o644, longEdit)},
	{n: 2, name: "links/new%d", new: fileForm(fs.ModeSymlink|0o777, "../bystander")},
	{n: 1, name: "links/turned%d", old: fileForm(fs.ModeSymlink|0o777, "../bystander"), new: fileForm(fs.ModeSymlink|0o777, "../src")},
	{n: 1, name: "links/gone%d", old: fileForm(fs.ModeSymlink|0o777, "nowhere")},
	{n: 1, name: "links/was-file%d", old: fileForm(0o644, longText), new: fileForm(fs.ModeSymlink|0o777, "../bystander")},
}

// killFile is one file of the set.
type killFile struct {
	name, moved string
	old, new    killForm
	twin        bool
}

// unique is f with its name in every line of a text, so that no two files share
// a body of the journal.
func (f killForm) unique(name string) killForm {
	f.text = strings.ReplaceAll(f.text, "\n", " of "+name+"\n")
	return f
}

func killFiles() []killFile {
	var all []killFile
	for _, kind := range killSet {
		for i := range kind.n {
			name := fmt.Sprintf(kind.name, i)
			f := killFile{name: name, old: kind.old.unique(name), new: kind.new.unique(name), twin: kind.twin}
			if kind.moved != "" {
				f.moved = fmt.Sprintf(kind.moved, i)
			}
			all = append(all, f)
		}
	}
	return all
}

// killTrees are the workspace before and after the set.
func killTrees(files []killFile) (old, done treeCopy) {
	old, done = treeCopy{"bystander": {killForm: fileForm(0o640, "not in the set\n")}}, treeCopy{}
	for _, f := range files {
		at := f.name
		if f.moved != "" {
			at = f.moved
		}
		if f.old.mode != 0 {
			old.add(at, copied{killForm: f.old})
		}
		if f.twin {
			old.add(f.name+"-twin", copied{killForm: f.old, twin: f.name})
		}
	}
	maps.Copy(done, old) // the directories of what is gone stay
	for _, f := range files {
		delete(done, f.moved)
		delete(done, f.name)
		if f.new.mode != 0 {
			done.add(f.name, copied{killForm: f.new})
		}
		if f.twin {
			done.add(f.name+"-twin", copied{killForm: f.new, twin: f.name})
		}
	}
	return old, done
}

// propose makes the view of a session have the file's new form.
func (f killFile) propose(t *testing.T, v *View) *Proposal {
	t.Helper()
	at := killPath(t, v, f.name)
	var step Step
	var err error
	if f.moved != "" {
		if step, err = v.Rename(context.Background(), killPath(t, v, f.moved), at, Call{ID: "c", Tool: "test"}); err != nil {
			t.Fatal(err)
		}
	}
	if f.moved == "" || f.old != f.new {
		step, err = v.Propose(context.Background(), at, Call{ID: "c", Tool: "test"}, func(now Content) (Content, error) {
			if f.new.mode == 0 {
				return Content{}, nil
			}
			now.Exists, now.Data = true, []byte(f.new.text)
			if f.old.mode != 0 && f.old.mode != f.new.mode || f.new.mode&fs.ModeSymlink != 0 {
				now.Mode = f.new.mode
			}
			return now, nil
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return step.Proposal
}

// killPath is the place of a name that is no link's.
func killPath(t *testing.T, v *View, name string) Path {
	t.Helper()
	p, err := v.Resolve(path.Dir(name))
	if err != nil {
		t.Fatal(err)
	}
	p.rel = path.Join(p.rel, path.Base(name))
	return p
}

// treeCopy is all that is below a directory, by its slash path.
type treeCopy map[string]copied

type copied struct {
	killForm
	twin string // the first name of the same file
}

func (c treeCopy) add(name string, one copied) {
	c[name] = one
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		c[dir] = copied{killForm: fileForm(fs.ModeDir|0o755, "")}
	}
}

func copyTree(t *testing.T, root string) treeCopy {
	t.Helper()
	all := treeCopy{}
	inodes := map[uint64]string{}
	err := filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		if err != nil || at == root {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(at, root+"/"))
		info, err := d.Info()
		if err != nil {
			return err
		}
		one := copied{killForm: fileForm(info.Mode(), "")}
		switch info.Mode().Type() {
		case 0:
			var data []byte
			data, err = os.ReadFile(at)
			one.text = string(data)
			value := make([]byte, 64)
			if n, err := unix.Lgetxattr(at, killAttribute, value); err == nil {
				one.attr = string(value[:n])
			}
			inode := info.Sys().(*syscall.Stat_t).Ino
			if one.twin = inodes[inode]; one.twin == "" {
				inodes[inode] = name
			}
		case fs.ModeSymlink:
			one.text, err = os.Readlink(at)
		}
		all[name] = one
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// longAgo is when the files of a copy were modified: long enough ago to be no
// reason for a second look.
var longAgo = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// write makes root hold the copy and nothing else.
func (c treeCopy) write(t *testing.T, root string) {
	t.Helper()
	err := os.RemoveAll(root)
	if err == nil {
		err = os.Mkdir(root, 0o700)
	}
	for _, name := range slices.Sorted(maps.Keys(c)) {
		at, one := filepath.Join(root, name), c[name]
		switch {
		case err != nil:
		case one.mode.IsDir():
			err = os.Mkdir(at, one.mode.Perm())
		case one.mode&fs.ModeSymlink != 0:
			err = os.Symlink(one.text, at)
		case one.twin != "":
			err = os.Link(filepath.Join(root, one.twin), at)
		default:
			err = one.killForm.write(at)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (f killForm) write(at string) error {
	err := os.WriteFile(at, []byte(f.text), f.mode.Perm())
	if err == nil && f.attr != "" {
		err = unix.Lsetxattr(at, killAttribute, []byte(f.attr), 0)
	}
	if err == nil {
		err = os.Chtimes(at, longAgo, longAgo)
	}
	return err
}

// differences says where got is not c; "" for nowhere.
func (c treeCopy) differences(got treeCopy) string {
	var b strings.Builder
	both := maps.Clone(c)
	maps.Copy(both, got)
	for _, name := range slices.Sorted(maps.Keys(both)) {
		want, got := c[name], got[name]
		switch {
		case want == got:
		case want.mode == got.mode && want.twin == got.twin && want.attr == got.attr:
			fmt.Fprintf(&b, "%s: %d bytes, hash %.8s, want %d, %.8s\n", name,
				len(got.text), hashBytes([]byte(got.text)), len(want.text), hashBytes([]byte(want.text)))
		default:
			fmt.Fprintf(&b, "%s: mode %v, second link of %q, attribute %q, want %v, %q, %q (no mode: not there)\n", name,
				got.mode, got.twin, got.attr, want.mode, want.twin, want.attr)
		}
	}
	return b.String()
}
