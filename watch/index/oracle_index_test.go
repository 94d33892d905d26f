package index_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/loomd/loomd/watch"
	"github.com/loomd/loomd/watch/index"
	"github.com/loomd/loomd/watch/match"
)

// indexed is the index over a real tree.
type indexed struct {
	tree  *watch.Tree
	index *index.Index
}

// servingEnv names the subject that a child process of a test serves.
const servingEnv = "LOOMD_TEST_SERVE"

func openIndex(t *testing.T, root string, env []string) subject {
	t.Helper()
	return openIndexed(t, root, env, 0)
}

func openIndexed(t *testing.T, root string, env []string, memory int64) *indexed {
	t.Helper()
	cookies, err := os.MkdirTemp(realTemp(t), "cookies")
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	if os.Getenv(servingEnv) != "" { // a child, whose parent hears it
		log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	tree, err := watch.OpenTree(context.Background(), watch.TreeOptions{Root: root, CookieDir: cookies, Getenv: envOf(env), Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	x, err := index.Open(index.Options{Tree: tree, Root: root, Memory: memory})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
		if err := tree.Close(); err != nil {
			t.Error(err)
		}
	})
	return &indexed{tree, x}
}

func patternFor(q question) (*match.Pattern, error) {
	return match.Compile(match.Options{
		Pattern: q.Pattern, Fixed: q.Fixed, Word: q.Word, IgnoreCase: q.Fold, Multiline: q.Multiline, Invert: q.Invert,
	})
}

var modes = map[searchMode]index.Mode{contentMode: index.Content, filesMode: index.Files, countMode: index.Count}

func (x *indexed) Search(ctx context.Context, q question) ([]row, error) {
	pattern, err := patternFor(q)
	if err != nil {
		return nil, err
	}
	s, err := x.index.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Release()
	var rows []row
	_, err = s.Search(ctx, index.Query{
		Pattern: pattern, Under: q.Under, Glob: q.Globs, Hidden: !q.NoHidden, Mode: modes[q.Mode], Limit: q.Limit, Before: q.Before, After: q.After,
	}, func(l index.Line) bool {
		r := row{Path: strings.Clone(l.Path), Number: l.Number, Text: string(l.Text), Match: l.Match}
		switch q.Mode {
		case filesMode:
			r = row{Path: r.Path}
		case countMode:
			r = row{Path: r.Path, Number: r.Number}
		}
		rows = append(rows, r)
		return true
	})
	return rows, err
}

func (x *indexed) List(ctx context.Context, under string, hidden bool) ([]string, error) {
	return x.Glob(ctx, nil, under, hidden)
}

func (x *indexed) Glob(ctx context.Context, patterns []string, under string, hidden bool) ([]string, error) {
	s, err := x.index.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Release()
	list := []string{}
	_, err = s.Glob(ctx, index.List{Patterns: patterns, Under: under, Hidden: hidden}, func(e index.Entry) bool {
		if e.Kind == watch.File || e.Kind == watch.Link {
			list = append(list, strings.Clone(e.Path))
		}
		return true
	})
	return list, err
}

// Status is the index's status as JSON.
func (x *indexed) Status() string {
	data, err := json.Marshal(x.index.Status())
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// built waits until everything is read.
func (x *indexed) built(t *testing.T) index.Status {
	t.Helper()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for deadline := time.Now().Add(5 * time.Minute); ; <-look.C {
		st := x.index.Status()
		if !st.Building && st.Pending == 0 && st.State != "building" {
			return st
		}
		if time.Now().After(deadline) {
			t.Fatalf("not built: %+v", st)
		}
	}
}
