package match

import (
	"bytes"
	"slices"
)

// literal is a text that a match must hold.
type literal struct {
	text string // in lower case under fold
	fold bool   // ASCII letters match in either case
}

// Bounds of a set of literals. More would cost more to look for than they leave out.
const (
	maxLiterals   = 64
	maxLiteral    = 64 // bytes; what is longer says no more
	maxAlternated = 16 // bytes of a class that are spelled out
	maxNeeds      = 8  // of one sequence
)

// wants is what a pattern asks of a text.
type wants struct {
	need *Need
	sets [][]literal // one of each set is in each match
	// exact says that sets is one set, and a text that holds one of it has a match.
	exact bool
	only  bool // it is what the pattern matches, and nothing else: one literal
	all   bool // every line has a match
	none  bool // no line has one
}

// analyse finds what every match of a pattern holds.
func analyse(tree *node) wants {
	var w wants
	if nullable(tree, false) {
		w.all = true
		return w
	}
	if tree.op == opSet && tree.set.count() == 0 {
		w.none = true
		return w
	}
	if set, exact, ok := spell(tree); ok && exact && !hasEmpty(set) {
		w.sets, w.exact, w.only = [][]literal{reduce(set)}, true, len(set) == 1
		w.need = anyOf(w.sets[0])
		return w
	}
	w.need, w.sets = needOf(tree)
	return w
}

// spell lists the texts that n matches. exact is false when they say less than n
// does: letters whose case counts are among those whose case does not. ok is false
// when there are too many.
func spell(n *node) (set []literal, exact, ok bool) {
	switch n.op {
	case opEmpty:
		return []literal{{}}, true, true
	case opSet:
		return spellSet(&n.set)
	case opAlt:
		exact = true
		for _, sub := range n.subs {
			more, e, ok := spell(sub)
			if !ok || len(set)+len(more) > maxLiterals {
				return nil, false, false
			}
			set, exact = append(set, more...), exact && e
		}
		return set, exact, true
	case opConcat:
		set, exact = []literal{{}}, true
		for _, sub := range n.subs {
			more, e, ok := spell(sub)
			if !ok {
				return nil, false, false
			}
			if set, e, ok = cross(set, more, exact && e); !ok {
				return nil, false, false
			}
			exact = e
		}
		return set, exact, true
	case opRepeat:
		return spellRepeat(n)
	}
	return nil, false, false
}

// spellRepeat is for counts that are sure, and for "x?".
func spellRepeat(n *node) (set []literal, exact, ok bool) {
	optional := n.min == 0 && n.max == 1
	if !optional && (n.max != n.min || n.max > maxLiteral) {
		return nil, false, false
	}
	one, exact, ok := spell(n.subs[0])
	switch {
	case !ok:
		return nil, false, false
	case optional:
		return append(one[:len(one):len(one)], literal{}), exact, len(one) < maxLiterals
	}
	set = []literal{{}}
	for range n.min {
		if set, exact, ok = cross(set, one, exact); !ok {
			return nil, false, false
		}
	}
	return set, exact, true
}

func spellSet(s *byteSet) (set []literal, exact, ok bool) {
	if s.count() > maxAlternated || s.count() == 0 {
		return nil, false, false
	}
	left := *s
	for _, b := range s.bytes() {
		if !left.has(b) {
			continue
		}
		l := literal{text: string([]byte{b})}
		if up := b ^ 0x20; isLetter(b) && s.has(up) {
			left.remove(up)
			l = literal{text: string([]byte{b | 0x20}), fold: true}
		}
		set = append(set, l)
	}
	return set, true, true
}

func isLetter(b byte) bool { return b|0x20-'a' < 26 }

func hasLetter(s string) bool {
	return slices.ContainsFunc([]byte(s), isLetter)
}

func hasEmpty(set []literal) bool {
	return slices.ContainsFunc(set, func(l literal) bool { return l.text == "" })
}

