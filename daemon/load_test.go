package daemon

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/daemon/rpc"
)

const (
	loadAgents    = 8
	loadLoners    = 2 // of them: they share no file
	loadReviewers = 3
	sharedFiles   = 4
	ownFiles      = 2

	// loadPatience bounds one call. None takes a hundredth of it unless it hangs.
	loadPatience = time.Minute
)

// load is a daemon with all its clients at work.
type load struct {
	t      *testing.T
	host   *host
	ledger ledger
	alone  map[string]bool // sessions of loners

	mu     sync.Mutex // guards counts
	counts map[string]int
}

func (l *load) count(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts[what]++
}

func (l *load) loner(rnd *rand.Rand) string {
	all := slices.Sorted(maps.Keys(l.alone))
	return all[rnd.IntN(len(all))]
}

// Agents and reviewers work on one workspace as fast as they can, for a minute
// with LOOMD_SOAK set. In the end the tree is its first text and every token
// that was accepted last, once, in its place; every hunk was decided once; every
// agent was told of every decision once; nothing hung. In memory, where no sync
// keeps them apart, they meet ten times as often.
func TestLoad(t *testing.T) {
	long, seed := 2*time.Second, uint64(time.Now().UnixNano())
	if os.Getenv("LOOMD_SOAK") != "" {
		long = time.Minute
	}
	if given := os.Getenv("LOOMD_SEED"); given != "" {
		var err error
		seed, err = strconv.ParseUint(given, 10, 64)
		must(t, err)
	}
	t.Logf("LOOMD_SEED=%d", seed)
	t.Run("on disk", func(t *testing.T) { runLoad(t, seed, long) })
	t.Run("in memory", func(t *testing.T) {
		memory, err := os.MkdirTemp("/dev/shm", "loomd")
		if err != nil {
			t.Skip("no file system in memory: ", err)
		}
		t.Cleanup(func() { os.RemoveAll(memory) })
		t.Setenv("TMPDIR", memory)
		runLoad(t, seed+1, long)
	})
}

func runLoad(t *testing.T, seed uint64, long time.Duration) {
	t.Helper()
	l := &load{t: t, alone: map[string]bool{}, counts: map[string]int{}}
	l.host = newHost(t, l.files())
	agents, reviewers := l.clients(seed)
	ctx, cancel := context.WithTimeout(context.Background(), long)
	defer cancel()
	var working sync.WaitGroup
	for _, work := range l.all(agents, reviewers) {
		working.Go(func() {
			if err := work(ctx); err != nil {
				t.Error(err)
				cancel()
			}
		})
	}
	working.Wait()
	if t.Failed() {
		return
	}
	for _, a := range agents { // who hears now of what was decided last
		if err := a.read(); err != nil {
			t.Fatal(err)
		}
	}
	l.check(agents)
	l.report(reviewers, long)
}

func (l *load) files() map[string]string {
	files := map[string]string{}
	for n := range sharedFiles {
		files[fmt.Sprint("shared", n)] = loadText()
	}
	for a := range loadAgents {
		for n := range ownFiles {
			files[fmt.Sprintf("a%d/own%d", a, n)] = loadText()
		}
	}
	return files
}

func (l *load) clients(seed uint64) (agents []*loadAgent, reviewers []*loadReviewer) {
	for n := range loadAgents {
		a := &loadAgent{loadClient: loadClient{load: l, name: fmt.Sprint("a", n), rnd: rand.New(rand.NewPCG(seed, uint64(n)))}}
		for i := range ownFiles {
			a.files = append(a.files, fmt.Sprintf("%s/own%d", a.name, i))
		}
		for i := range sharedFiles {
			if n >= loadLoners {
				a.files = append(a.files, fmt.Sprint("shared", i))
			}
		}
		silent := func(context.Context, *rpc.Conn, *rpc.Request) (any, error) { return nil, nil }
		loom := a.connect(protocol.LoomOptions{Role: protocol.RoleAgent, Session: &protocol.SessionOptions{Label: a.name}}, silent)
		a.session = loom.Session.ID
		if n < loadLoners {
			l.alone[a.session] = true
		}
		agents = append(agents, a)
	}
	for n := range loadReviewers {
		r := &loadReviewer{loadClient: loadClient{load: l, name: fmt.Sprint("r", n), rnd: rand.New(rand.NewPCG(seed, uint64(100+n)))}}
		r.connect(protocol.LoomOptions{Role: protocol.RoleReviewer}, r.heard())
		reviewers = append(reviewers, r)
	}
	return agents, reviewers
}

