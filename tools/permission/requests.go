package permission

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// State is where a request stands.
type State string

// The states of a request.
const (
	Asked     State = "asked"     // nobody has decided
	Allowed   State = "allowed"   // the same command may run, as often as Scope says
	Denied    State = "denied"    // the same command of the session is denied
	Used      State = "used"      // it was allowed once, and has run
	Revoked   State = "revoked"   // what was decided holds no more
	Withdrawn State = "withdrawn" // its session is over
)

// Scope is how long an allow holds.
type Scope string

// The scopes.
const (
	Once    Scope = "once"    // for the next such command of the session
	Session Scope = "session" // until the session ends
	Always  Scope = "always"  // for every session, until it is revoked
)

// Request asks a person whether a command may run.
type Request struct {
	ID      string
	Session string // id; "" of one that is allowed always and was decided by an earlier daemon
	Label   string
	Tool    string
	Command string // whole: what is not seen whole is not asked about
	Runs    []string
	Why     string
	Rule    string // that asks, "" when it is the default
	State   State
	Scope   Scope     // of an allow
	By      string    // who decided
	Reason  string    // of a deny
	Since   time.Time // when it was asked
	Decided time.Time
}

// Kept is an allow that holds for good.
type Kept struct {
	ID      string    `json:"id"`
	Tool    string    `json:"tool"`
	Command string    `json:"command"`
	By      string    `json:"by"`
	Since   time.Time `json:"since"`
}

// Bounds of what is kept. An agent that asks and asks gets no more of a person's
// list than this.
const (
	maxAsked   = 50   // waiting requests of one session
	maxDecided = 1000 // others, of all sessions
	maxRuns    = 50   // commands that a request lists
)

// ErrUnknown says that there is no such request.
var ErrUnknown = errors.New("there is no such request")

// ErrTooMany says that a session has asked too much.
var ErrTooMany = fmt.Errorf("%d commands of this session wait for a person already", maxAsked)

// DecidedError says that somebody was first.
type DecidedError struct{ Request Request }

func (e *DecidedError) Error() string {
	return fmt.Sprintf("%s is %s already, by %s", e.Request.ID, e.Request.State, e.Request.By)
}

// Requests holds what persons are asked and what they decided. What is asked is
// the very text of a command: only the same text is the same command.
type Requests struct {
	save func([]Kept) error // writes the allows that hold for good
	told func(Request)      // is told of each change, in order, with mu held

	mu   sync.Mutex // guards the fields below
	list []*entry   // oldest first
	next int        // the number of the newest id
}

type entry struct {
	Request
	decided chan struct{} // closed when it is not asked any more, by who changes State
}

// NewRequests begins with the allows that hold for good.
func NewRequests(kept []Kept, save func([]Kept) error, told func(Request)) *Requests {
	q := &Requests{save: save, told: told}
	for _, k := range kept {
		e := &entry{Request: Request{
			ID: k.ID, Tool: k.Tool, Command: k.Command, State: Allowed, Scope: Always, By: k.By, Since: k.Since, Decided: k.Since,
		}}
		if n, err := strconv.Atoi(strings.TrimPrefix(k.ID, "q")); err == nil {
			q.next = max(q.next, n)
		}
		q.list = append(q.list, e)
	}
	return q
}

// Admit reports whether a command that is asked about may run now. An allow for
// once is used up by that. If it may not, the request says why: it is denied, or
// asked, and then perhaps since this call.
func (q *Requests) Admit(r Request) (Request, bool, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := 0
	var denied, asked *entry
	for _, e := range q.list {
		if e.State == Asked && e.Session == r.Session {
			waiting++
		}
		if e.Tool != r.Tool || e.Command != r.Command || e.Session != r.Session && e.Scope != Always {
			continue
		}
		switch e.State {
		case Allowed:
			if e.Scope == Once {
				e.State = Used
				q.told(e.Request)
			}
			return e.Request, true, nil
		case Denied:
			denied = e
		case Asked:
			asked = e
		}
	}
	switch {
	case denied != nil:
		return denied.Request, false, nil
	case asked != nil:
		return asked.Request, false, nil
	case waiting >= maxAsked:
		return Request{}, false, ErrTooMany
	}
	q.next++
	r.ID, r.State, r.Since = fmt.Sprintf("q%d", q.next), Asked, time.Now().UTC()
	r.Runs = r.Runs[:min(len(r.Runs), maxRuns)]
	q.list = append(q.list, &entry{Request: r, decided: make(chan struct{})})
	q.forget()
	q.told(r)
	return r, false, nil
}

