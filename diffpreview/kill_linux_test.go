//go:build amd64 || arm64

package diffpreview

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	// killDir is set in a child of TestKillAtEverySystemCall: the directory that
	// holds its workspace and its state.
	killDir = "LOOMD_TEST_KILL_DIR"
	// killSeed repeats a run of TestKillAtEverySystemCall.
	killSeed = "LOOMD_TEST_KILL_SEED"

	killSample = 40  // points of the short form
	killLeast  = 500 // system calls that the set takes at least
)

// TestKillChildDecides is a child of TestKillAtEverySystemCall: a daemon that is
// told to accept the change set.
func TestKillChildDecides(t *testing.T) {
	w := killWorld(t)
	w.open()
	announce(killBegin)
	_, err := w.store.DecideSession(context.Background(), DecideSet{Session: "s1", Accept: true, Comment: "all of it", By: "tester"})
	if err != nil {
		t.Fatal(err)
	}
	announce(killEnd)
	w.close()
}

// TestKillChildRestarts is a child of TestKillAtEverySystemCall: a daemon that
// comes back.
func TestKillChildRestarts(t *testing.T) {
	w := killWorld(t)
	announce(killBegin)
	w.open()
	announce(killEnd)
	w.close()
}

func killWorld(t *testing.T) *world {
	dir := os.Getenv(killDir)
	if dir == "" {
		t.Skip("runs as a child")
	}
	return &world{t: t, root: filepath.Join(dir, "ws"), state: filepath.Join(dir, "state")}
}

// kills is a change set that is accepted again and again, by a process that is
// killed every time somewhere else.
type kills struct {
	*testing.T
	w         *world
	env       []string
	old, done treeCopy // of the workspace
	state     treeCopy // of the state directory before
	hunks     int
	restart   int // the most system calls that a restart was seen to take

	killed, again, whole int // points, those killed twice, those with all written
}

func newKills(t *testing.T) *kills {
	t.Helper()
	dir := memoryDir(t)
	files := killFiles()
	if len(files) != 50 {
		t.Fatalf("a set of %d files, want 50", len(files))
	}
	k := &kills{T: t, env: []string{killDir + "=" + dir}, restart: 50}
	k.w = &world{t: t, root: filepath.Join(dir, "ws"), state: filepath.Join(dir, "state")}
	k.old, k.done = killTrees(files)
	k.old.write(t, k.w.root)
	k.w.open()
	s := k.w.session("agent")
	for _, f := range files {
		k.hunks += len(f.propose(t, k.w.store.View(s)).Hunks)
	}
	k.w.close()
	k.state = copyTree(t, k.w.state)
	k.wantTree("prepared", k.old)
	return k
}

// The daemon is killed at system calls that change a disk while it writes a
// change set of 50 files: with LOOMD_SOAK set at every one, else at some. After
// a restart all files are new and the proposals accepted, or all files are old
// and the proposals open, and then they can be accepted. Some of the restarts
// are killed, too.
//
// What a process had written when it was killed, the kernel has: this tests
// that every state in between can be told apart and mended. What a machine that
// loses power has on its disk is another matter.
func TestKillAtEverySystemCall(t *testing.T) {
	rng := killRandom(t)
	mask := syscall.Umask(0o022)
	defer syscall.Umask(mask)
	k := newKills(t)
	undisturbed := k.run(0, atEntry)
	calls := undisturbed.calls
	t.Logf("%d system calls: %s", len(calls), tally(calls))
	if len(calls) < killLeast {
		t.Fatalf("only %d system calls: the filter misses some, or the set is too small", len(calls))
	}
	if !k.check("not killed", undisturbed) {
		t.Fatal("a decision that was not killed is not carried out")
	}
	points := here(rng, len(calls))
	if os.Getenv("LOOMD_SOAK") != "" {
		points = everywhere(rng, calls)
	}
	begin := time.Now()
	all := make([]*kills, min(runtime.GOMAXPROCS(0), len(points)))
	t.Run("points", func(t *testing.T) {
		for n := range all {
			t.Run(strconv.Itoa(n), func(t *testing.T) {
				t.Parallel()
				all[n] = newKills(t)
				for i := n; i < len(points); i += len(all) {
					all[n].point(points[i])
				}
			})
		}
	})
	if t.Failed() {
		return
	}
	for _, one := range all {
		k.killed, k.again, k.whole = k.killed+one.killed, k.again+one.again, k.whole+one.whole
	}
	if k.killed < len(points)*9/10 {
		t.Errorf("killed only %d times of %d", k.killed, len(points))
	}
	if k.whole == 0 || k.whole == k.killed {
		t.Errorf("%d of %d times all was written: the kills miss the commit", k.whole, k.killed)
	}
	t.Logf("killed %d times, %d of them again in the restart; the set was written %d times; %.2f s each",
		k.killed, k.again, k.whole, time.Since(begin).Seconds()/float64(len(points)))
}