// connect greets the daemon on its socket, until the test ends.
func (c *loadClient) connect(options protocol.LoomOptions, handle rpc.Handler) protocol.LoomCapabilities {
	t := c.load.t
	t.Helper()
	c.conn = rpc.NewConn(c.load.host.dial(), rpc.Options{})
	ran := make(chan error, 1)
	go func() { ran <- c.conn.Run(context.Background(), handle) }()
	t.Cleanup(func() {
		c.conn.Close()
		if err := <-ran; err != nil {
			t.Errorf("the connection of %s: %v", c.name, err)
		}
	})
	hello := args{
		"capabilities": args{}, "clientInfo": args{"name": c.name},
		"initializationOptions": args{"loom": options},
	}
	var answer struct {
		Capabilities struct {
			Experimental struct {
				Loom protocol.LoomCapabilities `json:"loom"`
			} `json:"experimental"`
		} `json:"capabilities"`
	}
	must(t, c.call("initialize", hello, &answer))
	return answer.Capabilities.Experimental.Loom
}

func (l *load) all(agents []*loadAgent, reviewers []*loadReviewer) (work []func(context.Context) error) {
	for _, a := range agents {
		work = append(work, a.work)
	}
	for _, r := range reviewers {
		work = append(work, r.work)
	}
	return work
}

// check compares the tree, and what the agents were told, with the ledger.
func (l *load) check(agents []*loadAgent) {
	l.t.Helper()
	a := l.ledger.read()
	want := a.onDisk()
	found := 0
	err := filepath.WalkDir(l.host.root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		path, err := filepath.Rel(l.host.root, name)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		tokens, err := tokensOf(filepath.ToSlash(path), string(text))
		for _, token := range tokens {
			found++
			if !want[token] {
				a.fail("on disk is %q, replaced by %d: %q", token, a.over[token], a.past[token])
			}
			delete(want, token)
		}
		return err
	})
	if err != nil {
		a.fail("%v", err)
	}
	for token := range want {
		a.fail("%q was accepted and is not on disk: %q", token, a.past[token])
	}
	for _, agent := range agents {
		agent.checkTold(a)
	}
	states := map[string]int{}
	for _, state := range a.state {
		states[state]++
	}
	l.t.Logf("tokens: %d accepted, %d rejected, %d undecided; %d on disk", states["accepted"], states["rejected"], states["open"], found)
	for _, e := range a.errors[:min(len(a.errors), 20)] {
		l.t.Error(e)
	}
}

// checkTold compares the reviews that an agent got with the decisions, hunk by
// hunk, in order. Conflicts are states and may be told more than once.
func (a *loadAgent) checkTold(account *account) {
	got := map[string][]told{}
	for _, r := range a.told {
		key := r.Proposal + " " + r.Hunk
		if r.Decision != "conflict" {
			got[key] = append(got[key], told{a.session, r.Proposal, r.Hunk, r.Decision, r.By, r.Comment})
		}
	}
	for key, want := range account.told {
		if want[0].session == a.session && !slices.Equal(got[key], want) {
			account.fail("%s was told %v, want %v", a.name, got[key], want)
		}
		if want[0].session == a.session {
			delete(got, key)
		}
	}
	for _, extra := range got {
		account.fail("%s was told %v, and nobody decided that", a.name, extra)
	}
}

func (l *load) report(reviewers []*loadReviewer, long time.Duration) {
	l.t.Helper()
	var times []time.Duration
	for _, r := range reviewers {
		times = append(times, r.times...)
	}
	var counts []string
	for _, what := range slices.Sorted(maps.Keys(l.counts)) {
		counts = append(counts, fmt.Sprintf("%s %d", what, l.counts[what]))
	}
	if len(times) == 0 {
		l.t.Fatal("nothing was decided")
	}
	p50, p99 := percentiles(times)
	l.t.Logf("%d agents, %d reviewers, %s: decide %d times, p50 %s, p99 %s", loadAgents, loadReviewers, long, len(times), p50, p99)
	l.t.Logf("%s", strings.Join(counts, ", "))
}
