package index_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
)

// searcher asks one random question after the other and checks each answer.
type searcher struct {
	s    subject
	m    *model
	rng  *rand.Rand
	dirs []string // of the writers
	n    int      // answers checked
}

// needle matches every line that a writer's text has of its own.
const needle = "needle "

func (c *searcher) ask(ctx context.Context) error {
	c.n++
	switch c.rng.IntN(6) {
	case 0:
		return c.list(ctx, nil)
	case 1:
		return c.list(ctx, []string{pick(c.rng, []string{"**/*.txt", "*.tmp", "w0/**", "**/d1/**/*.go", "**/f1*.txt"})})
	}
	q := question{Pattern: needle, Mode: contentMode}
	switch c.rng.IntN(8) {
	case 0:
		q.Pattern = `needle [a-z0-9]+-[0-9]*7$`
	case 1:
		q.Pattern = `[a-z]+[0-9]-[0-9]+`
	case 2:
		q.Mode = filesMode
	case 3:
		q.Mode = countMode
	case 4:
		q.Before, q.After = 1, 1
	case 5:
		q.Under = pick(c.rng, c.dirs)
	case 6:
		q.Globs = []string{"**/*.txt"}
	case 7:
		q.Pattern, q.Fold = "NEEDLE W", true
	}
	return c.search(ctx, q)
}

func (c *searcher) search(ctx context.Context, q question) error {
	find, err := newFinder(q)
	if err != nil {
		return err
	}
	call := c.m.now()
	rows, err := c.s.Search(ctx, q)
	reply := c.m.now()
	if err != nil {
		return fmt.Errorf("%s: %w", q, err)
	}
	parts := map[string][]row{}
	last := ""
	for _, r := range rows {
		if r.Path < last {
			return fmt.Errorf("%s: %q comes after %q", q, r.Path, last)
		}
		last = r.Path
		parts[r.Path] = append(parts[r.Path], r)
	}
	err = check(c.m, call, reply, parts, func(p string, s state) []row {
		if s.kind != aFile || !isUnder(p, q.Under) || !globbed(q.Globs, p) {
			return nil
		}
		return rowsOf(find, q, p, []byte(s.text))
	})
	if err != nil {
		return fmt.Errorf("%s: %w", q, err)
	}
	return nil
}

func (c *searcher) list(ctx context.Context, patterns []string) error {
	under := "."
	if c.rng.IntN(4) == 0 {
		under = pick(c.rng, c.dirs)
	}
	var (
		list []string
		err  error
	)
	call := c.m.now()
	if patterns == nil {
		list, err = c.s.List(ctx, under, true)
	} else {
		list, err = c.s.Glob(ctx, patterns, under, true)
	}
	reply := c.m.now()
	if err != nil {
		return fmt.Errorf("glob %q: %w", patterns, err)
	}
	parts := map[string][]string{}
	for _, p := range list {
		parts[p] = append(parts[p], p)
	}
	err = check(c.m, call, reply, parts, func(p string, s state) []string {
		if s.kind == absent || s.kind == hidden || !isUnder(p, under) || !globbed(patterns, p) {
			return nil
		}
		return []string{p}
	})
	if err != nil {
		return fmt.Errorf("glob %q under %q: %w", strings.Join(patterns, " "), under, err)
	}
	return nil
}