func killRandom(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv(killSeed); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("repeat with %s=%d", killSeed, seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// killPoint is where the daemon is killed: at which of its system calls, from 1.
// When again is not 0 the next one is killed too, at that part, up to 1, of what
// its start takes.
type killPoint struct {
	at    int
	when  moment
	again float64
}

// everywhere kills at the entry of every call, halfway through every write, at
// the exit of some, and again in some of the restarts.
func everywhere(rng *rand.Rand, calls []string) (points []killPoint) {
	for i, name := range calls {
		at := i + 1
		points = append(points, killPoint{at, atEntry, 0})
		if strings.Contains(name, "write") {
			points = append(points, killPoint{at, halfway, 0})
		}
		switch rng.IntN(4) {
		case 0:
			points = append(points, killPoint{at, atExit, 0})
		case 1:
			points = append(points, killPoint{at, atEntry, 1 - rng.Float64()})
		}
	}
	return points
}

// here kills at calls evenly spread, from a random one on, and at the last,
// after which the set is written.
func here(rng *rand.Rand, calls int) (points []killPoint) {
	from := rng.Float64()
	for i := range killSample {
		at := 1 + int((float64(i)+from)*float64(calls)/killSample)
		switch i % 4 {
		case 0:
			points = append(points, killPoint{at, atExit, 0})
		case 1:
			points = append(points, killPoint{at, halfway, 0})
		case 2:
			points = append(points, killPoint{at, atEntry, 0})
		case 3:
			points = append(points, killPoint{at, atEntry, 1 - rng.Float64()})
		}
	}
	return append(points, killPoint{calls, atExit, 0})
}

// tally counts names.
func tally(names []string) string {
	counts := map[string]int{}
	for _, n := range names {
		counts[n]++
	}
	var out []string
	for _, n := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, fmt.Sprintf("%d %s", counts[n], n))
	}
	return strings.Join(out, ", ")
}

// run accepts the set in a process that is killed at a call.
func (k *kills) run(at int, when moment) *tracer {
	k.Helper()
	k.old.write(k.T, k.w.root)
	k.state.write(k.T, k.w.state)
	return runTraced(k.T, "TestKillChildDecides", k.env, at, when)
}

func (k *kills) point(p killPoint) {
	k.Helper()
	tr := k.run(p.at, p.when)
	if !tr.killed {
		k.check("answered", tr) // this time the decision took a call less
		return
	}
	k.killed++
	label := fmt.Sprintf("killed %s call %d, %s", p.when, p.at, tr.calls[p.at-1])
	if p.again > 0 {
		again := int(math.Ceil(p.again * float64(k.restart)))
		second := runTraced(k.T, "TestKillChildRestarts", k.env, again, atEntry)
		if second.killed {
			k.again++
			label += fmt.Sprintf(", then at the entry of call %d of the restart, %s", again, second.calls[again-1])
		} else {
			label += ", restarted"
		}
		k.restart = max(k.restart, len(second.calls))
	}
	if k.check(label, tr) {
		k.whole++
	}
}

// check restarts the daemon and reports whether the set is written.
func (k *kills) check(label string, tr *tracer) (applied bool) {
	k.Helper()
	k.w.open()
	first := k.told()
	applied = k.applied(label)
	want := k.old
	if applied {
		want = k.done
	} else if tr.ended {
		k.Errorf("%s: the decision was answered and is forgotten", label)
	}
	k.wantTree(label, want)
	k.wantState(label)
	k.w.restart()
	for i, second := range k.told() { // there are 50 proposals each time
		if !reflect.DeepEqual(second, first[i]) {
			k.Errorf("%s: a restart brings back\n%.2000v\nand another one\n%.2000v", label, first[i], second)
		}
	}
	k.wantTree(label+", restarted twice", want)
	if !applied {
		k.accept(label)
	}
	k.w.close()
	return applied
}