// forget drops the oldest of what is over, and then of what was decided, when
// there is too much. What is asked and what holds for good stays.
func (q *Requests) forget() {
	over := func(e *entry) bool { return e.State == Used || e.State == Revoked || e.State == Withdrawn }
	held := func(e *entry) bool { return e.State == Denied || e.State == Allowed && e.Scope != Always }
	for _, drop := range []func(*entry) bool{over, held} {
		excess := -maxDecided
		for _, e := range q.list {
			if over(e) || held(e) {
				excess++
			}
		}
		q.list = slices.DeleteFunc(q.list, func(e *entry) bool {
			if excess <= 0 || !drop(e) {
				return false
			}
			excess--
			return true
		})
	}
}

// Await returns when a request is not asked any more, or ctx has ended.
func (q *Requests) Await(ctx context.Context, id string) {
	q.mu.Lock()
	e := q.find(id)
	q.mu.Unlock()
	if e == nil || e.decided == nil {
		return
	}
	select {
	case <-e.decided:
	case <-ctx.Done():
	}
}

func (q *Requests) find(id string) *entry {
	for _, e := range q.list {
		if e.ID == id {
			return e
		}
	}
	return nil
}

// Verdict is what a person says of a request. Without Allow it is denied.
type Verdict struct {
	Allow  bool
	Scope  Scope
	Reason string
	By     string
}

// Decide ends a request. The first decision wins: for any other the error is a
// *DecidedError.
func (q *Requests) Decide(id string, v Verdict) (Request, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e := q.find(id)
	switch {
	case e == nil:
		return Request{}, ErrUnknown
	case e.State != Asked:
		return e.Request, &DecidedError{e.Request}
	}
	decided := e.Request
	decided.State, decided.By, decided.Decided = Denied, v.By, time.Now().UTC()
	if v.Allow {
		decided.State, decided.Scope = Allowed, v.Scope
	} else {
		decided.Reason = v.Reason
	}
	if decided.Scope == Always {
		if err := q.save(append(q.kept(), keep(decided))); err != nil {
			return e.Request, fmt.Errorf("keeping the permission: %w", err)
		}
	}
	q.settle(e, decided)
	return decided, nil
}

func keep(r Request) Kept { return Kept{r.ID, r.Tool, r.Command, r.By, r.Decided} }

// kept lists what holds for good.
func (q *Requests) kept() []Kept {
	list := []Kept{}
	for _, e := range q.list {
		if e.State == Allowed && e.Scope == Always {
			list = append(list, keep(e.Request))
		}
	}
	return list
}

// settle gives an entry its new state.
func (q *Requests) settle(e *entry, now Request) {
	if e.State == Asked {
		close(e.decided)
	}
	e.Request = now
	q.told(now)
}

// Revoke takes back what was decided. The next such command is asked about again.
func (q *Requests) Revoke(id, by string) (Request, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e := q.find(id)
	if e == nil || e.State != Allowed && e.State != Denied {
		return Request{}, ErrUnknown
	}
	before, now := e.Request, e.Request
	now.State, now.By, now.Decided = Revoked, by, time.Now().UTC()
	if e.Scope == Always {
		e.State = Revoked
		if err := q.save(q.kept()); err != nil {
			e.Request = before
			return before, fmt.Errorf("taking the permission back: %w", err)
		}
	}
	q.settle(e, now)
	return now, nil
}

// EndSession withdraws what a session has asked, and what was decided for it
// alone.
func (q *Requests) EndSession(session string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range q.list {
		if e.Session == session && (e.State == Asked || e.State == Denied || e.State == Allowed && e.Scope != Always) {
			now := e.Request
			now.State = Withdrawn
			q.settle(e, now)
		}
	}
}

// List is what is asked and what was decided and holds, oldest first; with a
// state, what is in that state.
func (q *Requests) List(state State) []Request {
	q.mu.Lock()
	defer q.mu.Unlock()
	list := []Request{}
	for _, e := range q.list {
		if e.State == state || state == "" && (e.State == Asked || e.State == Allowed || e.State == Denied) {
			list = append(list, e.Request)
		}
	}
	slices.SortStableFunc(list, func(a, b Request) int { return cmp.Compare(number(a.ID), number(b.ID)) })
	return list
}

func number(id string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(id, "q"))
	return n
}

// Waiting is how many requests nobody has decided.
func (q *Requests) Waiting() int { return len(q.List(Asked)) }
