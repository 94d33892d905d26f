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
		if first, last, ok = c.pike().find(text, next, end-1); !ok {
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
	begun := c.dfa().begun(text, from)
	if begun < 0 {
		return 0, 0, false
	}
	last := len(text)
	if text[last-1] == '\n' {
		last-- // no line starts behind it
	}
	return c.pike().find(text, begun, last)
}

// begun returns a place at or behind from, and not behind the start of the first
// match from there; or -1 when there is no match.
func (d *dfa) begun(text []byte, from int) int {
	const piece = 4 << 10 // bytes that are walked again to find where the match begins
	begin := func() uint16 { return d.startAt(d.p.beforeAt(text, from)) }
	idle, s := from, begin()
	for i := from; ; {
		losses := d.losses
		end := min(i+piece, len(text))
		at, behind := d.run(text, i, end, s)
		switch {
		case d.loose: // where a state of run's is not kept
			if d.walk(text, from, len(text), begin()) < 0 {
				return -1
			}
			return from
		case at >= 0 && d.losses != losses:
			return idle
		case at >= 0:
			return d.lastIdle(text, i, at, s, idle)
		case end == len(text):
			return -1
		}
		i, s = end, behind
		if d.state(s).idle {
			idle = i
		}
	}
}

// lastIdle walks text[i:end] from state s once more, and returns the last place where
// no match is under way; or idle when there is none.
func (d *dfa) lastIdle(text []byte, i, end int, s uint16, idle int) int {
	for ; i < end; i++ {
		if d.state(s).idle {
			idle = i
		}
		if s = d.next(s, text[i]); s <= d.matched {
			return idle // "\r" at a line's end, which is not in the table
		}
	}
	if d.state(s).idle {
		idle = i
	}
	return idle
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
