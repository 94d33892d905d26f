package index

import (
	"fmt"
	"testing"
	"time"

	"github.com/loomd/loomd/watch/match"
)

func BenchmarkZZ(b *testing.B) {
	x, _ := openCorpus(b, 4<<30)
	s, err := x.Snapshot(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer s.Release()
	for _, o := range []match.Options{{Pattern: "sync.Pool"}, {Pattern: `runtime\.[A-Z]\w+Stack`}, {Pattern: `unmarshaltext`, IgnoreCase: true}, {Pattern: `deadlock`, IgnoreCase: true}, {Pattern: `[A-Za-z]+Unmarshaler`}, {Pattern: `SIGSEGV|SIGBUS|SIGFPE`}, {Pattern: `WriteString`}, {Pattern: `\w+\.Errorf\("[a-z]+`}, {Pattern: `func`}, {Pattern: `func Test[A-Z]\w+\(t`}, {Pattern: "http2", IgnoreCase: true}} {
		p, err := match.Compile(o)
		if err != nil {
			b.Fatal(err)
		}
		f := newFilter(p.Need(), &x.common)
		n, all := 0, 0
		t0 := time.Now()
		for _, v := range s.views {
			bm := newBitmap(len(v.part.blocks))
			f.blocks(v.part, false, bm)
			for i := range v.part.blocks {
				if bm.has(i) {
					n++
				}
			}
			all += len(v.part.blocks)
		}
		ft := time.Since(t0)
		t0 = time.Now()
		for range 20 {
			_, err := s.Search(b.Context(), Query{Pattern: p, Hidden: true, Limit: 1000000}, func(Line) bool { return true })
			if err != nil {
				b.Fatal(err)
			}
		}
		per := time.Since(t0) / 20
		fmt.Printf("%-30s blocks %5d of %d filter %v search %v plan %s\n", o.Pattern, n, all, ft, per, p.Describe())
	}
}
