package match

import (
	"encoding/binary"
	"slices"
)

// A state has a number; what it leads to is kept by byte in a table of one of two
// forms. As long as there are few states, each byte has a column of theirs, and the
// number is the place in the column: the next state is one load behind the last. A
// larger table has a row for each state, and the number is where the row begins.
//
// The first two numbers are no states: all that leads into them stays there, so that a
// loop need not look at each step.
const (
	unknown   = 0       // not computed yet, or to be looked at each time
	fewStates = 1 << 8  // states of the first form
	tableSize = 1 << 16 // entries of the second; an index of 16 bits needs no check
)

type (
	column [fewStates]uint8
	rows   [tableSize]uint16
)

// state is a set of instructions that are to be tried at a place.
type state struct {
	set    []uint32 // sorted; see dfa.closure
	before before
	idle   bool // no match has begun, where that is asked for
	atEnd  verdict
	cr     [2]uint16 // where "\r" leads: within a line, and at its end
}

// verdict is what was found out about a state, and if it was.
type verdict uint8

const (
	notAsked verdict = iota
	no
	yes
)

// dfa is a program made deterministic while it runs. It tells whether a match ends
// at or before a place, and forgets all states when there are too many. It is used by
// one goroutine at a time.
type dfa struct {
	p       *program
	few     bool // the first form of the table
	columns []column
	byByte  [256]*column
	table   *rows
	shift   uint   // 0, or a row has 1<<shift entries
	matched uint16 // the number that is reached when a match is sure
	states  []state
	ids     map[string]uint16
	start   [4]uint16 // by what stands before; unknown: not made yet

	losses int  // times that the states were forgotten
	spent  int  // bytes that were walked since
	tight  int  // times that they were forgotten after too few bytes
	loose  bool // states are no longer kept

	work workspace
}

// worthwhile is how many bytes a state must serve on average, and patience how often
// it may be less, before states are no longer kept.
const (
	worthwhile = 8
	patience   = 3
)

// newDFA makes an automaton. With underway its states tell whether a match has begun,
// and there are more of them.
func newDFA(p *program, underway bool) *dfa {
	p.prepare()
	d := &dfa{p: p, few: true, columns: make([]column, p.count), ids: map[string]uint16{}}
	for b := range d.byByte {
		d.byByte[b] = &d.columns[p.classes[b]]
	}
	d.work = workspace{seen: make([]uint32, 2*len(p.insts)), underway: underway}
	d.forget()
	return d
}

// widen changes to the second form of the table.
func (d *dfa) widen() {
	d.few = false
	d.table = new(rows)
	for 1<<d.shift < d.p.count {
		d.shift++
	}
	d.states = d.states[:0]
	d.forget()
}

// forget drops all states.
func (d *dfa) forget() {
	d.matched = 1 << d.shift
	if d.few {
		clear(d.columns)
		for i := range d.columns {
			d.columns[i][d.matched] = uint8(d.matched)
		}
	} else {
		clear(d.table[:len(d.states)<<d.shift])
		for i := range 1 << d.shift {
			d.table[int(d.matched)+i] = d.matched
		}
	}
	clear(d.ids)
	d.states = append(d.states[:0], state{}, state{})
	d.start = [4]uint16{}
	d.spent = 0
	d.losses++
}

// makeRoom sees to it that there is place for another state. It reports whether it
// had to forget all others: the numbers that callers hold mean nothing then.
func (d *dfa) makeRoom() bool {
	switch {
	case d.few && len(d.states) == fewStates:
		d.widen()
		return true
	case d.few || (len(d.states)+1)<<d.shift <= tableSize:
		return false
	}
	if d.spent < worthwhile*len(d.states) {
		d.tight++
		d.loose = d.tight > patience
	}
	d.forget()
	return true
}

// next returns what is kept of where s leads by b.
func (d *dfa) next(s uint16, b byte) uint16 {
	if d.few {
		return uint16(d.byByte[b][uint8(s)])
	}
	return d.table[s|d.p.classes[b]]
}

func (d *dfa) keep(s uint16, b byte, next uint16) {
	if d.few {
		d.byByte[b][uint8(s)] = uint8(next)
	} else {
		d.table[s|d.p.classes[b]] = next
	}
}

// intern returns the state of the set in d.work.set. There must be room.
func (d *dfa) intern(b before) uint16 {
	w := &d.work
	slices.Sort(w.set)
	w.key = append(w.key[:0], byte(b))
	for _, pc := range w.set {
		w.key = binary.AppendUvarint(w.key, uint64(pc))
	}
	if id, ok := d.ids[string(w.key)]; ok {
		return id
	}
	id := uint16(len(d.states) << d.shift)
	n := uint32(len(d.p.insts))
	d.states = append(d.states, state{
		set: slices.Clone(w.set), before: b,
		idle: len(w.set) > 0 && w.set[len(w.set)-1] < n,
	})
	d.ids[string(w.key)] = id
	return id
}

// startAt returns the state before the first byte of a search.
func (d *dfa) startAt(b before) uint16 {
	if s := d.start[b]; s != unknown {
		return s
	}
	d.makeRoom()
	d.work.begin(d.p)
	s := d.intern(b)
	d.start[b] = s
	return s
}

func (d *dfa) state(s uint16) *state { return &d.states[s>>d.shift] }

// step computes where s leads at text[i] and keeps it. It may forget all states
// but the one that it returns.
func (d *dfa) step(s uint16, text []byte, i int) uint16 {
	b := text[i]
	if b == '\r' && d.p.lineEnds {
		return d.stepCR(s, i+1 == len(text) || text[i+1] == '\n')
	}
	st := d.state(s)
	next, lost := d.advance(st.set, st.before, b, d.p.afterByte(b, false))
	if !lost {
		d.keep(s, b, next)
	}
	return next
}

// stepCR is step for "\r" where it may be at a line's end: the table has nothing of
// it, since more than the byte decides.
func (d *dfa) stepCR(s uint16, ends bool) uint16 {
	k := 0
	if ends {
		k = 1
	}
	st := d.state(s)
	if st.cr[k] != unknown {
		return st.cr[k]
	}
	next, lost := d.advance(st.set, st.before, '\r', d.p.afterByte('\r', ends))
	if !lost {
		d.state(s).cr[k] = next // making the state moved the others
	}
	return next
}

// advance makes the state behind b. lost says that it is the only one left.
func (d *dfa) advance(set []uint32, before before, b byte, a after) (next uint16, lost bool) {
	if d.work.step(d.p, set, before, b, a) {
		return d.matched, false
	}
	lost = d.makeRoom()
	return d.intern(d.p.kinds[b]), lost
}

// endsHere reports whether s has a match at the end of the text.
func (d *dfa) endsHere(s uint16) bool {
	st := d.state(s)
	if st.atEnd == notAsked {
		st.atEnd = no
		if d.work.atEnd(d.p, st.set, st.before) {
			st.atEnd = yes
		}
	}
	return st.atEnd == yes
}
