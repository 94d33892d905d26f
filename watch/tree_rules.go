package watch

import (
	"io/fs"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// ownRules says which entries of a directory rules are read from.
type ownRules struct{ git, gitignore, dotignore bool }

// input is a file that decides about ignore rules and is outside of the tree. It is
// looked at before every answer, unless it is watched.
type input struct {
	abs     string
	exists  bool // only whether it exists counts
	owner   string
	watched bool // events tell of all that happens to it

	there bool
	was   stamp
}

// noteInput looks at a file that is about to be read.
func noteInput(abs, owner string) input {
	in := input{abs: abs, owner: owner}
	at := time.Now().UnixNano()
	st, _, err := statPath(abs, true)
	if in.there = err == nil; in.there {
		in.was = st
		in.was.mark(at)
	}
	// git rewrites HEAD all the time, but what it holds changes no rule.
	in.exists = filepath.Base(abs) == "HEAD"
	return in
}

// changed reports whether the file may not be what it was when it was read.
func (in *input) changed() bool {
	now, _, err := statPath(in.abs, true)
	switch {
	case (err == nil) != in.there:
		return true
	case err != nil || in.exists:
		return false
	}
	return in.was.racy || !in.was.same(now)
}

// ruleReader reads what the rules of one directory are made of and notes it.
type ruleReader struct {
	tree    *Tree
	dir     string
	own     ownRules
	sources []byte
	inputs  []input
}

func (r *ruleReader) read(rel string) ([]byte, error) {
	in, below := strings.CutPrefix(rel, r.dir+"/")
	if r.dir == "." {
		in, below = rel, true
	}
	first, _, _ := strings.Cut(in, "/")
	if below {
		there := map[string]bool{".gitignore": r.own.gitignore, ".ignore": r.own.dotignore, ".git": r.own.git}
		if !there[first] {
			return nil, fs.ErrNotExist
		}
	}
	if !below || in != first { // events tell of the entries of the directory itself
		r.note(r.tree.watches.abs(rel))
	}
	data, err := r.tree.disk.readFile(rel)
	r.add(rel, data, err)
	return data, err
}

func (r *ruleReader) outside(abs string) ([]byte, error) {
	r.note(abs)
	data, err := ReadGitFile(abs)
	r.add(abs, data, err)
	return data, err
}

func (r *ruleReader) note(abs string) {
	for _, in := range r.inputs {
		if in.abs == abs {
			return
		}
	}
	r.inputs = append(r.inputs, noteInput(abs, r.dir))
}

func (r *ruleReader) add(name string, data []byte, err error) {
	r.sources = append(append(r.sources, name...), 0)
	if err == nil && filepath.Base(name) != "HEAD" {
		r.sources = strconv.AppendInt(r.sources, int64(len(data)), 10)
		r.sources = append(append(r.sources, ' '), data...)
	}
}

// readRules finds the rules inside a directory that was listed.
func (t *Tree) readRules(v *visit, own ownRules) {
	if own == (ownRules{}) && v.path != "." {
		v.rules = t.ignore.Dir(v.above, v.path, false)
		return
	}
	r := ruleReader{tree: t, dir: v.path, own: own}
	ig := *t.ignore
	ig.read, ig.outside = r.read, r.outside
	if v.path == "." {
		v.rules = ig.Dir(nil, ".", false)
	} else {
		repo := own.git && IsRepository(r.read, v.path)
		v.rules = ig.Dir(v.above, v.path, repo)
		r.sources = strconv.AppendBool(r.sources, repo)
	}
	v.sources, v.inputs = string(r.sources), r.inputs
}

// readSurroundings reads the rules that reach the root from outside, and reports
// whether they changed.
func (t *Tree) readSurroundings() (changed bool) {
	t.renewGuard()
	for range maxDoubts { // more than twice only while the way to them changes
		changed = t.readAround() || changed
		if !t.guardAround() {
			break
		}
	}
	return changed
}

func (t *Tree) readAround() bool {
	seen := map[string]bool{}
	t.aroundInputs = nil
	note := func(name string) {
		if dir, ok := strings.CutSuffix(filepath.ToSlash(name), "/.git/HEAD"); ok {
			// Without .git there is no HEAD: on the way up one look must do.
			own := filepath.FromSlash(dir + "/.git")
			if _, _, err := statPath(own, true); err != nil {
				name = own
			}
		}
		if !seen[name] {
			seen[name] = true
			t.aroundInputs = append(t.aroundInputs, noteInput(name, ""))
		}
	}
	around := readSurroundings(t.root, t.getenv, outsideFiles{
		following: func(name string) ([]byte, error) { note(name); return readFollowing(name) },
		own:       func(name string) ([]byte, error) { note(name); return readOwnFile(name) },
	})
	t.inputsTouched = true
	if t.ignore != nil && reflect.DeepEqual(around, t.around) {
		return false
	}
	t.around = around
	t.ignore = NewIgnore(IgnoreOptions{
		ReadFile: func(string) ([]byte, error) { return nil, fs.ErrNotExist },
		Root:     t.root,
		Around:   around,
		Warn: func(rel string, err error) {
			t.logger.Warn("ignore file cannot be read", "path", rel, "error", err)
		},
	})
	return true
}

// setInputs records what else the rules of a directory depend on.
func (t *Tree) setInputs(dir *treeDir, inputs []input) {
	if len(inputs) == 0 && len(dir.inputs) == 0 {
		return
	}
	dir.inputs = inputs
	t.inputsTouched = true
	if len(inputs) > 0 {
		t.withInputs[dir] = struct{}{}
	} else {
		delete(t.withInputs, dir)
	}
}

// outside is what has to be looked at, beside the events, to know that nothing
// changed. It does not change itself.
type outside struct {
	there  bool // there was a root
	root   fileKey
	inputs []input
}

// publish makes what the worker knows of the outside known to those who sync.
func (t *Tree) publish() {
	if !t.inputsTouched && t.outside.Load() != nil {
		return
	}
	t.inputsTouched = false
	o := &outside{inputs: append([]input(nil), t.aroundInputs...)}
	if t.disk != nil {
		o.there, o.root = true, t.disk.key()
	}
	for dir := range t.withInputs {
		o.inputs = append(o.inputs, dir.inputs...)
	}
	t.outside.Store(o)
}

// look compares the outside with what it was, also what is watched if all is to be
// looked at. Owners are the directories whose rules may have changed, "" for the
// surroundings.
func (o *outside) look(root string, all bool) (rootChanged bool, owners []string) {
	st, key, err := statPath(root, false)
	rootChanged = (err == nil && st.kind == Dir) != o.there || o.there && key != o.root
	for i := range o.inputs {
		if in := &o.inputs[i]; (all || !in.watched) && in.changed() {
			owners = append(owners, in.owner)
		}
	}
	return rootChanged, owners
}
