package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// writes measures how long a search takes right after a write, next to the same
// search when nothing changed.
func (s *settings) writes(ctx context.Context, c corpus, b *strings.Builder) (err error) {
	d, err := startServed(ctx, s.loomd, c.dir, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	if _, err := d.live(); err != nil {
		return err
	}
	name := filepath.Join(c.dir, "written.txt")
	defer os.Remove(name)
	var idle, after []time.Duration
	lost := 0
	for i := range 1000 {
		token := fmt.Sprintf("written-token-%d-%d", i, time.Now().UnixNano())
		start := time.Now()
		if _, err := d.tool("grep", map[string]any{"pattern": token}); err != nil {
			return err
		}
		idle = append(idle, time.Since(start))
		if err := os.WriteFile(name, []byte(token+"\n"), 0o644); err != nil {
			return err
		}
		start = time.Now()
		body, err := d.tool("grep", map[string]any{"pattern": token})
		if err != nil {
			return err
		}
		after = append(after, time.Since(start))
		if !strings.Contains(string(body), "written.txt") {
			lost++
		}
	}
	costRow(b, "a search right after a write, over the socket", "p99 1 ms more than idle; none lost",
		"p50 %s, p99 %s, of 1,000 writes %d not found; idle p50 %s, p99 %s", shown(median(after)), shown(p99(after)), lost, shown(median(idle)), shown(p99(idle)))
	return nil
}

func p99(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)*99/100]
}

// changed is how many files a checkout changes, where there are so many.
const changed = 15_000

// checkoutToken is on the one branch in every file that changes.
const checkoutToken = "only-on-the-other-branch"

// checkouts measures a checkout of many files with a daemon that watches and
// without, in turns, and what the daemon answers after it.
func (s *settings) checkouts(ctx context.Context, c corpus, b *strings.Builder) error {
	n, err := c.branch(ctx)
	if err != nil {
		return err
	}
	var (
		slower         []float64
		firsts, behind []time.Duration
		lost           int
	)
	for i := range 7 {
		var alone, watched, first, caughtUp time.Duration
		var found int
		turns := []func() error{
			func() (err error) { alone, _, _, _, err = s.watched(ctx, c, false); return err },
			func() (err error) { watched, first, caughtUp, found, err = s.watched(ctx, c, true); return err },
		}
		for n := range turns {
			if err := turns[(n+i)%2](); err != nil {
				return err
			}
		}
		slower = append(slower, float64(watched)/float64(alone))
		firsts, behind = append(firsts, first), append(behind, caughtUp)
		lost += n - found
	}
	costRow(b, fmt.Sprintf("`git checkout` of %d files with a daemon that watches", n), "at most 10 % slower (median of 7 pairs)",
		"%+.1f %%", 100*(median(slower)-1))
	costRow(b, "the first search after it", "right within 250 ms", "p50 %s, at most %s; %d of %d files not found", shown(median(firsts)), shown(slices.Max(firsts)), lost, 7*n)
	costRow(b, "until a search is as fast as before", "within 2 s", "p50 %s, at most %s", shown(median(behind)), shown(slices.Max(behind)))
	_, err = c.checkout(ctx, "other", "main")
	return err
}

// branch makes the other branch: a line more in many files.
func (c *corpus) branch(ctx context.Context) (int, error) {
	if _, err := c.checkout(ctx, "main", "main"); err != nil {
		return 0, err
	}
	out, err := output(ctx, c.dir, nil, "git", "ls-files", "-z", "*.go")
	if err != nil {
		return 0, err
	}
	files := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	files = files[:min(len(files), changed)]
	if _, err := output(ctx, c.dir, nil, "git", "rev-parse", "-q", "--verify", "other"); err == nil {
		if out, _ := output(ctx, c.dir, nil, "git", "branch", "--list", "other"); len(out) > 0 {
			return len(files), nil
		}
	}
	if _, err := output(ctx, c.dir, nil, "git", "checkout", "-q", "-b", "other"); err != nil {
		return 0, err
	}
	for _, f := range files {
		if err := appendLine(filepath.Join(c.dir, f), "// "+checkoutToken+"\n"); err != nil {
			return 0, err
		}
	}
	_, err = output(ctx, c.dir, nil, "git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-q", "-a", "-m", "other")
	if err != nil {
		return 0, err
	}
	_, err = c.checkout(ctx, "other", "main")
	return len(files), err
}

func appendLine(name, line string) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line)
	return errors.Join(err, f.Close())
}

// restTime is so long that git need not read files again because their times
// are those of its own index.
const restTime = 1200 * time.Millisecond

// checkout goes to one branch and measures going to the other.
func (c *corpus) checkout(ctx context.Context, from, to string) (time.Duration, error) {
	if _, err := output(ctx, c.dir, nil, "git", "checkout", "-q", from); err != nil || from == to {
		return 0, err
	}
	if err := pause(ctx, restTime); err != nil {
		return 0, err
	}
	if _, err := output(ctx, c.dir, nil, "sync"); err != nil { // what is still to be written is no part of it
		return 0, err
	}
	start := time.Now()
	_, err := output(ctx, c.dir, nil, "git", "checkout", "-q", to)
	return time.Since(start), err
}

// watched is a checkout under a daemon's eyes: how long it took, how long the
// first search took, in how many files it found what is new, and when a search
// was as fast as before. With watching false the daemon ends just before, and
// only the first is told: both begin with the same tree in the same caches.
func (s *settings) watched(ctx context.Context, c corpus, watching bool) (took, first, caughtUp time.Duration, found int, err error) {
	if _, err = c.checkout(ctx, "main", "main"); err != nil {
		return
	}
	d, err := startServed(ctx, s.loomd, c.dir, "")
	if err != nil {
		return
	}
	if watching {
		defer func() { err = errors.Join(err, d.stop()) }()
	}
	if _, err = d.live(); err != nil {
		return
	}
	usual, _, err := d.count("errServerClosedIdle")
	if err != nil {
		return
	}
	if !watching {
		if err = d.stop(); err == nil {
			took, err = c.checkout(ctx, "main", "other")
		}
		return
	}
	if took, err = c.checkout(ctx, "main", "other"); err != nil {
		return
	}
	start := time.Now()
	if first, found, err = d.count(checkoutToken); err != nil {
		return
	}
	for {
		again, _, err := d.count("errServerClosedIdle")
		if err != nil || again < 5*usual+time.Millisecond {
			return took, first, time.Since(start), found, err
		}
	}
}

// count asks in how many files a text is.
func (s *served) count(text string) (time.Duration, int, error) {
	start := time.Now()
	body, err := s.tool("grep", map[string]any{"pattern": text, "mode": "files", "limit": pageFiles})
	took := time.Since(start)
	if err != nil {
		return 0, 0, err
	}
	var files struct{ Files []string }
	err = read(body, &files)
	return took, len(files.Files), err
}
