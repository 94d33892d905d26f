package match

// run walks text[i:end] from state s. It returns where a match was noticed, which is
// a byte of the match or the one behind it; or -1 and the state behind end. When end
// is the text's, a match there is noticed at end.
func (d *dfa) run(text []byte, i, end int, s uint16) (at int, behind uint16) {
	from := i
	for i < end {
		if d.loose {
			return d.walk(text, i, end, s), unknown
		}
		var n uint16
		if d.few {
			i, s, n = d.runFew(text, i, end, s)
		} else {
			i, s, n = d.runRows(text, i, end, s)
		}
		if i == end {
			break
		}
		if n == unknown {
			d.spent += i - from
			from = i
			n = d.step(s, text, i)
		}
		if n == d.matched {
			d.spent += i - from
			return i, n
		}
		s = n
		i++
	}
	d.spent += end - from
	if end == len(text) && d.endsHere(s) {
		return end, s
	}
	return -1, s
}

// runFew walks as far as all states are there. It returns where it stopped, the state
// before that byte, and what is kept of the next one.
func (d *dfa) runFew(text []byte, i, end int, s uint16) (at int, before, next uint16) {
	columns, now := &d.byByte, uint8(s)
	for ; i < end; i++ {
		n := columns[text[i]][now]
		if uint16(n) <= d.matched {
			return i, uint16(now), uint16(n)
		}
		now = n
	}
	return i, uint16(now), 0
}

// runRows is runFew for the second form of the table.
func (d *dfa) runRows(text []byte, i, end int, s uint16) (at int, before, next uint16) {
	t, classes := d.table, &d.p.classes
	for ; i < end; i++ {
		n := t[s|classes[text[i]]]
		if n <= d.matched {
			return i, s, n
		}
		s = n
	}
	return i, s, 0
}

// walk is run without keeping states.
func (d *dfa) walk(text []byte, i, end int, s uint16) int {
	w := &d.work
	st := d.state(s)
	set, b := append(w.walked[:0], st.set...), st.before
	defer func() { w.walked = set }()
	for ; i < end; i++ {
		c := text[i]
		if w.step(d.p, set, b, c, d.p.afterAt(text, i)) {
			return i
		}
		set, w.set = w.set, set
		b = d.p.kinds[c]
	}
	if end == len(text) && w.atEnd(d.p, set, b) {
		return end
	}
	return -1
}
