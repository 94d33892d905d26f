package index

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

func TestTranspose(t *testing.T) {
	var a, b [64]uint64
	for i := range a {
		a[i] = rand.Uint64()
	}
	b = a
	transpose(&b)
	for i := range 64 {
		for j := range 64 {
			if a[i]>>j&1 != b[j]>>i&1 {
				t.Fatalf("bit %d of row %d is not bit %d of row %d", j, i, i, j)
			}
		}
	}
}

// TestSignaturesHaveEveryGram checks that a block's bits are those of its runs
// of four and no others, in part after part of different sizes.
func TestSignaturesHaveEveryGram(t *testing.T) {
	s := new(signer)
	for _, blocks := range []int{1, 63, 64, 65, 130} {
		s.reset()
		want := make([]map[uint32]bool, blocks)
		for b := range want {
			want[b] = map[uint32]bool{}
			text := make([]byte, rand.IntN(300))
			for i := range text {
				text[i] = "abcABCxyzXYZ09\n"[rand.IntN(15)]
			}
			from := rand.IntN(len(text) + 1)
			to := from + rand.IntN(len(text)-from+1)
			s.add(text, from, to)
			s.endBlock()
			for i := from; i < to && i+gramLen <= len(text); i++ {
				var folded [gramLen]byte
				for j := range folded {
					folded[j] = lower[text[i+j]]
				}
				want[b][exactRow(binary.LittleEndian.Uint32(text[i:]))] = true
				want[b][exactRows+foldedRow(binary.LittleEndian.Uint32(folded[:]))] = true
			}
		}
		rows, stride := s.rows()
		for row := range allRows {
			for b := range want {
				word := binary.LittleEndian.Uint64(rows.bytes[(row*stride+b/64)*8:])
				if got := word>>(b%64)&1 == 1; got != want[b][uint32(row)] {
					t.Fatalf("%d blocks: row %d of block %d is %v", blocks, row, b, got)
				}
			}
		}
		rows.free()
	}
}

func TestLowerWord(t *testing.T) {
	for range 10_000 {
		var in, want [8]byte
		for i := range in {
			in[i] = byte(rand.IntN(256))
			want[i] = lower[in[i]]
		}
		if got := lowerWord(binary.LittleEndian.Uint64(in[:])); got != binary.LittleEndian.Uint64(want[:]) {
			t.Fatalf("%q becomes %x", in, got)
		}
	}
}

func BenchmarkSigner(b *testing.B) {
	text := make([]byte, usualLimits.block)
	for i := range text {
		text[i] = "etaoin shrdlucmfwypvbgkjqxz\n\t(){}.,ETAOIN"[rand.IntN(41)]
	}
	s := new(signer)
	b.SetBytes(int64(len(text)))
	cpu := usedCPU()
	defer func() { b.ReportMetric(float64(usedCPU()-cpu)/float64(b.N*len(text)), "cpu-ns/byte") }()
	for i := range b.N {
		if i%512 == 0 {
			s.reset()
		}
		s.add(text, 0, len(text))
		s.endBlock()
	}
}
