//go:build unix

package index_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// TestSwappedForALink: a directory becomes a link to one with other files of the
// same names, and a directory again, over and over. What is behind the link is
// never found, whether texts are kept or read for the search.
func TestSwappedForALink(t *testing.T) {
	for _, way := range []struct {
		name string
		open opener
	}{{"index", openIndex}, {"small", openTight}} {
		t.Run(way.name, func(t *testing.T) {
			base := realTemp(t)
			root, env := filepath.Join(base, "root"), cleanEnv(filepath.Join(base, "home"))
			dir, away, outside := filepath.Join(root, "d"), filepath.Join(base, "away"), filepath.Join(base, "outside")
			for i := range 200 {
				write(t, filepath.Join(dir, fmt.Sprintf("s/f%d.txt", i)), []byte("needle of its own\n"))
				write(t, filepath.Join(outside, fmt.Sprintf("s/f%d.txt", i)), []byte("needle stolen\nneedle stolen\n"))
			}
			s := way.open(t, root, env)
			var ended atomic.Bool
			swapped := make(chan error, 1)
			go func() { swapped <- swapping(dir, away, outside, &ended) }()
			for range size(300, 5000) {
				rows, err := s.Search(context.Background(), question{Pattern: "stolen", Mode: contentMode})
				if err != nil || len(rows) > 0 {
					t.Errorf("behind the link: %v, %v", rows[:min(len(rows), 3)], err)
					break
				}
			}
			ended.Store(true)
			if err := <-swapped; err != nil {
				t.Error(err)
			}
			compareWithDisk(t, s, root, env)
		})
	}
}

// TestSwappedForAnother: a directory is away for a moment, and one with other
// files of the same names is in its place. In the end the index has what the
// directory has.
func TestSwappedForAnother(t *testing.T) {
	for round := range size(20, 400) {
		base := realTemp(t)
		root, env := filepath.Join(base, "root"), cleanEnv(filepath.Join(base, "home"))
		dir, away, other := filepath.Join(root, "d"), filepath.Join(base, "away"), filepath.Join(base, "other")
		for i := range 100 {
			write(t, filepath.Join(dir, fmt.Sprintf("s/f%d.txt", i)), []byte("needle of its own\n"))
			write(t, filepath.Join(other, fmt.Sprintf("s/f%d.txt", i)), []byte("needle that's not\n"))
		}
		s := openIndexed(t, root, env, 0)
		var ended atomic.Bool
		swapped := make(chan error, 1)
		go func() {
			for !ended.Load() {
				for _, move := range [][2]string{{dir, away}, {other, dir}, {dir, other}, {away, dir}} {
					if err := os.Rename(move[0], move[1]); err != nil {
						swapped <- err
						return
					}
				}
			}
			swapped <- nil
		}()
		for range 30 {
			if _, err := s.Search(context.Background(), question{Pattern: "needle", Mode: contentMode}); err != nil {
				t.Error(err)
			}
		}
		ended.Store(true)
		if err := <-swapped; err != nil {
			t.Error(err)
		}
		if compareWithDisk(t, s, root, env); t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
}

// swapping swaps a directory for a link and back until it shall end. It touches
// the files, so that they are read again.
func swapping(dir, away, outside string, ended *atomic.Bool) error {
	for n := 0; !ended.Load(); n++ {
		if err := os.Rename(dir, away); err != nil {
			return err
		}
		if err := os.Symlink(outside, dir); err != nil {
			return err
		}
		if err := os.Remove(dir); err != nil {
			return err
		}
		if err := os.Rename(away, dir); err != nil {
			return err
		}
		for i := range 20 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("s/f%d.txt", (n*20+i)%200)), []byte("needle of its own\n"), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}
