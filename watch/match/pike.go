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

// Spans returns where a line matches, or a run of lines with Multiline: all matches
// that do not overlap, from left to right, as offsets in line. It may have its "\n" or
// not. Invert changes nothing here.
func (p *Pattern) Spans(line []byte) [][2]int {
	last := len(line)
	if last > 0 && line[last-1] == '\n' {
		last--
	}
	if p.plan.only && p.exists == p.spans {
		return p.plan.one.spans(line)
	}
	c := p.caches.Get().(*cache)
	defer p.caches.Put(c)
	var list [][2]int
	ended := -1 // where the match before ended
	for i := 0; i <= last; {
		start, end, ok := c.pike.find(line, i, last)
		if !ok {
			break
		}
		i = end
		if start == end {
			i++
		}
		if start == end && start == ended {
			continue // an empty match right behind another is none
		}
		list = append(list, [2]int{start, end})
		ended = end
	}
	return list
}

func (f *finder) spans(line []byte) [][2]int {
	var list [][2]int
	for i := f.find(line, 0); i >= 0; i = f.find(line, i+len(f.text)) {
		list = append(list, [2]int{i, i + len(f.text)})
	}
	return list
}
