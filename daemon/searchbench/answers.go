package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
)

// rowsOf asks loomd for everything and returns it as "path\x00line" or "path",
// and "path\x00count" of counts, in the order in which it came. pages are the
// offsets of the calls that it took.
func (s *served) rowsOf(t task) (rows []string, pages []int, err error) {
	for {
		pages = append(pages, len(rows))
		tool, args := t.arguments(len(rows))
		body, err := s.tool(tool, args)
		if err != nil {
			return nil, nil, err
		}
		var page struct {
			Matches []struct {
				Path string
				Line int
			}
			Files     []any
			Counts    []struct{ Path, Count any }
			Truncated bool
		}
		if err := read(body, &page); err != nil {
			return nil, nil, fmt.Errorf("%s %q: %w", tool, t.pattern, err)
		}
		for _, m := range page.Matches {
			rows = append(rows, fmt.Sprintf("%s\x00%d", m.Path, m.Line))
		}
		for _, f := range page.Files {
			switch f := f.(type) {
			case string:
				rows = append(rows, f)
			case map[string]any:
				if f["is_dir"] != true {
					rows = append(rows, fmt.Sprint(f["path"]))
				}
			}
		}
		for _, c := range page.Counts {
			rows = append(rows, fmt.Sprintf("%v\x00%v", c.Path, c.Count))
		}
		if !page.Truncated || t.kind == grepFirst {
			return rows, pages, nil
		}
	}
}

// rgRows asks rg for the same, in the order of path bytes and of lines.
func rgRows(ctx context.Context, rg, dir string, t task) ([]string, error) {
	if before, ok := strings.CutSuffix(t.pattern, "$"); ok {
		t.pattern = before + `\r?$` // loomd's "$" holds before "\r\n", too
	}
	command := rgCommand(rg, t)
	command = slices.Insert(command, 1, "--null", "--no-heading")
	if t.kind == listFiles || t.kind == globFiles {
		command = slices.DeleteFunc(command, func(a string) bool { return a == "--no-heading" })
	}
	out, err := output(ctx, dir, nil, command...)
	if err != nil {
		return nil, err
	}
	var rows []string
	if t.kind == grepFiles || !t.isGrep() {
		for p := range bytes.SplitSeq(bytes.TrimSuffix(out, []byte{0}), []byte{0}) {
			rows = append(rows, strings.TrimPrefix(string(p), "./"))
		}
		slices.Sort(rows)
		return slices.DeleteFunc(rows, func(r string) bool { return r == "" }), nil
	}
	lines := map[string][]string{}
	for line := range bytes.Lines(out) {
		p, rest, ok := bytes.Cut(line, []byte{0})
		if !ok {
			return nil, fmt.Errorf("rg printed %.100q", line)
		}
		n, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte(":"))
		name := strings.TrimPrefix(string(p), "./")
		lines[name] = append(lines[name], name+"\x00"+string(n))
	}
	var paths []string
	for p := range lines {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	for _, p := range paths {
		rows = append(rows, lines[p]...)
	}
	if t.kind == grepFirst {
		rows = rows[:min(len(rows), first)]
	}
	return rows, nil
}

// unlike counts the rows that only one of both has.
func unlike(a, b []string) int {
	count := map[string]int{}
	for _, r := range a {
		count[r]++
	}
	for _, r := range b {
		count[r]--
	}
	n := 0
	for _, c := range count {
		n += max(c, -c)
	}
	return n
}
