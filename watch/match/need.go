package match

import (
	"cmp"
	"slices"
)

// anyOf needs one literal of a set.
func anyOf(set []literal) *Need {
	if len(set) == 1 {
		return &Need{Literal: []byte(set[0].text), Fold: set[0].fold}
	}
	n := &Need{}
	for _, l := range set {
		n.Any = append(n.Any, &Need{Literal: []byte(l.text), Fold: l.fold})
	}
	return n
}

// allOf needs those that say most.
func allOf(needs []*Need) *Need {
	switch len(needs) {
	case 0:
		return nil
	case 1:
		return needs[0]
	}
	slices.SortStableFunc(needs, func(a, b *Need) int { return cmp.Compare(a.chance(), b.chance()) })
	return &Need{All: needs[:min(len(needs), maxNeeds)]}
}

// chance estimates how often the need is met at a byte of a text.
func (n *Need) chance() float64 {
	switch {
	case n.Literal != nil:
		return literal{string(n.Literal), n.Fold}.chance()
	case n.All != nil:
		least := 1.0
		for _, m := range n.All {
			least = min(least, m.chance())
		}
		return least
	}
	sum := 0.0
	for _, m := range n.Any {
		sum += m.chance()
	}
	return sum
}

// chance estimates how often a literal stands at a byte of a text. Letters that stand
// side by side depend on each other, so each counts for less than its share.
func (l literal) chance() float64 {
	p := 1.0
	for i := range len(l.text) {
		p *= byteChance(l.text[i], l.fold)
		if p < 1e-9 {
			break
		}
		if i == 1 {
			p *= 4
		} else if i > 1 {
			p *= 3
		}
	}
	return min(p, 1)
}

func setChance(set []literal) float64 {
	sum := 0.0
	for _, l := range set {
		sum += l.chance()
	}
	return sum
}

// best is the set of literals that is met least often.
func best(sets [][]literal) []literal {
	if len(sets) == 0 {
		return nil
	}
	return slices.MinFunc(sets, func(a, b []literal) int { return cmp.Compare(setChance(a), setChance(b)) })
}
