package index_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// writer changes a directory of its own and tells the model. It is used by one
// goroutine.
type writer struct {
	m     *model
	rng   *rand.Rand
	root  string // of the whole tree
	dir   string // its own, relative to root
	attic string // outside of the root, on the same file system
	disk  tree
	count int
	calm  bool   // no directory moves: a plain scan may read one that does under its old name
	last  string // what is being done
}

// ignoreTemps is what a writer's ignore file says when it hides its *.tmp.
const ignoreTemps = "*.tmp\n"

// visible is what a search sees of a disk.
func (w *writer) visible(disk tree) tree {
	if disk[w.dir+"/.gitignore"].text != ignoreTemps {
		return disk
	}
	v := maps.Clone(disk)
	for p, s := range v {
		if strings.HasSuffix(p, ".tmp") {
			v[p] = state{hidden, s.text}
		}
	}
	return v
}

// text is unlike every other one.
func (w *writer) text() string {
	w.count++
	return fmt.Sprintf("first line of %s\nneedle %s-%d\nlast line\n", w.dir, filepath.Base(w.dir), w.count)
}

func (w *writer) abs(p string) string { return filepath.Join(w.root, p) }

// to brings the disk to another state by act.
func (w *writer) to(what string, after tree, between []state, act func() error) error {
	w.last = what
	err := w.m.change(w.visible(w.disk), w.visible(after), between, act)
	w.disk = after
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// below are the paths of a directory.
func (w *writer) below(dir string) []string {
	var list []string
	for p := range w.disk {
		if strings.HasPrefix(p, dir+"/") {
			list = append(list, p)
		}
	}
	return list
}

func (w *writer) freePath() string {
	dirs := []string{"d1", "d2", "d1/e", "d3/f/g", "d.x"}
	return w.dir + "/" + pick(w.rng, dirs) + "/" + pick(w.rng, []string{"a.txt", "b.txt", "c.go", "z.tmp", "y.tmp"})
}

func (w *writer) somePath() (string, bool) {
	files := slices.DeleteFunc(slices.Sorted(maps.Keys(w.disk)), func(p string) bool {
		return w.disk[p].kind != aFile || strings.HasSuffix(p, ".gitignore")
	})
	if len(files) == 0 {
		return "", false
	}
	return pick(w.rng, files), true
}

// clear says whether a file can be written at p: no link on the way.
func (w *writer) clear(p string) bool {
	for dir := filepath.Dir(p); dir != "."; dir = filepath.Dir(dir) {
		if w.disk[dir].kind != absent {
			return false
		}
	}
	return w.disk[p].kind != aLink && len(w.below(p)) == 0
}

// write makes or replaces a file in place: for a moment it is empty.
func (w *writer) write() error {
	p := w.freePath()
	if !w.clear(p) {
		return nil
	}
	after := maps.Clone(w.disk)
	after[p] = state{aFile, w.text()}
	return w.to("write "+p, after, []state{{kind: aFile}}, func() error {
		if err := os.MkdirAll(filepath.Dir(w.abs(p)), 0o755); err != nil {
			return err
		}
		return os.WriteFile(w.abs(p), []byte(after[p].text), 0o644)
	})
}

// replace makes a file by a rename, as editors do. The temporary one lies
// outside.
func (w *writer) replace() error {
	p, ok := w.somePath()
	if !ok {
		return nil
	}
	after := maps.Clone(w.disk)
	after[p] = state{aFile, w.text()}
	temp := filepath.Join(w.attic, "new")
	if err := os.WriteFile(temp, []byte(after[p].text), 0o644); err != nil {
		return err
	}
	return w.to("replace "+p, after, nil, func() error { return os.Rename(temp, w.abs(p)) })
}

// appendTo lets a file grow by one write.
func (w *writer) appendTo() error {
	p, ok := w.somePath()
	if !ok {
		return nil
	}
	more := w.text()
	after := maps.Clone(w.disk)
	after[p] = state{aFile, w.disk[p].text + more}
	if len(after[p].text) > 2000 {
		return nil
	}
	return w.to("append to "+p, after, nil, func() error {
		f, err := os.OpenFile(w.abs(p), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.WriteString(more)
		return err
	})
}

func (w *writer) remove() error {
	p, ok := w.somePath()
	if !ok {
		return nil
	}
	after := maps.Clone(w.disk)
	delete(after, p)
	return w.to("remove "+p, after, nil, func() error { return os.Remove(w.abs(p)) })
}

func (w *writer) renameFile() error {
	from, ok := w.somePath()
	to := w.freePath()
	if !ok || from == to || !w.clear(to) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(w.abs(to)), 0o755); err != nil {
		return err
	}
	after := maps.Clone(w.disk)
	after[to] = after[from]
	delete(after, from)
	return w.to("rename "+from+" to "+to, after, nil, func() error { return os.Rename(w.abs(from), w.abs(to)) })
}

// moved is the disk with all of directory from under to; to "" drops it.
func (w *writer) moved(from, to string) tree {
	after := maps.Clone(w.disk)
	for _, p := range w.below(from) {
		if to != "" {
			after[to+strings.TrimPrefix(p, from)] = after[p]
		}
		delete(after, p)
	}
	return after
}

// renameDir moves a directory to where none is.
func (w *writer) renameDir() error {
	dirs := []string{"d1", "d2", "d1/e", "d3", "d3/f", "d.x", "m1", "m2"}
	from, to := w.dir+"/"+pick(w.rng, dirs), w.dir+"/"+pick(w.rng, dirs)
	if len(w.below(from)) == 0 || strings.HasPrefix(to+"/", from+"/") || !w.clear(to) {
		return nil
	}
	if err := os.RemoveAll(w.abs(to)); err != nil { // empty directories
		return err
	}
	if err := os.MkdirAll(filepath.Dir(w.abs(to)), 0o755); err != nil {
		return err
	}
	return w.to("rename "+from+" to "+to, w.moved(from, to), nil, func() error { return os.Rename(w.abs(from), w.abs(to)) })
}

func (w *writer) removeDir() error {
	dir := w.dir + "/" + pick(w.rng, []string{"d1", "d2", "d1/e", "d3/f", "m1", "m2"})
	if !w.clear(dir + "/f") {
		return nil
	}
	return w.to("remove all of "+dir, w.moved(dir, ""), nil, func() error { return os.RemoveAll(w.abs(dir)) })
}

// swap puts a link in the place of a directory, to where the directory went:
// files of other texts are to be had through it, and must not be found.
func (w *writer) swap() error {
	dir := w.dir + "/" + pick(w.rng, []string{"d1", "d2", "d3/f", "m1"})
	if len(w.below(dir)) == 0 || !w.clear(dir+"/f") {
		return nil
	}
	away := filepath.Join(w.attic, "away")
	if err := os.RemoveAll(away); err != nil {
		return err
	}
	before, after := w.below(dir), w.moved(dir, "")
	after[dir] = state{kind: aLink}
	return w.to("swap "+dir+" for a link", after, []state{{}}, func() error {
		if err := os.Rename(w.abs(dir), away); err != nil {
			return err
		}
		for _, p := range before {
			if w.disk[p].kind != aFile { // a link, of an earlier swap
				continue
			}
			if err := os.WriteFile(away+strings.TrimPrefix(p, dir), []byte("needle stolen\n"), 0o644); err != nil {
				return err
			}
		}
		return os.Symlink(away, w.abs(dir))
	})
}

func (w *writer) removeLink() error {
	for p, s := range w.disk {
		if s.kind == aLink {
			after := maps.Clone(w.disk)
			delete(after, p)
			return w.to("remove the link "+p, after, nil, func() error { return os.Remove(w.abs(p)) })
		}
	}
	return nil
}

// hide writes or removes the ignore file.
func (w *writer) hide() error {
	p := w.dir + "/.gitignore"
	after := maps.Clone(w.disk)
	if w.disk[p].kind == absent {
		after[p] = state{aFile, ignoreTemps}
		temp := filepath.Join(w.attic, "rules")
		if err := os.WriteFile(temp, []byte(ignoreTemps), 0o644); err != nil {
			return err
		}
		return w.to("ignore *.tmp", after, nil, func() error { return os.Rename(temp, w.abs(p)) })
	}
	delete(after, p)
	return w.to("ignore nothing", after, nil, func() error { return os.Remove(w.abs(p)) })
}

// writerOps begin with those that a calm writer does.
var writerOps = []func(*writer) error{
	(*writer).write, (*writer).write, (*writer).write, (*writer).replace, (*writer).replace, (*writer).appendTo, (*writer).remove, (*writer).renameFile,
	(*writer).renameFile, (*writer).hide, (*writer).removeDir, (*writer).removeLink, (*writer).renameDir, (*writer).renameDir, (*writer).swap,
}

const calmOps = 12

func (w *writer) step() error {
	n := len(writerOps)
	if w.calm {
		n = calmOps
	}
	return writerOps[w.rng.IntN(n)](w)
}
