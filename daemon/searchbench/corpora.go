package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// corpus is a folder to search, in git.
type corpus struct {
	name  string
	dir   string
	files int
	bytes int64
}

// corpora makes Go's source tree, and eight copies of it under different names,
// in a cache folder unless they are there.
func corpora(ctx context.Context, cache string, copies []int) ([]corpus, error) {
	goroot, err := output(ctx, ".", nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	source := filepath.Join(strings.TrimSpace(string(goroot)), "src")
	var all []corpus
	for _, n := range copies {
		c := corpus{name: fmt.Sprintf("Go's source tree (%s)", runtime.Version()), dir: filepath.Join(cache, fmt.Sprintf("gosrc%d", n))}
		if n > 1 {
			c.name = fmt.Sprintf("%d copies of Go's source tree", n)
		}
		if err := c.make(ctx, source, n); err != nil {
			return nil, fmt.Errorf("making %s: %w", c.dir, err)
		}
		if err := c.count(); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// make copies the tree and commits it, or puts it back to that commit. What was
// interrupted is begun anew.
func (c *corpus) make(ctx context.Context, source string, copies int) error {
	complete := c.dir + ".complete"
	if _, err := os.Stat(complete); err == nil {
		if err := os.Remove(filepath.Join(c.dir, ".git/index.lock")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, args := range [][]string{{"checkout", "-q", "-f", "main"}, {"clean", "-q", "-f", "-d", "-x"}} {
			if _, err := output(ctx, c.dir, nil, append([]string{"git"}, args...)...); err != nil {
				return err
			}
		}
		return nil
	}
	fmt.Fprintln(os.Stderr, "making", c.dir)
	if err := os.RemoveAll(c.dir); err != nil {
		return err
	}
	for i := range copies {
		to := c.dir
		if copies > 1 {
			to = filepath.Join(c.dir, fmt.Sprintf("copy%d", i))
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.CopyFS(to, os.DirFS(source)); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"add", "-A", "-f"},
		{"-c", "gc.auto=0", "-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-q", "-m", "all"},
		{"gc", "-q"},
	} {
		if _, err := output(ctx, c.dir, nil, append([]string{"git"}, args...)...); err != nil {
			return err
		}
	}
	return os.WriteFile(complete, nil, 0o644)
}

func (c *corpus) count() error {
	return filepath.WalkDir(c.dir, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return filepath.SkipDir
		case d.Type().IsRegular():
			info, err := d.Info()
			if err != nil {
				return err
			}
			c.files++
			c.bytes += info.Size()
		}
		return nil
	})
}

// csearchIndex makes the index of csearch, "" when there is no cindex.
func (c *corpus) csearchIndex(ctx context.Context) (string, error) {
	if _, err := lookAny("cindex"); err != nil {
		return "", nil
	}
	index := c.dir + ".csearch"
	if _, err := os.Stat(index); err == nil {
		return index, nil
	}
	_, err := output(ctx, c.dir, []string{"CSEARCHINDEX=" + index}, "cindex", c.dir)
	return index, err
}
