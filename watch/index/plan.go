package index

// span is a run of a view's files that one worker does: of the part's entries
// lo to hi, of the extra files extraLo to extraHi.
type span struct {
	view             *view
	blocks           bitmap // of a signed part, those that may match
	lo, hi           int
	extraLo, extraHi int
}

// A piece of work shall be so long that handing it over costs nothing beside it,
// and so short that all cores have some; in bytes to be looked at. The first
// pieces are small: a search may end with them.
const (
	firstWeight = 128 << 10
	fullWeight  = 1 << 20
	// onDemand is how much more a byte costs that has to be read from the disk,
	// and perFile what opening a file costs, as bytes.
	onDemand = 8
	perFile  = 128 << 10
)

// planner cuts a search into pieces of work, in path order.
type planner struct {
	search  *search
	views   []*view
	weight  int
	summary *Summary // what is known without looking into texts

	// The view at hand.
	at   span
	left bool
}

// piece returns the next piece of work; none if all is planned.
func (p *planner) piece() []span {
	var out []span
	weight := 0
	for weight < p.weight {
		if !p.left && !p.open() {
			break
		}
		s, w := p.cut(p.weight - weight)
		weight += w
		if s.hi > s.lo || s.extraHi > s.extraLo {
			out = append(out, s)
		}
	}
	p.weight = min(2*p.weight, fullWeight)
	return out
}

// open goes on to the next view in which there is something to look at.
func (p *planner) open() bool {
	for len(p.views) > 0 {
		v := p.views[0]
		p.views = p.views[1:]
		p.at = span{view: v}
		p.at.lo, p.at.hi, p.at.extraLo, p.at.extraHi = p.search.scope.of(v)
		p.known()
		if v.part.signed {
			if !p.filter() && p.at.extraLo == p.at.extraHi {
				continue
			}
		}
		p.left = true
		return true
	}
	return false
}

// filter finds the blocks of a signed part that may match, and narrows the range
// to begin with the first. It reports whether there is anything.
func (p *planner) filter() bool {
	part := p.at.view.part
	p.at.blocks = newBitmap(len(part.blocks))
	if len(part.blocks) > 0 {
		p.search.filter.blocks(part, p.search.joined, p.at.blocks)
	}
	first := p.at.blocks.next(part.blockAt(p.at.lo), len(part.blocks))
	return len(part.unread) > 0 || first < len(part.blocks)
}

// blockAt returns the block in which entry i's text begins, or would.
func (p *part) blockAt(i int) int {
	if i >= p.len() {
		return len(p.blocks)
	}
	lo, hi := 0, len(p.blocks)
	for lo < hi { // the last block that begins at or before the text
		mid := (lo + hi) / 2
		if p.blocks[mid].lo <= p.start[i] {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return max(lo-1, 0)
}

// cut takes a span of about the given weight from the view at hand.
func (p *planner) cut(room int) (span, int) {
	s := p.at
	var weight int
	if s.view.part.signed {
		s.hi, weight = p.cutBlocks(room)
	} else {
		s.hi, weight = p.cutFiles(room)
	}
	end := s.extraHi
	if s.hi < p.at.hi {
		end = findFile(s.view.extra[:end], s.view.part.path(s.hi))
	}
	end = max(end, s.extraLo)
	for i := s.extraLo; i < end; i++ {
		if weight >= room && i > s.extraLo {
			end = i
			hi, _ := s.view.part.find(s.view.extra[i].path)
			s.hi = max(min(s.hi, hi), s.lo)
			break
		}
		weight += s.view.extra[i].weight()
	}
	s.extraHi = end
	p.at.lo, p.at.extraLo = s.hi, s.extraHi
	p.left = p.at.lo < p.at.hi || p.at.extraLo < p.at.extraHi
	return s, weight
}

func (f *file) weight() int {
	if f.flags&flagUnread != 0 {
		return int(f.size)*onDemand + perFile
	}
	return len(f.text)
}

// cutFiles returns where a span of an unsigned part ends.
func (p *planner) cutFiles(room int) (hi, weight int) {
	part := p.at.view.part
	for hi = p.at.lo; hi < p.at.hi && weight < room; hi++ {
		if part.flags[hi]&flagUnread != 0 {
			weight += int(part.size[hi])*onDemand + perFile
		}
	}
	return hi, weight
}

// cutBlocks returns where a span of a signed part ends: behind the file that its
// last block begins in, or that block ends with.
func (p *planner) cutBlocks(room int) (hi, weight int) {
	part := p.at.view.part
	b := p.at.blocks.next(part.blockAt(p.at.lo), len(part.blocks))
	for b < len(part.blocks) {
		size := int(part.blockEnd(b) - part.blocks[b].lo)
		if !part.kept {
			size = size*onDemand + perFile
		}
		weight += size
		if weight >= room {
			break
		}
		b = p.at.blocks.next(b+1, len(part.blocks))
	}
	if b+1 >= len(part.blocks) {
		return p.at.hi, weight
	}
	next := part.blocks[b+1]
	hi = int(next.file)
	if next.lo > part.start[hi] {
		hi++
	}
	return min(max(hi, p.at.lo+1), p.at.hi), weight
}

// known adds to the summary what the part and the extra files say without being
// looked into: what is binary and what could not be read.
func (p *planner) known() {
	v, sc := p.at.view, &p.search.scope
	all := sc.acceptsAll() && v.dead == nil && p.at.lo == 0 && p.at.hi == v.part.len()
	if all {
		p.summary.SkippedBinary += len(v.part.binaries)
	}
	wanted := func(i int) bool {
		return i >= p.at.lo && i < p.at.hi && !v.dead.has(i) && sc.accepts(v.part.path(i), v.part.flags[i])
	}
	if !all {
		for _, i := range v.part.binaries {
			if wanted(i) {
				p.summary.SkippedBinary++
			}
		}
	}
	if len(v.part.failed) > 0 {
		for i := p.at.lo; i < p.at.hi; i++ {
			if why := v.part.failed[i]; why != "" && wanted(i) {
				p.summary.warn(Warning{v.part.path(i), why})
			}
		}
	}
	for _, f := range v.extra[p.at.extraLo:p.at.extraHi] {
		if f.flags&flagBinary == 0 && f.failed == "" || !sc.accepts(f.path, f.flags) {
			continue
		}
		if f.failed != "" {
			p.summary.warn(Warning{f.path, f.failed})
		} else {
			p.summary.SkippedBinary++
		}
	}
}
