package index_test

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"unicode/utf16"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/loomd/loomd/watch"
)

// scanned answers from the disk with no state at all, in the plainest way.
type scanned struct {
	root   string
	getenv func(string) string
}

// file is an entry that a scan found.
type file struct {
	path string
	link bool
}

// files walks the tree. What vanishes meanwhile is left out.
func (s scanned) files() ([]file, error) {
	around, err := watch.ReadSurroundings(s.root, s.getenv)
	if err != nil {
		return nil, err
	}
	read := func(rel string) ([]byte, error) {
		full := filepath.Join(s.root, rel)
		if info, err := os.Lstat(full); err != nil || !info.Mode().IsRegular() {
			return nil, fs.ErrNotExist
		}
		return os.ReadFile(full)
	}
	ignore := watch.NewIgnore(watch.IgnoreOptions{ReadFile: read, Root: s.root, ReadOutside: watch.ReadGitFile, Around: around})
	var found []file
	var visit func(rules *watch.DirRules, dir string)
	visit = func(rules *watch.DirRules, dir string) {
		entries, err := os.ReadDir(filepath.Join(s.root, dir))
		if err != nil {
			return
		}
		for _, e := range entries {
			rel := path.Join(dir, e.Name())
			switch {
			case rules.Ignored(e.Name(), e.IsDir()):
			case e.IsDir():
				visit(ignore.Dir(rules, rel, watch.IsRepository(read, rel)), rel)
			case e.Type().IsRegular(), e.Type()&fs.ModeSymlink != 0:
				found = append(found, file{rel, !e.Type().IsRegular()})
			}
		}
	}
	visit(ignore.Dir(nil, ".", false), ".")
	sort.Slice(found, func(i, j int) bool { return found[i].path < found[j].path })
	return found, nil
}

// isHidden tells whether a name on the way from under to p begins with a dot. Who
// asks for a hidden directory gets what is in it.
func isHidden(p, under string) bool {
	if under != "" && under != "." {
		p = strings.TrimPrefix(strings.TrimPrefix(p, under), "/")
	}
	return strings.HasPrefix(p, ".") || strings.Contains(p, "/.")
}

func isUnder(p, dir string) bool {
	return dir == "" || dir == "." || p == dir || strings.HasPrefix(p, dir+"/")
}

// globbed is the brute force of what a list of patterns selects: one without "/"
// is for the name at any depth, "!" takes away, and only takings away leave
// everything else.
func globbed(patterns []string, p string) bool {
	chosen, asked := false, false
	for _, pattern := range patterns {
		pattern, not := strings.CutPrefix(pattern, "!")
		subject := p
		if !strings.Contains(pattern, "/") {
			subject = path.Base(p)
		}
		matches := doublestar.MatchUnvalidated(strings.TrimPrefix(pattern, "./"), subject)
		if not && matches {
			return false
		}
		if !not {
			asked, chosen = true, chosen || matches
		}
	}
	return chosen || !asked
}

func (s scanned) List(ctx context.Context, under string, hidden bool) ([]string, error) {
	return s.Glob(ctx, nil, under, hidden)
}

func (s scanned) Glob(_ context.Context, patterns []string, under string, hidden bool) ([]string, error) {
	files, err := s.files()
	if err != nil {
		return nil, err
	}
	list := []string{}
	for _, f := range files {
		if isUnder(f.path, under) && (hidden || !isHidden(f.path, under)) && globbed(patterns, f.path) {
			list = append(list, f.path)
		}
	}
	return list, nil
}

func (s scanned) Search(ctx context.Context, q question) ([]row, error) {
	find, err := newFinder(q)
	if err != nil {
		return nil, err
	}
	files, err := s.files()
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(s.root) // a directory may become a link on the way to a file
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var rows []row
	for _, f := range files {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if f.link || !isUnder(f.path, q.Under) || q.NoHidden && isHidden(f.path, q.Under) || !globbed(q.Globs, f.path) {
			continue
		}
		if data, err := readSteadily(root, f.path); err == nil {
			rows = append(rows, rowsOf(find, q, f.path, data)...)
		}
	}
	return rows, nil
}

// readSteadily reads what is at a path while files are written and renamed: again
// when another file is there afterwards, since what was opened may have been written
// to under its new name.
func readSteadily(root *os.Root, name string) ([]byte, error) {
	for {
		data, was, err := readAtOnce(root, name)
		if err != nil {
			return nil, err
		}
		is, err := root.Lstat(name)
		if err != nil {
			return nil, err
		}
		if os.SameFile(was, is) {
			return data, nil
		}
	}
}

// readAtOnce reads what fits in one call: of two the second may go on in a text that
// is longer than the first's was.
func readAtOnce(root *os.Root, name string) ([]byte, fs.FileInfo, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	was, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	data := make([]byte, 64<<10)
	n, err := f.Read(data)
	if n < len(data) {
		if err == io.EOF {
			err = nil
		}
		return data[:n], was, err
	}
	rest, err := io.ReadAll(f)
	return append(data, rest...), was, err
}

// rowsOf is the part of an answer that one file gives.
func rowsOf(find *finder, q question, p string, data []byte) []row {
	text, binary := searchable(data)
	if binary {
		return nil
	}
	lines := splitLines(text)
	marked := find.lines(text, lines)
	n := 0
	for _, m := range marked {
		if m {
			n++
		}
	}
	switch {
	case n == 0:
		return nil
	case q.Mode == filesMode:
		return []row{{Path: p}}
	case q.Mode == countMode:
		return []row{{Path: p, Number: n}}
	}
	var rows []row
	for i, line := range lines {
		if marked[i] || slices.Contains(marked[i+1:min(len(marked), i+1+q.Before)], true) || slices.Contains(marked[max(0, i-q.After):i], true) {
			rows = append(rows, row{Path: p, Number: i + 1, Text: withoutEnd(string(line)), Match: marked[i]})
		}
	}
	return rows
}

func splitLines(text []byte) [][]byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// searchable turns a file's bytes into the text that is searched.
func searchable(data []byte) (text []byte, binary bool) {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		return fromUTF16(data[2:], func(b []byte) uint16 { return uint16(b[0]) | uint16(b[1])<<8 }), false
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		return fromUTF16(data[2:], func(b []byte) uint16 { return uint16(b[1]) | uint16(b[0])<<8 }), false
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	return data, bytes.IndexByte(data, 0) >= 0
}

func fromUTF16(data []byte, unit func([]byte) uint16) []byte {
	units := make([]uint16, 0, len(data)/2+1)
	for ; len(data) >= 2; data = data[2:] {
		units = append(units, unit(data))
	}
	text := string(utf16.Decode(units))
	if len(data) == 1 {
		text += "\uFFFD"
	}
	return []byte(text)
}
