package match

import "sync"

// instKind is the kind of an instruction.
type instKind uint8

const (
	instSet   instKind = iota // consume a byte of set, go to out
	instSplit                 // go to out, or else to alt
	instLook                  // go to out if look holds
	instMatch
)

// inst is one instruction of a program. out and alt are indexes.
type inst struct {
	kind instKind
	look look
	out  uint32
	alt  uint32
	set  byteSet
}

// program is a pattern as a nondeterministic automaton over bytes.
type program struct {
	insts []inst
	start uint32

	multiline bool

	prepared sync.Once   // guards what follows
	first    byteSet     // what a match that is not empty can begin with
	empty    bool        // a match can be empty
	classes  [256]uint16 // bytes that no instruction tells apart share a class
	count    int         // of classes
	byClass  []byte      // a byte of each class
	lineEnds bool        // "\r" before "\n" counts as the end of a line
	kinds    [256]before // what a byte is to the assertion behind it
	textual  bool        // the text's start is told from a line's
}

// before is what stands before a place, as far as assertions of the program ask.
type before uint8

const (
	beforeOther before = iota
	beforeWord
	beforeLine // a line starts here
	beforeText // the text starts here
)

// maxInsts bounds a program: a step costs at most one visit of each instruction.
const maxInsts = 20_000

type compiler struct {
	insts []inst
	full  bool
}

// compile makes the program of a tree.
func compile(tree *node, o Options) (*program, error) {
	c := &compiler{}
	start := c.node(tree, c.add(inst{kind: instMatch}))
	if c.full {
		return nil, &SyntaxError{Pattern: o.Pattern, Reason: "it is too large: its counts multiply to more than 20,000 steps", Instead: "write lower counts, or + where the number does not matter"}
	}
	p := &program{insts: c.insts, start: start}
	p.multiline = o.Multiline
	return p, nil
}

// prepare finds out what a walk through the program needs to know of it.
func (p *program) prepare() {
	p.prepared.Do(func() {
		p.find()
		p.classify()
	})
}

func (c *compiler) add(i inst) uint32 {
	if len(c.insts) >= maxInsts {
		c.full = true
		return 0
	}
	c.insts = append(c.insts, i)
	return uint32(len(c.insts) - 1)
}

// node compiles n with next behind it, and returns where it starts.
func (c *compiler) node(n *node, next uint32) uint32 {
	if c.full {
		return 0
	}
	switch n.op {
	case opSet:
		return c.add(inst{kind: instSet, set: n.set, out: next})
	case opLook:
		return c.add(inst{kind: instLook, look: n.look, out: next})
	case opConcat:
		for i := len(n.subs) - 1; i >= 0; i-- {
			next = c.node(n.subs[i], next)
		}
	case opAlt:
		last := len(n.subs) - 1
		start := c.node(n.subs[last], next)
		for i := last - 1; i >= 0; i-- {
			start = c.add(inst{kind: instSplit, out: c.node(n.subs[i], next), alt: start})
		}
		return start
	case opRepeat:
		return c.repeat(n, next)
	}
	return next
}

func (c *compiler) repeat(n *node, next uint32) uint32 {
	sub := n.subs[0]
	start := next
	if n.max < 0 {
		start = c.loop(n, next)
	}
	for i := n.min; i < n.max; i++ {
		start = c.split(c.node(sub, start), next, n.lazy)
	}
	for i := range n.min {
		if n.max < 0 && i == 0 {
			continue // the loop's body is one of them
		}
		before := start
		if start = c.node(sub, start); start == before {
			break // nothing was added, and nothing will be
		}
	}
	return start
}

// loop compiles "x+", or "x*" where the least count is 0. A body that can be empty
// is run once before it is left out, so that the first match is the one of Perl.
func (c *compiler) loop(n *node, next uint32) uint32 {
	again := c.split(0, next, n.lazy)
	body := c.node(n.subs[0], again)
	if at := &c.insts[again]; n.lazy {
		at.alt = body
	} else {
		at.out = body
	}
	switch {
	case n.min > 0:
		return body
	case nullable(n.subs[0], true):
		return c.split(body, next, n.lazy)
	}
	return again
}

func (c *compiler) split(body, next uint32, lazy bool) uint32 {
	if lazy {
		body, next = next, body
	}
	return c.add(inst{kind: instSplit, out: body, alt: next})
}

// find sets what a match can begin with.
func (p *program) find() {
	seen := make([]bool, len(p.insts))
	stack := []uint32{p.start}
	for len(stack) > 0 {
		pc := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[pc] {
			continue
		}
		seen[pc] = true
		switch i := &p.insts[pc]; i.kind {
		case instSet:
			p.first = p.first.union(i.set)
		case instSplit:
			stack = append(stack, i.out, i.alt)
		case instLook:
			stack = append(stack, i.out)
		case instMatch:
			p.empty = true
		}
	}
}

// classify makes the classes of bytes and notes what assertions ask for.
func (p *program) classify() {
	sets := map[byteSet]bool{oneByte('\n'): true}
	words := false
	for i := range p.insts {
		switch in := &p.insts[i]; {
		case in.kind == instSet:
			sets[in.set] = true
		case in.kind != instLook:
		case in.look == lookLineEnd:
			p.lineEnds = true
			sets[oneByte('\r')] = true
		case in.look == lookTextStart:
			p.textual = p.multiline
		case in.look >= lookWord:
			words = true
		}
	}
	if words {
		sets[perlClass('w')] = true
	}
	for b := range 256 {
		if words && isWord(byte(b)) {
			p.kinds[b] = beforeWord
		}
	}
	p.kinds['\n'] = beforeLine
	p.partition(sets)
}

// partition numbers the bytes so that two have one number when all sets have both
// or neither.
func (p *program) partition(sets map[byteSet]bool) {
	p.count = 1
	size := [256]int{256} // of each class
	for set := range sets {
		var inside [256]int
		var split [256]uint16 // what becomes of a class inside of set
		members := set.bytes()
		for _, b := range members {
			inside[p.classes[b]]++
		}
		for _, b := range members {
			old := p.classes[b]
			if inside[old] == size[old] {
				continue
			}
			if split[old] == 0 {
				split[old] = uint16(p.count)
				p.count++
			}
			p.classes[b] = split[old]
			size[split[old]]++
		}
		for old, fresh := range split {
			if fresh != 0 {
				size[old] -= inside[old]
			}
		}
	}
	p.byClass = make([]byte, p.count)
	for b := range 256 {
		p.byClass[p.classes[b]] = byte(b)
	}
}
