package diffpreview

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// pairsBatch is how many files one patch changes: enough for the start of a
// process to cost nothing.
const pairsBatch = 500

// decidedPair is a change that an agent proposed and a reviewer decided: all of
// its hunks, or some.
type decidedPair struct {
	change        // new is what accept writes
	diff   []byte // from the base to it, as a reviewer is shown it
}

// pairsSeed is LOOMD_SEED, or another one each time.
func pairsSeed(t *testing.T) uint64 {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if given := os.Getenv("LOOMD_SEED"); given != "" {
		var err error
		if seed, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatalf("LOOMD_SEED: %v", err)
		}
	}
	t.Logf("LOOMD_SEED=%d", seed)
	return seed
}

// What a reviewer is shown, `git apply` and `patch` turn into the very bytes
// that accept writes: 10,000 pairs, with LOOMD_SOAK set 100,000, each taken by
// both; and some that only git takes, because of line ends in their names.
func TestUnifiedIsWhatAcceptWrites(t *testing.T) {
	git, patch := patchTool(t, "git"), patchTool(t, "patch")
	seed := pairsSeed(t)
	rnd := rand.New(rand.NewPCG(seed, 5))
	n := 10_000
	if os.Getenv("LOOMD_SOAK") != "" {
		n = 100_000
	}
	if memory, err := os.MkdirTemp("/dev/shm", "loomd"); err == nil { // many small files
		t.Cleanup(func() { os.RemoveAll(memory) })
		t.Setenv("TMPDIR", memory)
	}
	done, hunks, partial := 0, 0, 0
	for done < n {
		pairs, names := make([]decidedPair, 0, pairsBatch), map[string]bool{}
		for len(pairs) < min(pairsBatch, n-done) {
			for _, c := range randomChanges(rnd, pairsBatch, oddNames) {
				pair, all, taken := decidePair(t, rnd, c)
				if taken == 0 || names[c.name] || len(pairs) == min(pairsBatch, n-done) {
					continue
				}
				names[c.name] = true
				pairs, hunks = append(pairs, pair), hunks+taken
				if taken < all {
					partial++
				}
			}
		}
		takePairs(t, pairs, git, patch)
		done += len(pairs)
	}
	var odd []decidedPair
	for _, c := range randomChanges(rnd, n/10, []string{"nl\nx y", "\r", "a", "\n"}) {
		if pair, _, taken := decidePair(t, rnd, c); taken > 0 {
			odd = append(odd, pair)
		}
	}
	takePairs(t, odd, git)
	t.Logf("%d pairs taken by git apply and patch (%d accepted in part), %d hunks; %d more by git apply alone", done, partial, hunks, len(odd))
	if done != n {
		t.Errorf("%d pairs, want %d", done, n)
	}
}

// decidePair has c proposed and accepted, with one chance in three only some of
// its hunks. taken is 0 when there is nothing to decide.
func decidePair(t *testing.T, rnd *rand.Rand, c change) (pair decidedPair, all, taken int) {
	t.Helper()
	// A file with a NUL has no diff to look at.
	c.old, c.new = bytes.ReplaceAll(c.old, []byte{0}, nil), bytes.ReplaceAll(c.new, []byte{0}, nil)
	base := Content{Exists: c.oldMode != 0, Data: c.old, Mode: 0o644}
	want := Content{Exists: c.newMode != 0, Data: c.new, Mode: 0o644}
	p := &Proposal{Name: c.name, Base: base, form: formBytes}
	if p = p.step(want); len(p.Hunks) == 0 {
		return pair, 0, 0
	}
	verdicts, err := p.all(true, "")
	if err != nil {
		t.Fatal(err)
	}
	all = len(verdicts)
	if rnd.IntN(3) == 0 {
		rnd.Shuffle(all, func(i, j int) { verdicts[i], verdicts[j] = verdicts[j], verdicts[i] })
		verdicts = verdicts[:1+rnd.IntN(all)]
	}
	q, err := decideInTurns(rnd, p, verdicts)
	if CodeOf(err) == CodeConflict { // lines would run together: only all of it can be taken
		verdicts, _ = p.all(true, "")
		q, _, err = p.decide(verdicts, Decision{By: "alice"})
	}
	if err != nil {
		t.Fatalf("%v: %q to %q", err, c.old, c.new)
	}
	if len(verdicts) == all && !sameContent(q.Base, want) {
		t.Fatalf("all of %q to %q accepted is %q", c.old, c.new, q.Base.Data)
	}
	back, _, err := q.undo("")
	if err != nil || !sameContent(back.Base, base) {
		t.Fatalf("what was accepted of %q to %q and undone is %+v (%v)", c.old, c.new, back, err)
	}
	pair.change = change{name: c.name, old: c.old, new: q.Base.Data, oldMode: plainMode(base), newMode: plainMode(q.Base)}
	pair.diff = shown(t, p, base, q.Base)
	return pair, all, len(verdicts)
}

// decideInTurns carries out the verdicts in one decision or in several.
func decideInTurns(rnd *rand.Rand, p *Proposal, verdicts []Verdict) (*Proposal, error) {
	for len(verdicts) > 0 {
		n := 1 + rnd.IntN(len(verdicts))
		if err := p.check(p.Version, verdicts[:n]); err != nil {
			return nil, err
		}
		q, _, err := p.decide(verdicts[:n], Decision{By: "alice"})
		if err != nil {
			return nil, err
		}
		p, verdicts = q, verdicts[n:]
	}
	return p, nil
}

func plainMode(c Content) os.FileMode {
	if c.Exists {
		return 0o644
	}
	return 0
}

// shown is the diff from base to after for a reviewer, but with bytes that are no
// UTF-8 as they are.
func shown(t *testing.T, p *Proposal, base, after Content) []byte {
	t.Helper()
	diff, lossy := RenderDiff(p.Name, base, after)
	if sameContent(after, p.Proposed()) {
		if whole, l := p.Diff(); whole != diff || l != lossy {
			t.Fatalf("the proposal shows %q, its accept %q", whole, diff)
		}
	}
	if !lossy {
		return []byte(diff)
	}
	old := FileSide{Name: p.Name, Exists: base.Exists, Lines: SplitLines(base.Data, Bytes)}
	new := FileSide{Name: p.Name, Exists: after.Exists, Lines: SplitLines(after.Data, Bytes)}
	exact := Unified(old, new, DiffLines(old.Lines, new.Lines), diffContext)
	if string(bytes.ToValidUTF8(exact, []byte("\uFFFD"))) != diff {
		t.Fatalf("shown is %q, exact %q", diff, exact)
	}
	return exact
}

// takePairs has each program apply all the diffs as one patch.
func takePairs(t *testing.T, pairs []decidedPair, programs ...string) {
	t.Helper()
	var changes []change
	var patch []byte
	for _, p := range pairs {
		changes, patch = append(changes, p.change), append(patch, p.diff...)
	}
	for _, program := range programs {
		dir := lay(t, changes)
		takePatch(t, dir, patch, program)
		for i := range pairs {
			pairs[i].check(t, filepath.Base(program), dir)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
}

func (p *decidedPair) check(t *testing.T, program, dir string) {
	t.Helper()
	got, err := os.ReadFile(filepath.Join(dir, p.name))
	switch {
	case p.newMode == 0 && os.IsNotExist(err):
	case p.newMode == 0 || err != nil || !bytes.Equal(got, p.new):
		t.Errorf("%s makes %q (%v) of %q in %q, accept writes %q:\n%q", program, got, err, p.old, p.name, p.new, p.diff)
	}
}
