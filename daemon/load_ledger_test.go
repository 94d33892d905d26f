package daemon

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/loomd/loomd/daemon/protocol"
)

// Every file of the load test is these lines, each followed by the tokens that
// agents put there. Nobody removes anything, so where a token stands, and how
// often, tells whether a hunk was applied once, and at its place.
const loadSlots = 12

func slotLine(n int) string { return fmt.Sprintf("slot %02d\n", n) }

func loadText() string {
	var b strings.Builder
	for n := range loadSlots {
		b.WriteString(slotLine(n))
	}
	return b.String()
}

// A token's line names its file and slot.
func tokenLine(agent, path string, slot, n int) string {
	return fmt.Sprintf("token %s %s %02d %d\n", agent, path, slot, n)
}

var tokenPattern = regexp.MustCompile(`token \S+ (\S+) (\d\d) \d+\n`)

func tokensIn(text string) []string { return tokenPattern.FindAllString(text, -1) }

// tokensOf checks that a file is its slots with tokens at their places, each
// once, and returns them.
func tokensOf(path, text string) (tokens []string, err error) {
	next := 0
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		m := tokenPattern.FindStringSubmatch(line)
		switch {
		case m == nil && line == slotLine(next):
			next++
		case m == nil:
			return nil, fmt.Errorf("%s: line %q before slot %d in\n%s", path, line, next, text)
		case m[1] != path || m[2] != fmt.Sprintf("%02d", next-1):
			return nil, fmt.Errorf("%s: %q is in slot %d of\n%s", path, line, next-1, text)
		case seen[line]:
			return nil, fmt.Errorf("%s: %q is there twice", path, line)
		default:
			seen[line] = true
			tokens = append(tokens, line)
		}
	}
	if next != loadSlots {
		return nil, fmt.Errorf("%s: only %d slots in\n%s", path, next, text)
	}
	return tokens, nil
}

// ruledHunk is one hunk that a decision named.
type ruledHunk struct {
	id     string
	word   string   // as the agent shall be told: accepted, modified or rejected
	tokens []string // what the reviewer saw in it
	over   []string // tokens of the tree that it replaces
}

// change is one answer that says a proposal has changed.
type change struct {
	proposal string
	session  string
	path     string
	version  int
	by       string
	comment  string

	step   []string    // tokens that an agent added
	ruled  []ruledHunk // by a decision
	set    bool        // ruled are of a change set: their tokens are all that were open
	undone string      // the hunk that an undo named, "all" for none
	after  []protocol.Hunk
}

// ledger is what the clients were answered, in no order.
type ledger struct {
	mu      sync.Mutex // guards changes
	changes []change
}

func (l *ledger) add(c ...change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changes = append(l.changes, c...)
}

// recent is how many changes back a decision is undone: half as many decided
// proposals as a daemon keeps.
const recent = 500

// some is one of the recent decisions.
func (l *ledger) some(pick func(n int) int, fits func(change) bool) (change, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := l.changes[max(0, len(l.changes)-recent):]
	for range 20 {
		if len(last) == 0 {
			break
		}
		if c := last[pick(len(last))]; len(c.ruled) > 0 && fits(c) {
			return c, true
		}
	}
	return change{}, false
}

// told is a decision as its agent hears of it.
type told struct{ session, proposal, hunk, word, by, comment string }

// account is the ledger read in order: of each proposal by its version, and the
// proposals by their age, since hunks are only ever handed on to a newer one.
type account struct {
	state  map[string]string // of each token: open, accepted or rejected
	place  map[string]string // session and path of each token
	over   map[string]int    // how many accepted hunks replace it
	hunks  map[string]*ruledHunk
	told   map[string][]told // by proposal and hunk, in order
	errors []string
	past   map[string][]string // what became of each token, in order
}

