package match

import (
	"encoding/binary"
	"slices"
)

// A state is named by where its row begins in the table. The first two rows are no
// states: all that leads into them stays there, so that a loop need not look at
// each step.
const (
	unknown   = 0       // not computed yet, or to be looked at each time
	tableSize = 1 << 16 // entries: an index of 16 bits needs no check
)

// state is a set of instructions that are to be tried at a place.
type state struct {
	set    []uint32 // sorted; see dfa.closure
	before before
	idle   bool // no match has begun
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
	table   *[tableSize]uint16
	shift   uint   // a row has 1<<shift entries
	matched uint16 // the row that is reached when a match is sure
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

func newDFA(p *program) *dfa {
	d := &dfa{p: p, table: new([tableSize]uint16), ids: map[string]uint16{}}
	for 1<<d.shift < p.count {
		d.shift++
	}
	d.matched = 1 << d.shift
	d.work.init(2 * len(p.insts))
	d.forget()
	return d
}

// forget drops all states.
func (d *dfa) forget() {
	used := len(d.states) << d.shift
	clear(d.table[:used])
	for i := range 1 << d.shift {
		d.table[int(d.matched)+i] = d.matched
	}
	clear(d.ids)
	d.states = append(d.states[:0], state{}, state{})
	d.start = [4]uint16{}
	d.spent = 0
	d.losses++
}

// full reports whether there is no place for another state.
func (d *dfa) full() bool { return (len(d.states)+1)<<d.shift > tableSize }

// makeRoom forgets all states when there is no place for another one. It reports
// whether it did: the names of states that callers hold mean nothing then.
func (d *dfa) makeRoom() bool {
	if !d.full() {
		return false
	}
	if d.spent < worthwhile*len(d.states) {
		d.tight++
		d.loose = d.tight > patience
	}
	d.forget()
	return true
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
	st := d.state(s)
	ends := false
	var kept *uint16
	if b == '\r' && d.p.lineEnds {
		ends = i+1 == len(text) || text[i+1] == '\n'
		kept = &st.cr[0]
		if ends {
			kept = &st.cr[1]
		}
		if *kept != unknown {
			return *kept
		}
	} else {
		kept = &d.table[s|d.p.classes[b]]
	}
	if d.work.step(d.p, st.set, st.before, b, d.p.afterByte(b, ends)) {
		*kept = d.matched
		return d.matched
	}
	next := d.p.kinds[b]
	if d.makeRoom() {
		return d.intern(next)
	}
	// Interning moves the states: kept may point to where they were.
	id := d.intern(next)
	if b == '\r' && d.p.lineEnds {
		st = d.state(s)
		if ends {
			st.cr[1] = id
		} else {
			st.cr[0] = id
		}
	} else {
		*kept = id
	}
	return id
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
