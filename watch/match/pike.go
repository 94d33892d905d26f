package match

// pike finds where the first match is, as Perl's would be found: of those that start
// first the one whose alternatives come first. It walks all ways through a program
// side by side, in order of preference.
type pike struct {
	p     *program
	now   threads
	next  threads
	stack []uint32
}

// threads are the ways that wait for the next byte: instructions in order of
// preference, and where their matches start.
type threads struct {
	list  []thread
	seen  []uint32
	round uint32
}

type thread struct {
	pc    uint32
	start int
}

func newPike(p *program) *pike {
	p.prepare()
	k := &pike{p: p}
	k.now.seen = make([]uint32, len(p.insts))
	k.next.seen = make([]uint32, len(p.insts))
	return k
}

func (t *threads) clear() {
	t.list = t.list[:0]
	if t.round++; t.round == 0 {
		clear(t.seen)
		t.round = 1
	}
}

// find returns the first match that starts between i and last.
func (k *pike) find(text []byte, i, last int) (start, end int, ok bool) {
	k.now.clear()
	for ; ; i++ {
		if len(k.now.list) == 0 {
			if ok {
				return start, end, true
			}
			if !k.p.empty {
				for i < len(text) && i <= last && !k.p.first.has(text[i]) {
					i++
				}
				k.now.clear() // what was seen was seen at another place
			}
			if i > last {
				return 0, 0, false
			}
		}
		if !ok && i <= last {
			k.add(&k.now, text, i, thread{k.p.start, i})
		}
		k.next.clear()
		for _, t := range k.now.list {
			in := &k.p.insts[t.pc]
			if in.kind == instMatch {
				start, end, ok = t.start, i, true
				break
			}
			if i < len(text) && in.set.has(text[i]) {
				k.add(&k.next, text, i+1, thread{in.out, t.start})
			}
		}
		k.now, k.next = k.next, k.now
		if i == len(text) {
			return start, end, ok
		}
	}
}

// add adds a way at text[i], with all that it leads to without consuming.
func (k *pike) add(t *threads, text []byte, i int, from thread) {
	k.stack = append(k.stack[:0], from.pc)
	for len(k.stack) > 0 {
		pc := k.stack[len(k.stack)-1]
		k.stack = k.stack[:len(k.stack)-1]
		if t.seen[pc] == t.round {
			continue
		}
		t.seen[pc] = t.round
		switch in := &k.p.insts[pc]; in.kind {
		case instSplit:
			k.stack = append(k.stack, in.alt, in.out)
		case instLook:
			if in.look.holds(k.p.beforeAt(text, i), k.p.afterAt(text, i)) {
				k.stack = append(k.stack, in.out)
			}
		default:
			t.list = append(t.list, thread{pc, from.start})
		}
	}
}

// Span returns where the first match in a line is, or in a run of lines with
// Multiline, as offsets in line. It may have its "\n" or not. Invert changes nothing
// here.
func (p *Pattern) Span(line []byte) (start, end int, ok bool) {
	if p.plan.only && p.exists == p.spans {
		start = p.plan.one.find(line, 0)
		return start, start + len(p.plan.one.text), start >= 0
	}
	c := p.caches.Get().(*cache)
	defer p.caches.Put(c)
	begun := 0
	if len(line) > 0 {
		if begun = c.starts().begun(line, 0); begun < 0 {
			return 0, 0, false
		}
	}
	return c.pike().find(line, begun, lastStart(line))
}

// lastStart is where the last match of a line can start.
func lastStart(line []byte) int {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		return n - 1
	}
	return len(line)
}
