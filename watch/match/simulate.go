package match

import "slices"

// workspace has the lists that a step on sets of instructions needs.
//
// Where it is asked for, instructions are numbered twice: those of a match that began
// before, and consumed something, have the program's length added. So a set tells
// whether any match is under way.
type workspace struct {
	set   []uint32 // the result: without splits, not in order
	ready []uint32 // what consumes, with assertions resolved
	stack []uint32
	seen  []uint32 // by instruction: the round in which it was seen
	round uint32
	key   []byte

	walked []uint32 // of dfa.walk

	underway bool // whether a match is under way is asked for
}

func (w *workspace) next() {
	if w.round++; w.round == 0 {
		clear(w.seen)
		w.round = 1
	}
}

// begin makes the set of a search that starts.
func (w *workspace) begin(p *program) {
	w.set = w.set[:0]
	w.next()
	w.close(p, p.start)
}

// close adds pc to the set, and what it leads to without consuming or asserting.
func (w *workspace) close(p *program, pc uint32) {
	n := uint32(len(p.insts))
	w.stack = append(w.stack[:0], pc)
	for len(w.stack) > 0 {
		pc := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		if w.seen[pc] == w.round {
			continue
		}
		w.seen[pc] = w.round
		base := uint32(0)
		if pc >= n {
			base = n
		}
		if i := &p.insts[pc-base]; i.kind == instSplit {
			w.stack = append(w.stack, base+i.alt, base+i.out)
		} else {
			w.set = append(w.set, pc)
		}
	}
}

// resolve follows the assertions of set that hold, into w.ready. It reports whether
// that is a match.
func (w *workspace) resolve(p *program, set []uint32, b before, a after) bool {
	n := uint32(len(p.insts))
	w.next()
	w.ready = w.ready[:0]
	w.stack = append(w.stack[:0], set...)
	for len(w.stack) > 0 {
		pc := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		if w.seen[pc] == w.round {
			continue
		}
		w.seen[pc] = w.round
		base := uint32(0)
		if pc >= n {
			base = n
		}
		switch i := &p.insts[pc-base]; i.kind {
		case instSet:
			w.ready = append(w.ready, pc)
		case instSplit:
			w.stack = append(w.stack, base+i.alt, base+i.out)
		case instLook:
			if i.look.holds(b, a) {
				w.stack = append(w.stack, base+i.out)
			}
		case instMatch:
			return true
		}
	}
	return false
}

// step consumes c. It reports whether there is a match before or right behind c;
// otherwise w.set is what is to be tried behind it. set must not be w.set.
func (w *workspace) step(p *program, set []uint32, b before, c byte, a after) bool {
	if w.resolve(p, set, b, a) {
		return true
	}
	n := uint32(len(p.insts))
	w.set = w.set[:0]
	w.next()
	for _, pc := range w.ready {
		base := pc
		if base >= n {
			base -= n
		}
		if i := &p.insts[base]; i.set.has(c) {
			out := i.out
			if w.underway {
				out += n
			}
			w.close(p, out)
		}
	}
	w.close(p, p.start)
	// The match instruction is the program's first: see compile.
	return slices.Contains(w.set, 0) || slices.Contains(w.set, n)
}

func (w *workspace) atEnd(p *program, set []uint32, b before) bool {
	return w.resolve(p, set, b, after{lineEnd: true, textEnd: true})
}