// cross puts each of b behind each of a.
func cross(a, b []literal, exact bool) ([]literal, bool, bool) {
	if len(a)*len(b) > maxLiterals {
		return nil, false, false
	}
	out := make([]literal, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			l := literal{text: x.text + y.text, fold: x.fold || y.fold}
			if len(l.text) > 2*maxLiteral {
				return nil, false, false
			}
			if l.fold {
				exact = exact && (x.fold || !hasLetter(x.text)) && (y.fold || !hasLetter(y.text))
				l.text = string(lower([]byte(l.text)))
			}
			out = append(out, l)
		}
	}
	return out, exact, true
}

// lower folds ASCII letters, in place.
func lower(b []byte) []byte {
	for i, c := range b {
		if c-'A' < 26 {
			b[i] = c | 0x20
		}
	}
	return b
}

// covers reports whether each text that holds m holds l.
func (l literal) covers(m literal) bool {
	text := m.text
	if l.fold {
		text = string(lower([]byte(text)))
	}
	return (l.fold || !m.fold || !hasLetter(l.text)) && bytes.Contains([]byte(text), []byte(l.text))
}

// reduce leaves out literals that hold others of the set.
func reduce(set []literal) []literal {
	var out []literal
	for i, m := range set {
		covered := false
		for j, l := range set {
			if i != j && l.covers(m) && (j < i || !m.covers(l)) {
				covered = true
				break
			}
		}
		if !covered {
			out = append(out, m)
		}
	}
	return out
}

// needOf finds literals of a pattern that is not a list of them.
func needOf(n *node) (*Need, [][]literal) {
	switch n.op {
	case opSet:
		if set, _, ok := spell(n); ok {
			return anyOf(set), [][]literal{set}
		}
	case opAlt:
		return needAny(n)
	case opConcat:
		return needAll(n.subs)
	case opRepeat:
		if n.min > 0 {
			return needAll([]*node{n})
		}
	}
	return nil, nil
}

// needAny is of alternatives: what each of them needs, or nothing.
func needAny(n *node) (*Need, [][]literal) {
	if len(n.subs) > maxLiterals {
		return nil, nil
	}
	need := &Need{}
	var all []literal
	tooMany := false
	for _, sub := range n.subs {
		one, sets := needOf(sub)
		if set, _, ok := spell(sub); ok && !hasEmpty(set) {
			one, sets = anyOf(set), [][]literal{set}
		}
		if one == nil {
			return nil, nil
		}
		need.Any = append(need.Any, one)
		all = append(all, best(sets)...)
		tooMany = tooMany || len(sets) == 0 || len(all) > maxLiterals
	}
	if tooMany {
		return need, nil
	}
	return need, [][]literal{reduce(all)}
}

// needAll is of a sequence. It keeps what the pieces spell out side by side, and cuts
// where they do not.
func needAll(subs []*node) (*Need, [][]literal) {
	var needs []*Need
	var sets [][]literal
	side := []literal{{}}
	cut := func(next []literal) {
		if !hasEmpty(side) {
			side = reduce(side)
			needs, sets = append(needs, anyOf(side)), append(sets, side)
		}
		side = next
	}
	add := func(more []literal) {
		joined, _, ok := cross(side, more, true)
		if !ok {
			cut(more)
			return
		}
		side = joined
		if slices.ContainsFunc(side, func(l literal) bool { return len(l.text) > maxLiteral }) {
			cut([]literal{{}})
		}
	}
	for _, sub := range subs {
		if sub.op == opLook {
			continue
		}
		if set, _, ok := spell(sub); ok {
			add(set)
			continue
		}
		repeated, spelled := []literal(nil), false
		if sub.op == opRepeat && sub.min > 0 {
			repeated, _, spelled = spell(sub.subs[0])
		}
		if spelled {
			for range min(sub.min, maxLiteral) {
				add(repeated)
			}
			cut(repeated)
			continue
		}
		cut([]literal{{}})
		inner := sub
		if sub.op == opRepeat && sub.min > 0 {
			inner = sub.subs[0]
		}
		if need, more := needOf(inner); need != nil {
			needs, sets = append(needs, need), append(sets, more...)
		}
	}
	cut(nil)
	return allOf(needs), sets
}
