package index

import "context"

// collector takes results in order, and gives on what the query asks for: it
// passes over what comes before the offset and ends behind the limit.
type collector struct {
	query   Query
	emit    func(Line) bool
	summary Summary

	seen    int    // matching lines, or files
	file    string // of the last match
	held    []Line // context that belongs to the next match, if that is given out
	last    Line   // the last match given out; its context follows
	more    bool   // there was a match beyond the limit
	stopped bool   // emit wants no more
}

// take takes a result and reports whether to go on.
func (c *collector) take(ctx context.Context, r *result) bool {
	c.summary.SkippedBinary += r.binary
	c.summary.warn(r.warnings...)
	for i := range r.lines {
		if !c.line(&r.lines[i]) || i%64 == 63 && ctx.Err() != nil {
			return false
		}
	}
	return true
}

func (c *collector) line(l *Line) bool {
	full := c.query.Limit > 0 && c.seen >= c.query.Offset+c.query.Limit
	switch {
	case l.Match && full:
		c.more = true
		return false
	case !l.Match && c.seen < c.query.Offset:
		c.hold(l)
		return true
	case !l.Match && c.belongs(l, full):
		return c.give(l)
	case !l.Match:
		c.hold(l)
		return true
	}
	c.seen++
	if c.query.Mode == Count {
		c.summary.Lines += l.Number
	} else if c.query.Mode == Content {
		c.summary.Lines++
	}
	if l.Path != c.file {
		c.file = l.Path
		c.summary.Files++
	}
	held := c.held
	c.held = c.held[:0]
	if c.seen <= c.query.Offset {
		return true
	}
	for i := range held {
		if h := &held[i]; h.Path == l.Path && h.Number >= l.Number-c.query.Before && !c.give(h) {
			return false
		}
	}
	c.last = *l
	return c.give(l)
}

// belongs reports whether a line of context follows a match that was given out,
// or may precede one that will be.
func (c *collector) belongs(l *Line, full bool) bool {
	if l.Path == c.last.Path && l.Number <= c.last.Number+c.query.After {
		return true
	}
	return !full && c.seen >= c.query.Offset && c.last.Path != ""
}

// hold keeps a line of context until it is clear whether its match is given out.
func (c *collector) hold(l *Line) {
	if len(c.held) >= max(c.query.Before, 1) {
		c.held = append(c.held[:0], c.held[1:]...)
	}
	c.held = append(c.held, *l)
}

func (c *collector) give(l *Line) bool {
	if !c.emit(*l) {
		c.stopped = true
		return false
	}
	return true
}

func (c *collector) finish() Summary {
	c.summary.Exact = !c.more && !c.stopped
	return c.summary
}
