package index_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A NUL in what rg reads first hides a file. Of one that has a NUL later rg
// prints what it had found in the pieces before the one with the NUL. How large
// these are is rg's own affair; what must hold is that loomd shows what rg shows
// or nothing at all, and never a line from the NUL on.
func TestOracleLateNUL(t *testing.T) {
	binary := rgBinary(t)
	root, env := realTemp(t), cleanEnv(t.TempDir())
	filler := strings.Repeat("hay hay hay hay\n", 1<<12) // 64 KiB
	for i, at := range []int{1, 7, 100, 8 << 10, 8<<10 + 1, 60 << 10, 64<<10 - 1, 64 << 10, 64<<10 + 1, 100_000, 128 << 10, 150_000, 200_000} {
		text := []byte("needle one\n" + strings.Repeat(filler, 4))
		text = append(text[:at:at], []byte("needle two\nhay\nneedle three\n")...)
		copy(text[at:], "\x00")
		write(t, filepath.Join(root, fmt.Sprintf("f%02d", i)), text)
	}
	s := openBuilt(t, root, env)
	oracle := rg{binary, root, env}
	for _, q := range []question{
		{Pattern: "needle", Mode: contentMode},
		{Pattern: "hay", Mode: contentMode},
		{Pattern: "three", Mode: contentMode},
		{Pattern: `[a-z]+ one`, Mode: contentMode},
		{Pattern: "needle one\nhay", Mode: contentMode, Multiline: true},
		{Pattern: "needle", Mode: filesMode},
		{Pattern: "needle", Mode: countMode},
	} {
		got, err := s.Search(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		byPath(t, q, root, got, oracle.search(t, q))
	}
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// byPath compares the answers about each file.
func byPath(t *testing.T, q question, root string, got, want []row) {
	t.Helper()
	of := func(rows []row, p string) []row {
		return slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.Path != p })
	}
	for _, p := range []string{"f00", "f01", "f02", "f03", "f04", "f05", "f06", "f07", "f08", "f09", "f10", "f11", "f12"} {
		data, err := os.ReadFile(filepath.Join(root, p))
		if err != nil {
			t.Fatal(err)
		}
		at := bytes.IndexByte(data, 0)
		until := bytes.Count(data[:at], []byte("\n")) + 1
		mine, theirs := of(got, p), of(want, p)
		switch {
		case at < rgFirst && len(mine) > 0:
			t.Errorf("%s: %s has a NUL at %d: %d rows", q, p, at, len(mine))
		case q.Mode == contentMode && len(mine) > 0:
			if mine[len(mine)-1].Number > until || len(mine) < len(theirs) || !slices.Equal(mine[:len(theirs)], theirs) {
				t.Errorf("%s: %s has a NUL at %d, in line %d: %d rows, rg has %d; the last one is %s", q, p, at, until, len(mine), len(theirs), mine[len(mine)-1])
			}
		}
	}
}