// accept accepts the set that was rolled back.
func (k *kills) accept(label string) {
	k.Helper()
	open, err := k.w.store.List(Filter{})
	if err != nil || len(open) != 50 {
		k.Fatalf("%s: %d proposals are open: %v", label, len(open), err)
	}
	result, err := k.w.store.DecideSession(context.Background(), DecideSet{Session: "s1", Accept: true, By: "tester"})
	if err != nil || len(result.Proposals) != 50 || len(result.Written) != 50 {
		k.Fatalf("%s: accepting after the restart: %d proposals, %d files, %v", label, len(result.Proposals), len(result.Written), err)
	}
	k.w.restart()
	label += ", then accepted"
	if !k.applied(label) {
		k.Errorf("%s: the proposals are open", label)
	}
	k.wantTree(label, k.done)
	k.wantState(label)
}

// applied reports whether all proposals are accepted, and fails when some are,
// or when the agent is not told just that.
func (k *kills) applied(label string) bool {
	k.Helper()
	states := map[State]int{}
	for _, p := range k.w.store.snapshot() {
		states[p.State()]++
	}
	told := map[string]bool{}
	reviews := k.w.store.Reviews("s1")
	for _, r := range reviews {
		if r.Decision != "accepted" || r.By != "tester" {
			k.Errorf("%s: the agent is told %+v", label, r)
		}
		told[r.Path] = true
	}
	history := k.history()
	for i, e := range history {
		if e.Seq != i+1 || e.Decision != "accepted" || e.By != "tester" || e.Session != "s1" {
			k.Errorf("%s: the history has %+v", label, e)
		}
	}
	switch {
	case len(states) == 1 && states[StateOpen] == 50 && len(reviews) == 0 && len(history) == 0:
		return false
	case len(states) == 1 && states[StateApplied] == 50 && len(told) == 50 && len(reviews) == k.hunks && len(history) == k.hunks:
		return true
	}
	k.Fatalf("%s: proposals %v, the agent is told %d things of %d files, the history has %d entries",
		label, states, len(reviews), len(told), len(history))
	return false
}

func (k *kills) history() []HistoryEntry {
	k.Helper()
	entries, more, err := k.w.store.History(HistoryFilter{Limit: maxHistoryPage})
	if err != nil || more {
		k.Fatalf("%d entries of the history, more: %v, %v", len(entries), more, err)
	}
	return entries
}

// told is what a store says there is.
func (k *kills) told() []any {
	k.Helper()
	s := k.w.store
	proposals := s.snapshot()
	slices.SortFunc(proposals, func(a, b *Proposal) int { return strings.Compare(a.ID, b.ID) })
	out := []any{s.Sessions(), s.Reviews("s1"), k.history()}
	for _, p := range proposals {
		out = append(out, *p)
	}
	return out
}

func (k *kills) wantTree(label string, want treeCopy) {
	k.Helper()
	if d := want.differences(copyTree(k.T, k.w.root)); d != "" {
		k.Errorf("%s: the workspace differs:\n%s", label, d)
	}
}

var bodyName = regexp.MustCompile(`^bodies/[0-9a-f]{64}$`)

// wantState fails when the state directory has a file that nothing names.
func (k *kills) wantState(label string) {
	k.Helper()
	state := copyTree(k.T, k.w.state)
	journal := k.w.opened(state["journal.jsonl"].text)
	sealer, err := openSeal(k.w.state)
	if err != nil {
		k.Fatal(err)
	}
	for name, one := range state {
		body := bodyName.MatchString(name)
		switch {
		case one.mode.Perm()&0o077 != 0:
			k.Errorf("%s: %s in the state directory has mode %v", label, name, one.mode)
		case body && !opensTo(sealer, one.text, filepath.Base(name)):
			k.Errorf("%s: %s in the state directory is damaged", label, name)
		case body && strings.Contains(journal, filepath.Base(name)), name == "bodies", name == "journal.jsonl", name == keyName:
		case name == "history.jsonl" && len(k.history()) > 0:
		default:
			k.Errorf("%s: %s is left in the state directory", label, name)
		}
	}
}
