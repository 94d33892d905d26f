package match

import "github.com/loomd/loomd/watch/match/vector"

// plan is how lines that may match are found.
type plan struct {
	all  bool // every line matches
	none bool // none does
	one  *finder
	many *manyFinder
	sure bool // a line with the literal matches
	only bool // one is all that matches
}

// Costs in nanoseconds, as measured on source code. They only need to be right as
// to which way is faster.
const (
	costAutomaton = 0.65 // for each byte
	costIndexByte = 0.07
	costPair      = 0.2
	costVector    = 0.04
	costSample    = 0.8 // for each sample
	costLine      = 90  // for each line that is found and looked at
)

// newPlan takes the set of literals that costs least, or none where the automaton
// costs less.
func newPlan(w wants) plan {
	p := plan{all: w.all, none: w.none}
	if p.all || p.none {
		return p
	}
	least := costAutomaton
	for _, set := range w.sets {
		if hasEmpty(set) || len(set) == 0 {
			continue
		}
		cost := setChance(set) * costLine
		if w.exact {
			cost = 0 // the lines found are those asked for
		}
		if len(set) == 1 {
			f := newFinder(set[0])
			switch {
			case f.single:
				cost += costIndexByte
			case vector.Has:
				cost += costVector
			default:
				cost += costPair
			}
			if cost < least {
				least, p.one, p.many = cost, f, nil
			}
			continue
		}
		f := newManyFinder(set)
		if f == nil {
			continue
		}
		if cost += costSample / float64(f.stride); cost < least {
			least, p.one, p.many = cost, nil, f
		}
	}
	p.sure = w.exact && p.literal()
	p.only = w.only && p.one != nil
	return p
}

func (p *plan) literal() bool { return p.one != nil || p.many != nil }

// find returns the first place from i on where a literal of the plan stands, or -1.
func (p *plan) find(text []byte, i int) int {
	if p.one != nil {
		return p.one.find(text, i)
	}
	return p.many.find(text, i)
}
