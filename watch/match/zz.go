package match

import "fmt"

func (p *Pattern) Describe() string {
	if p.plan.one != nil {
		return fmt.Sprintf("one %q single %v rare %c other %c sure %v", p.plan.one.text, p.plan.one.single, p.plan.one.text[p.plan.one.rare], p.plan.one.text[p.plan.one.other], p.plan.sure)
	}
	if p.plan.many != nil {
		return fmt.Sprintf("many stride %d", p.plan.many.stride)
	}
	return "automaton"
}
