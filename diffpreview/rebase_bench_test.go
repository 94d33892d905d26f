package diffpreview

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// spread is a text of 100,000 lines, and one with a changed line in each of so many places of it.
func spread(places int) (base, want []byte) {
	const lines = 100_000
	old := randomLines(rand.New(rand.NewPCG(5, 1)), lines, 1<<30)
	new := append([][]byte(nil), old...)
	for i := range places {
		new[i*lines/places+lines/places/2] = fmt.Appendf(nil, "change %d\n", i)
	}
	return bytes.Join(old, nil), bytes.Join(new, nil)
}

// BenchmarkRebase moves 1,000 open hunks along after a line was put in at the top, next to the diff that made them.
// Goal: under 5 % of that diff's time.
func BenchmarkRebase(b *testing.B) {
	base, want := spread(1000)
	p := (&Proposal{Name: "f", Base: text(string(base)), form: formBytes}).step(text(string(want)))
	moved := text("a line of the person's\n" + string(base))
	check := func(q *Proposal) {
		if len(q.Hunks) != 1000 || q.State() != StateOpen {
			b.Fatal(len(q.Hunks), "hunks,", q.State())
		}
	}
	pair(b, "diff", nil, func() {
		q, _ := p.rebase(moved, true)
		check(q)
	}, func() {
		check((&Proposal{Name: "f", Base: text(string(base)), form: formBytes}).step(text(string(want))))
	})
}
