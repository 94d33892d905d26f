//go:build unix

package index_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// storm makes many files in many directories at once, moves them, and removes
// them again.
func (w *writer) storm(files int) error {
	dir := w.dir + "/storm"
	after := maps.Clone(w.disk)
	for i := range files {
		after[fmt.Sprintf("%s/d%d/e/f%d.txt", dir, i%20, i)] = state{aFile, w.text()}
	}
	err := w.to("a storm of new files", after, []state{{kind: aFile}}, func() error {
		for i := range files {
			p := fmt.Sprintf("%s/d%d/e/f%d.txt", dir, i%20, i)
			if i < 20 {
				if err := os.MkdirAll(filepath.Dir(w.abs(p)), 0o755); err != nil {
					return err
				}
			}
			if err := os.WriteFile(w.abs(p), []byte(after[p].text), 0o644); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := w.to("the storm moves", w.moved(dir, dir+"2"), nil, func() error { return os.Rename(w.abs(dir), w.abs(dir+"2")) }); err != nil {
		return err
	}
	return w.to("the storm goes", w.moved(dir+"2", ""), nil, func() error { return os.RemoveAll(w.abs(dir + "2")) })
}

// flood makes many files in a directory that is watched already, and removes
// them: as many events as come from nowhere else.
func (w *writer) flood(files int) error {
	after := maps.Clone(w.disk)
	for i := range files {
		after[fmt.Sprintf("%s/flood%d.txt", w.dir, i)] = state{aFile, w.text()}
	}
	before := w.disk
	err := w.to("a flood of new files", after, []state{{kind: aFile}}, func() error {
		for i := range files {
			p := fmt.Sprintf("%s/flood%d.txt", w.dir, i)
			if err := os.WriteFile(w.abs(p), []byte(after[p].text), 0o644); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return w.to("the flood goes", before, nil, func() error {
		for i := range files {
			if err := os.Remove(w.abs(fmt.Sprintf("%s/flood%d.txt", w.dir, i))); err != nil {
				return err
			}
		}
		return nil
	})
}

// branches is a writer whose directory is a repository, and what each branch
// has.
type branches struct {
	*writer
	env   []string
	trees map[string]tree
	on    string
}

func (b *branches) git(args ...string) error {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = b.abs(b.dir), b.env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

// fill writes and commits what one branch has: files that only it has, files
// that both have with other text, files that are the same in both.
func (b *branches) fill(branch string, files int) error {
	t := tree{}
	for i := range files {
		t[fmt.Sprintf("%s/only-%s/d%d/f%d.txt", b.dir, branch, i%7, i)] = state{aFile, b.text()}
		t[fmt.Sprintf("%s/both/d%d/f%d.txt", b.dir, i%7, i)] = state{aFile, b.text()}
		t[fmt.Sprintf("%s/same/f%d.txt", b.dir, i)] = state{aFile, fmt.Sprintf("needle same-%d\n", i)}
	}
	if branch == "two" {
		t[b.dir+"/.gitignore"] = state{aFile, ignoreTemps}
	}
	if err := b.git("checkout", "-q", "--orphan", branch); err != nil {
		return err
	}
	for p, s := range t {
		if err := os.MkdirAll(filepath.Dir(b.abs(p)), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(b.abs(p), []byte(s.text), 0o644); err != nil {
			return err
		}
	}
	b.trees[branch] = t
	for _, args := range [][]string{{"add", "-A"}, {"commit", "-q", "-m", branch}, {"rm", "-rfq", "."}} {
		if err := b.git(args...); err != nil {
			return err
		}
	}
	return nil
}

// prepare makes both branches, with nothing checked out but untracked files.
func (b *branches) prepare(files int) error {
	if err := os.MkdirAll(b.abs(b.dir), 0o755); err != nil {
		return err
	}
	if err := b.git("init", "-q", "."); err != nil {
		return err
	}
	for _, branch := range []string{"one", "two"} {
		if err := b.fill(branch, files); err != nil {
			return err
		}
	}
	loose := b.dir + "/loose.tmp"
	b.disk = tree{}
	after := tree{loose: {aFile, b.text()}}
	return b.to("a loose file", after, nil, func() error {
		return os.WriteFile(b.abs(loose), []byte(after[loose].text), 0o644)
	})
}

// checkout switches to the other branch.
func (b *branches) checkout() error {
	to := "one"
	if b.on == "one" {
		to = "two"
	}
	after := maps.Clone(b.trees[to])
	loose := b.dir + "/loose.tmp"
	after[loose] = b.disk[loose]
	b.on = to
	return b.to("checkout "+to, after, []state{{}, {kind: aFile}}, func() error { return b.git("checkout", "-q", "-f", to) })
}
