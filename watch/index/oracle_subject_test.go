package index_test

import (
	"context"
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"
)

// searchMode is what of the matching lines is asked for.
type searchMode string

const (
	contentMode searchMode = "content"
	filesMode   searchMode = "files"
	countMode   searchMode = "count"
)

// question is a search, in the words of nobody's implementation: it is put to
// the index, to rg, and to a plain scan of the disk.
type question struct {
	Pattern   string     `json:"pattern"`
	RG        string     `json:"rg,omitempty"` // how rg writes the same pattern; "": as Pattern
	Fixed     bool       `json:"fixed,omitempty"`
	Word      bool       `json:"word,omitempty"`
	Fold      bool       `json:"fold,omitempty"`
	Multiline bool       `json:"multiline,omitempty"`
	Invert    bool       `json:"invert,omitempty"`
	Mode      searchMode `json:"mode"`
	Before    int        `json:"before,omitempty"`
	After     int        `json:"after,omitempty"`
	Under     string     `json:"under,omitempty"` // "": the root
	Globs     []string   `json:"globs,omitempty"`
	NoHidden  bool       `json:"noHidden,omitempty"`
	Limit     int        `json:"limit,omitempty"` // 0: all
}

func (q question) String() string {
	var flags []string
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"fixed", q.Fixed},
		{"word", q.Word},
		{"fold", q.Fold},
		{"multiline", q.Multiline},
		{"invert", q.Invert},
		{"no-hidden", q.NoHidden},
	} {
		if f.set {
			flags = append(flags, f.name)
		}
	}
	return fmt.Sprintf("%q %s %v -B%d -A%d under %q %q", q.Pattern, q.Mode, flags, q.Before, q.After, q.Under, q.Globs)
}

// row is one line of an answer. Text has no line end. In the files mode it has a
// path alone, in the count mode Number is the count.
type row struct {
	Path   string `json:"p"`
	Number int    `json:"n,omitempty"`
	Text   string `json:"t,omitempty"`
	Match  bool   `json:"m,omitempty"` // false: context
}

func (r row) String() string {
	mark := "-"
	if r.Match {
		mark = ":"
	}
	text := r.Text
	if len(text) > 200 {
		text = fmt.Sprintf("%s… (%d bytes)", text[:200], len(text))
	}
	return fmt.Sprintf("%q%s%d%s%q", r.Path, mark, r.Number, mark, text)
}

// subject answers as an index does. The harness is run on a plain scan too, so
// that a fault of the harness itself shows.
type subject interface {
	// Search answers in the order of paths.
	Search(ctx context.Context, q question) ([]row, error)
	// List returns the files and links below a directory, sorted; no
	// directories, no special files.
	List(ctx context.Context, under string, hidden bool) ([]string, error)
	// Glob returns those of List that patterns select.
	Glob(ctx context.Context, patterns []string, under string, hidden bool) ([]string, error)
}

// withoutEnd takes one line end off.
func withoutEnd(line string) string {
	return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
}

// soak says whether the long forms run.
func soak() bool { return os.Getenv("LOOMD_SOAK") != "" }

// size picks the short or the long size of a test.
func size(short, long int) int {
	if soak() {
		return long
	}
	return short
}

// difference describes how two sorted lists differ, at most ten entries of each
// kind; "" when they are equal.
func difference[T fmt.Stringer](got, want []T) string {
	count := map[string]int{}
	for _, w := range want {
		count[w.String()]++
	}
	for _, g := range got {
		count[g.String()]--
	}
	var missing, extra []string
	for text, n := range count {
		switch {
		case n > 0:
			missing = append(missing, text)
		case n < 0:
			extra = append(extra, text)
		}
	}
	if len(missing)+len(extra) == 0 {
		return ""
	}
	return listed("missing", missing) + listed("too much", extra)
}

func listed(what string, list []string) string {
	if len(list) == 0 {
		return ""
	}
	sort.Strings(list)
	shown := list[:min(len(list), 10)]
	return fmt.Sprintf("%s (%d):\n\t%s\n", what, len(list), strings.Join(shown, "\n\t"))
}

// name is a path that difference can show.
type name string

func (n name) String() string { return fmt.Sprintf("%q", string(n)) }

func names(list []string) []name {
	out := make([]name, len(list))
	for i, s := range list {
		out[i] = name(s)
	}
	return out
}

// inOrder fails when paths are not in the order of their bytes.
func inOrder(t *testing.T, what fmt.Stringer, paths []string) {
	t.Helper()
	if !sort.StringsAreSorted(paths) {
		for i := 1; i < len(paths); i++ {
			if paths[i] < paths[i-1] {
				t.Errorf("%s: %q comes after %q", what, paths[i], paths[i-1])
				return
			}
		}
	}
}

// rowsInOrder fails when rows are not in the order of paths and of lines.
func rowsInOrder(t *testing.T, q question, rows []row) {
	t.Helper()
	for i := 1; i < len(rows); i++ {
		a, b := rows[i-1], rows[i]
		if a.Path > b.Path || a.Path == b.Path && (q.Mode != contentMode || a.Number >= b.Number) {
			t.Errorf("%s: %s comes after %s", q, b, a)
			return
		}
	}
}
