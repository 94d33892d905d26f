package match

// findRun finds the next run of lines that matches touch.
func (p *Pattern) findRun(c *cache, text []byte, from int) (start, end int, ok bool) {
	if p.plan.none {
		return 0, 0, false
	}
	if p.plan.all {
		return from, lineEnd(text, from), true
	}
	first, last, ok := p.findMatch(c, text, from)
	if !ok {
		return 0, 0, false
	}
	start, end = lineStart(text, from, first), matchEnd(text, first, last)
	// A match that begins in the last line of the run, behind the one before, may lead
	// further.
	for {
		next := last
		if first == last {
			next++
		}
		if next >= end || p.plan.only && p.plan.one.oneLine() {
			return start, end, true
		}
		if first, last, ok = c.pike.find(text, next, end-1); !ok {
			return start, end, true
		}
		end = max(end, matchEnd(text, first, last))
	}
}

// matchEnd returns the end of the last line that the match text[start:end] touches.
func matchEnd(text []byte, start, end int) int {
	if end > start {
		end--
	}
	return lineEnd(text, end)
}

// findMatch finds the first match that starts at or behind from.
func (p *Pattern) findMatch(c *cache, text []byte, from int) (start, end int, ok bool) {
	if p.plan.literal() {
		at := p.plan.find(text, from)
		if at < 0 {
			return 0, 0, false
		}
		if p.plan.only {
			return at, at + len(p.plan.one.text), true
		}
	}
	begun := c.dfa.begun(text, from)
	if begun < 0 {
		return 0, 0, false
	}
	last := len(text)
	if text[last-1] == '\n' {
		last-- // no line starts behind it
	}
	return c.pike.find(text, begun, last)
}

// begun returns a place at or behind from, and not behind the start of the first
// match from there; or -1 when there is no match.
func (d *dfa) begun(text []byte, from int) int {
	s := d.startAt(d.p.beforeAt(text, from))
	idle := from
	for i := from; i < len(text); i++ {
		if d.loose {
			if d.walk(text, i, len(text), s) < 0 {
				return -1
			}
			return idle
		}
		if d.state(s).idle {
			idle = i
		}
		n := d.table[s|d.p.classes[text[i]]]
		if n == unknown {
			n = d.step(s, text, i)
		}
		if n == d.matched {
			return idle
		}
		s = n
		d.spent++
	}
	if d.endsHere(s) {
		return idle
	}
	return -1
}

// findNoRun finds the lines up to the next match.
func (p *Pattern) findNoRun(c *cache, text []byte, from int) (start, end int, ok bool) {
	for from < len(text) {
		first, last, ok := p.findRun(c, text, from)
		if !ok {
			return from, len(text), true
		}
		if first > from {
			return from, first, true
		}
		from = last
	}
	return 0, 0, false
}

// oneLine reports whether the literal stays in its line.
func (f *finder) oneLine() bool {
	for i := range len(f.text) {
		if f.text[i] == '\n' {
			return false
		}
	}
	return true
}
