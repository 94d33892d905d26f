package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// What is copied is bounded, so that a home directory given by mistake does no
// harm: a repository of a few thousand files is copied in a second.
const (
	maxFiles = 4000
	maxBytes = 64 << 20 // of all files
	maxFile  = 4 << 20  // of one file
)

// tree is the copy that the agent works on, and what it held before.
type tree struct {
	name    string // of the folder that was copied
	scratch string // private; holds everything
	dir     string // the copy
	before  map[string][]byte
	left    int // files that were not copied: too many, too large, not regular
}

// takeCopy copies a folder's files: those git knows or would add, or all when
// it is not a repository.
func takeCopy(ctx context.Context, folder string) (_ *tree, err error) {
	from, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	names, err := filesOf(ctx, from)
	if err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp("", "loomd-try-")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(scratch))
		}
	}()
	if scratch, err = filepath.EvalSymlinks(scratch); err != nil {
		return nil, err
	}
	t := &tree{name: filepath.Base(from), scratch: scratch, dir: filepath.Join(scratch, "work"), before: map[string][]byte{}}
	// The mark of a workspace: commands run in the copy find it by that.
	if err := os.MkdirAll(filepath.Join(t.dir, ".loom"), 0o755); err != nil {
		return nil, err
	}
	size := 0
	for _, name := range names {
		data, mode, ok, err := readFile(filepath.Join(from, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		if !ok || len(t.before) == maxFiles || size+len(data) > maxBytes {
			t.left++
			continue
		}
		size += len(data)
		t.before[name] = data
		to := t.path(name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(to, data, mode|0o600); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *tree) size() string {
	if t.left == 0 {
		return plural(len(t.before), "file")
	}
	return fmt.Sprintf("%s; %d left out: not regular, or too large for a trial", plural(len(t.before), "file"), t.left)
}

// filesOf names a folder's files, slash separated, sorted.
func filesOf(ctx context.Context, dir string) ([]string, error) {
	if info, err := os.Stat(dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, errors.New("not a folder")
	}
	cmd := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
	cmd.Dir = dir
	if out, err := cmd.Output(); err == nil {
		names := slices.DeleteFunc(strings.Split(string(out), "\x00"), func(s string) bool { return s == "" })
		slices.Sort(names)
		return names, nil
	}
	var names []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir():
			return nil
		case len(names) > maxFiles:
			return fs.SkipAll
		}
		rel, err := filepath.Rel(dir, path)
		names = append(names, filepath.ToSlash(rel))
		return err
	})
	slices.Sort(names)
	return names, err
}

// readFile reads a regular file of bounded size; ok is false for anything else,
// and for what is not there.
func readFile(path string) (data []byte, mode fs.FileMode, ok bool, err error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0, false, nil
	case err != nil:
		return nil, 0, false, err
	case !info.Mode().IsRegular() || info.Size() > maxFile:
		return nil, 0, false, nil
	}
	data, err = os.ReadFile(path)
	return data, info.Mode().Perm(), err == nil, err
}

// path is where a file of the copy is.
func (t *tree) path(name string) string { return filepath.Join(t.dir, filepath.FromSlash(name)) }

// unchanged fails unless the copy is what it was.
func (t *tree) unchanged() error {
	return t.is(map[string][]byte{})
}

// is fails unless the copy holds what it held before, but for the files in
// want: their bytes, nil for a file that must not be there.
func (t *tree) is(want map[string][]byte) error {
	seen := map[string]bool{}
	err := filepath.WalkDir(t.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(t.dir, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		seen[name] = true
		should, known := want[name]
		if !known {
			should, known = t.before[name]
		}
		if !known || should == nil {
			return fmt.Errorf("%s is on the disk and should not be", name)
		}
		now, err := os.ReadFile(path)
		if err == nil && !bytes.Equal(now, should) {
			err = fmt.Errorf("%s is not what it should be: %d bytes, expected %d", name, len(now), len(should))
		}
		return err
	})
	if err != nil {
		return err
	}
	for name := range t.before {
		if _, changed := want[name]; !changed && !seen[name] {
			return fmt.Errorf("%s is gone from the disk", name)
		}
	}
	for name, data := range want {
		if data != nil && !seen[name] {
			return fmt.Errorf("%s did not reach the disk", name)
		}
	}
	return nil
}
