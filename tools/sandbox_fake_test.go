package tools

import (
	"bytes"
	"context"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/loomd/loomd/diffpreview"
)

// copies is a Sandbox for tests: a copy of the view's files in a new directory for
// every command.
type copies struct {
	t    testing.TB
	view *diffpreview.View
	dir  string // in which the copies are
	open atomic.Int64
	fail error // of every End

	mu   sync.Mutex // guards last
	last string
}

type copied struct {
	*copies
	root, start string
	before      map[string]string
}

// withSandbox gives b's calls a place for commands, and jobs. In the end no place must
// be in use.
func (b *bench) withSandbox() *copies {
	b.t.Helper()
	c := &copies{t: b.t, view: b.view, dir: b.t.TempDir()}
	jobs := NewJobs()
	b.sandbox, b.jobs = c, jobs
	b.t.Cleanup(func() {
		jobs.Close()
		if n := c.open.Load(); n != 0 {
			b.t.Errorf("%d places were not given back", n)
		}
	})
	return c
}

// newest is the directory of the copy that was made last.
func (c *copies) newest() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

func (c *copies) Begin(ctx context.Context, cwd string) (Workdir, error) {
	if cwd == "" {
		cwd = "."
	}
	start, err := c.view.Resolve(cwd)
	if err != nil {
		return nil, err
	}
	if _, err := c.view.List(start); err != nil {
		return nil, err
	}
	root, err := os.MkdirTemp(c.dir, "copy")
	if err != nil {
		return nil, err
	}
	top, err := c.view.Resolve(".")
	if err != nil {
		return nil, err
	}
	w := &copied{copies: c, root: root, start: filepath.Join(root, filepath.FromSlash(c.view.Name(start)))}
	if err := w.fill(top, root); err != nil {
		return nil, err
	}
	w.before = w.files()
	c.open.Add(1)
	c.mu.Lock()
	c.last = root
	c.mu.Unlock()
	return w, ctx.Err()
}

func (w *copied) fill(dir diffpreview.Path, to string) error {
	entries, err := w.view.List(dir)
	if diffpreview.CodeOf(err) == diffpreview.CodePermissionDenied {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		p, err := w.view.Resolve(path.Join(w.view.Name(dir), e.Name))
		if err != nil {
			return err
		}
		at := filepath.Join(to, e.Name)
		if e.IsDir {
			err = os.Mkdir(at, 0o755)
			if err == nil {
				err = w.fill(p, at)
			}
		} else if e.Mode.IsRegular() {
			var c diffpreview.Content
			if c, err = w.view.Read(p); err != nil {
				continue // too large, or not to be read
			}
			err = os.WriteFile(at, c.Data, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// files are the texts of the copy by their names.
func (w *copied) files() map[string]string {
	all := map[string]string{}
	err := filepath.WalkDir(w.root, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var data []byte
			data, err = os.ReadFile(name)
			all[filepath.ToSlash(strings.TrimPrefix(name, w.root+string(filepath.Separator)))] = string(data)
		}
		return err
	})
	must(w.t, err)
	return all
}

func (w *copied) Dir() string                { return w.start }
func (w *copied) Env() []string              { return []string{"IN_SANDBOX=yes", "PAGER=none"} }
func (w *copied) Name(path string) string    { return strings.TrimPrefix(path, w.root+"/") }
func (w *copied) discards(name string) bool  { return strings.HasPrefix(name, ".git/") }
func (w *copied) isIgnored(name string) bool { return strings.HasSuffix(name, ".o") }

func (w *copied) End(ctx context.Context, call diffpreview.Call) (left Left, err error) {
	w.copies.open.Add(-1)
	defer os.RemoveAll(w.root)
	if err := ctx.Err(); err != nil {
		return left, err
	}
	if w.fail != nil {
		return left, w.fail
	}
	after := w.files()
	names := maps.Clone(w.before)
	maps.Copy(names, after)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		was, there := w.before[name]
		now, stays := after[name]
		switch {
		case was == now && there == stays:
			continue
		case w.discards(name):
			left.GitDiscarded = true
			continue
		case w.isIgnored(name):
			left.Ignored++
			continue
		}
		p, err := w.view.Resolve(name)
		var step diffpreview.Step
		if err == nil && bytes.IndexByte([]byte(now), 0) >= 0 {
			err = failf(diffpreview.CodeNotText, "binary")
		}
		if err == nil {
			step, err = w.view.Propose(ctx, p, call, func(c diffpreview.Content) (diffpreview.Content, error) {
				c.Exists, c.Data = stays, []byte(now)
				return c, nil
			})
		}
		if err != nil {
			left.Refused = append(left.Refused, Refusal{name, failureOf(err).Code, err.Error()})
			continue
		}
		left.Steps = append(left.Steps, step)
	}
	return left, nil
}
