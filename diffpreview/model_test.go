package diffpreview

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The randomised test with a model. Agents, people with editors, formatters,
// branch switches, restarts and reviewers act in random order on a handful of
// files. The model knows what the tree must hold because it knows every text
// that a person wrote and every hunk that a reviewer was shown; it has no diff:
// every line that anybody writes is written once (but for filler), so that a
// line's bytes say who wrote it and where it belongs.
//
// Where several answers of the engine are right (a conflict or a clean merge,
// a refusal because the editor is busy) the answer is taken as it comes, and
// what follows from it is checked to the byte.
//
// LOOMD_MODEL_SEED repeats a run, LOOMD_MODEL_STEPS sets its length.

// worldSteps is after how many steps a run goes on in a fresh world: a journal
// and a list of decided proposals that only grow make every step slower.
const worldSteps = 700

// defect is a rule that was broken.
type defect struct{ rule, what string }

// fail ends the run.
func (m *model) fail(rule, format string, args ...any) {
	panic(&defect{rule, fmt.Sprintf(format, args...)})
}

func (m *model) must(err error) {
	if err != nil {
		m.fail("no error", "%v", err)
	}
}

func TestModel(t *testing.T) {
	seed, steps := uint64(time.Now().UnixNano()%1e9), 4_000
	if os.Getenv("LOOMD_SOAK") != "" {
		steps = 240_000
	}
	if s := os.Getenv("LOOMD_MODEL_SEED"); s != "" {
		seed = number(t, s)
	}
	if s := os.Getenv("LOOMD_MODEL_STEPS"); s != "" {
		steps = int(number(t, s))
	}
	t.Logf("LOOMD_MODEL_SEED=%d LOOMD_MODEL_STEPS=%d", seed, steps)
	begun, did := time.Now(), map[string]int{}
	for done := 0; done < steps; seed++ {
		n := min(worldSteps, steps-done)
		r := runModel(memoryDir(t), seed, sequence(n))
		if r.defect != nil {
			t.Fatalf("LOOMD_MODEL_SEED=%d LOOMD_MODEL_STEPS=%d\n%s", seed, n, explain(t, seed, r))
		}
		done += n
		for what, times := range r.did {
			did[what] += times
		}
	}
	t.Logf("%d steps, %.0f per second", steps, float64(steps)/time.Since(begun).Seconds())
	for _, what := range sortedKeys(did) {
		t.Logf("%7d %s", did[what], what)
	}
}

func number(t *testing.T, s string) uint64 {
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func sequence(n int) []int {
	steps := make([]int, n)
	for i := range steps {
		steps[i] = i + 1
	}
	return steps
}

// result is how a run ended.
type result struct {
	defect *defect
	steps  []int        // that were made, the failing one last
	about  []*modelFile // what each was about; nil: more than one file
	trace  []string
	did    map[string]int
}

// runModel makes the steps of these numbers in a fresh world. What a step does
// follows from the seed, its number and the world it finds, so that steps can
// be left out.
func runModel(dir string, seed uint64, steps []int) (r result) {
	m := &model{seed: seed, dir: dir, did: map[string]int{}}
	defer func() {
		r.did, r.about = m.did, append(r.about, m.about)
		if why := recover(); why != nil {
			d, ok := why.(*defect)
			if !ok {
				d = &defect{fmt.Sprintf("no panic: %v", why), string(debug.Stack())}
			}
			r.defect = d
			if m.f != nil && ok {
				m.logf("the proposals on %s:%s", m.f.name, m.dump())
			}
		}
		r.trace = m.trace
		m.stop()
		os.RemoveAll(dir)
	}()
	m.begin()
	for _, n := range steps {
		r.steps = append(r.steps, n)
		m.step = n
		m.rng = rand.New(rand.NewPCG(seed, uint64(n)))
		m.act()
		r.about = append(r.about, m.about)
	}
	m.end()
	return r
}

// dump is what the store has for the step's file.
func (m *model) dump() string {
	if m.store == nil {
		return ""
	}
	out := fmt.Sprintf(" on %v", m.tree(m.f))
	for _, p := range m.store.those(func(p *Proposal) bool { return p.Path == m.f.path }) {
		out += "\n" + summary(p)
	}
	return out
}

// explain makes a failure small and tells its steps.
func explain(t *testing.T, seed uint64, r result) string {
	small := shrink(t, seed, r, time.Now().Add(60*time.Second))
	var b strings.Builder
	fmt.Fprintf(&b, "step %d: %s: %s\n\nthe last steps:\n", r.steps[len(r.steps)-1], r.defect.rule, r.defect.what)
	b.WriteString(strings.Join(r.trace[max(0, len(r.trace)-12):], "\n"))
	fmt.Fprintf(&b, "\n\nwith %d of %d steps: %s: %s\n", len(small.steps), len(r.steps), small.defect.rule, small.defect.what)
	b.WriteString(strings.Join(small.trace[max(0, len(small.trace)-80):], "\n"))
	return b.String()
}

// shrink leaves steps out as long as the same rule is broken.
func shrink(t *testing.T, seed uint64, r result, until time.Time) result {
	root := memoryDir(t)
	tries := 0
	fails := func(steps []int) (result, bool) {
		tries++
		got := runModel(filepath.Join(root, strconv.Itoa(tries)), seed, steps)
		return got, got.defect != nil && got.defect.rule == r.defect.rule
	}
	tried := map[*modelFile]bool{nil: true}
	for i := len(r.about) - 1; i >= 0; i-- { // the file of the last step is the likeliest
		f := r.about[i]
		if tried[f] {
			continue
		}
		tried[f] = true
		var mine []int
		for n, about := range r.about[:len(r.steps)] {
			if about == nil || f == about {
				mine = append(mine, r.steps[n])
			}
		}
		if got, ok := fails(mine); ok {
			r = got
			break
		}
	}
	for size := len(r.steps) / 2; size > 0; size /= 2 {
		for again := true; again; {
			again = false
			for at := len(r.steps) - 1; at > 0; at -= size {
				if time.Now().After(until) {
					return r
				}
				to := min(at, len(r.steps)-1)
				fewer := slices.Concat(r.steps[:max(0, at-size)], r.steps[to:])
				if got, ok := fails(fewer); ok {
					r, again = got, size == 1
				}
			}
		}
	}
	return r
}