func (a *account) turn(token, state string, c *change) {
	a.state[token] = state
	a.past[token] = append(a.past[token], fmt.Sprintf("%s at version %d of %s by %s", state, c.version, c.proposal, c.by))
}

func (a *account) fail(format string, args ...any) {
	a.errors = append(a.errors, fmt.Sprintf(format, args...))
}

func (l *ledger) read() *account {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := &account{
		state: map[string]string{}, place: map[string]string{}, over: map[string]int{},
		hunks: map[string]*ruledHunk{}, told: map[string][]told{}, past: map[string][]string{},
	}
	number := func(id string) int {
		n, err := strconv.Atoi(strings.TrimPrefix(id, "p"))
		if err != nil {
			a.fail("proposal id %q", id)
		}
		return n
	}
	slices.SortStableFunc(l.changes, func(x, y change) int {
		return cmp.Or(cmp.Compare(number(x.proposal), number(y.proposal)), cmp.Compare(x.version, y.version))
	})
	for i := range l.changes {
		c := &l.changes[i]
		if i > 0 && c.proposal == l.changes[i-1].proposal && c.version == l.changes[i-1].version {
			a.fail("two changes of %s led to version %d", c.proposal, c.version)
		}
		a.take(c)
	}
	return a
}

func (a *account) take(c *change) {
	for _, token := range c.step {
		if a.state[token] != "" {
			a.fail("%q was proposed twice", token)
		}
		a.place[token] = c.session + " " + c.path
		a.turn(token, "open", c)
	}
	if c.set {
		var open []string
		for token, place := range a.place {
			if place == c.session+" "+c.path && a.state[token] == "open" {
				open = append(open, token)
			}
		}
		c.ruled[0].tokens = open
	}
	for i := range c.ruled {
		a.rule(c, &c.ruled[i])
	}
	if c.undone != "" {
		a.undo(c)
	}
}

func (a *account) rule(c *change, h *ruledHunk) {
	key := c.proposal + " " + h.id
	if a.hunks[key] != nil {
		a.fail("%s was decided twice: %s by %s at version %d", key, h.word, c.by, c.version)
	}
	a.hunks[key] = h
	a.told[key] = append(a.told[key], told{c.session, c.proposal, h.id, h.word, c.by, c.comment})
	to := "accepted"
	if h.word == "rejected" {
		to = "rejected"
	}
	for _, token := range h.tokens {
		if a.state[token] != "open" {
			a.fail("%q was %s at version %d of %s hunk %s, but %q", token, h.word, c.version, c.proposal, h.id, a.past[token])
		}
		a.turn(token, to, c)
	}
	for _, token := range h.over {
		a.over[token]++
	}
}

// undo takes back what an undo reopened: one hunk, or all that the answer does
// not show as decided any more.
func (a *account) undo(c *change) {
	decided := map[string]bool{}
	for _, h := range c.after {
		decided[h.ID] = h.State == protocol.HunkAccepted || h.State == protocol.HunkRejected
	}
	n := 0
	for _, key := range slices.Sorted(maps.Keys(a.hunks)) {
		proposal, id, _ := strings.Cut(key, " ")
		if proposal != c.proposal || decided[id] || c.undone != "all" && c.undone != id {
			continue
		}
		h := a.hunks[key]
		delete(a.hunks, key)
		n++
		a.told[key] = append(a.told[key], told{c.session, c.proposal, id, "reopened", c.by, ""})
		for _, token := range h.tokens {
			a.turn(token, "open", c)
		}
		for _, token := range h.over {
			a.over[token]--
		}
	}
	if n == 0 {
		a.fail("the undo of %s of %s at version %d reopened nothing", c.undone, c.proposal, c.version)
	}
}

// onDisk are the tokens that the tree must hold.
func (a *account) onDisk() map[string]bool {
	out := map[string]bool{}
	for token, state := range a.state {
		if state == "accepted" && a.over[token] == 0 {
			out[token] = true
		}
	}
	return out
}
