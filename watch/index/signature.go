package index

import "encoding/binary"

// A signature says of each block which runs of four bytes it may hold: one bit
// per hash, once as the bytes are and once with ASCII letters in lower case.
// Two independent hashes of the same four bytes sort out more than one twice as
// wide; the second alone serves searches that ignore case.
//
// Signatures lie row by row, a row holding one hash's bits of all blocks of a
// part, so that a search reads a few short rows. First come the exact rows.
const (
	rowBits   = 13
	exactRows = 1 << rowBits // as many rows keep a block of 16 KiB of source below half full
	allRows   = 2 * exactRows
	gramLen   = 4
)

const (
	exactMultiplier  = 0x9E3779B1 // odd, and unlike each other: the hashes shall differ
	foldedMultiplier = 0x85EBCA6B
)

func exactRow(gram uint32) uint32  { return gram * exactMultiplier >> (32 - rowBits) }
func foldedRow(gram uint32) uint32 { return gram * foldedMultiplier >> (32 - rowBits) }

// lower maps ASCII letters to lower case and leaves other bytes.
var lower = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
		if 'A' <= i && i <= 'Z' {
			t[i] |= 0x20
		}
	}
	return t
}()

// signer makes the signatures of a part, block by block. Sixty-four blocks are
// collected and then laid into the rows at once: setting single bits far apart
// costs five times as much.
type signer struct {
	exact, folded [exactRows]byte // 1 where the block at hand has the hash
	bits          [64][allRows / 64]uint64
	collected     int
	groups        [][allRows]uint64 // of each sixty-four blocks, the word of every row
}

func (s *signer) reset() {
	s.collected = 0
	s.groups = s.groups[:0]
}

// add adds text[from:to] to the block at hand, with the runs of four that begin
// in it and end behind it, for texts that go on across a block's border.
func (s *signer) add(text []byte, from, to int) {
	to = min(to, len(text)-gramLen+1)
	if from >= to {
		return
	}
	text = text[from : to+gramLen-1]
	for len(text) >= 8 { // eight bytes have five runs of four
		exact := binary.LittleEndian.Uint64(text)
		folded := lowerWord(exact)
		s.exact[exactRow(uint32(exact))] = 1
		s.folded[foldedRow(uint32(folded))] = 1
		s.exact[exactRow(uint32(exact>>8))] = 1
		s.folded[foldedRow(uint32(folded>>8))] = 1
		s.exact[exactRow(uint32(exact>>16))] = 1
		s.folded[foldedRow(uint32(folded>>16))] = 1
		s.exact[exactRow(uint32(exact>>24))] = 1
		s.folded[foldedRow(uint32(folded>>24))] = 1
		s.exact[exactRow(uint32(exact>>32))] = 1
		s.folded[foldedRow(uint32(folded>>32))] = 1
		text = text[5:]
	}
	for ; len(text) >= gramLen; text = text[1:] {
		exact := binary.LittleEndian.Uint32(text)
		s.exact[exactRow(exact)] = 1
		s.folded[foldedRow(uint32(lowerWord(uint64(exact))))] = 1
	}
}

// lowerWord maps the ASCII letters among eight bytes to lower case.
func lowerWord(w uint64) uint64 {
	const ones = 0x0101010101010101
	low := w & (0x7f * ones)
	upper := (low + (0x80-'A')*ones) &^ (low + (0x7f-'Z')*ones) &^ w & (0x80 * ones)
	return w | upper>>2
}

// fill returns how many exact rows the block at hand has set.
func (s *signer) fill() int {
	n := uint64(0)
	for i := 0; i < exactRows; i += 8 * 128 { // so many ones fit in a byte
		sum := uint64(0)
		for j := i; j < i+8*128; j += 8 {
			sum += binary.LittleEndian.Uint64(s.exact[j : j+8])
		}
		for ; sum != 0; sum >>= 8 {
			n += sum & 0xff
		}
	}
	return int(n)
}

// endBlock closes the block at hand.
func (s *signer) endBlock() {
	into := &s.bits[s.collected]
	pack(into[:exactRows/64], &s.exact)
	pack(into[exactRows/64:], &s.folded)
	if s.collected++; s.collected == len(s.bits) {
		s.endGroup()
	}
}

// pack makes bits of flags and clears these.
func pack(into []uint64, flags *[exactRows]byte) {
	const gather = 0x0102040810204080 // moves the low bit of each byte into the top byte
	for i := range into {
		var word uint64
		for j := range 8 {
			at := i*64 + j*8
			word |= binary.LittleEndian.Uint64(flags[at:at+8]) * gather >> 56 << (8 * j)
		}
		into[i] = word
	}
	clear(flags[:])
}

func (s *signer) endGroup() {
	if cap(s.groups) > len(s.groups) {
		s.groups = s.groups[:len(s.groups)+1]
	} else {
		s.groups = append(s.groups, [allRows]uint64{})
	}
	group := &s.groups[len(s.groups)-1]
	var square [64]uint64
	for w := range allRows / 64 {
		for k := range square {
			square[k] = 0
			if k < s.collected {
				square[k] = s.bits[k][w]
			}
		}
		transpose(&square)
		copy(group[w*64:], square[:])
	}
	s.collected = 0
}

// transpose turns rows of a square of bits into columns.
func transpose(a *[64]uint64) {
	mask := uint64(0x00000000FFFFFFFF)
	for j := 32; j != 0; j, mask = j>>1, mask^mask<<(j>>1) {
		for k := 0; k < 64; k = (k + j + 1) &^ j {
			t := (a[k]>>j ^ a[k+j]) & mask
			a[k] ^= t << j
			a[k+j] ^= t
		}
	}
}

// rows lays the signatures out. The stride is the number of words in a row.
func (s *signer) rows() (rows region, stride int) {
	if s.collected > 0 {
		s.endGroup()
	}
	stride = len(s.groups)
	rows = newRegion(stride * allRows * 8)
	for row := range allRows {
		for g := range s.groups {
			binary.LittleEndian.PutUint64(rows.bytes[(row*stride+g)*8:], s.groups[g][row])
		}
	}
	return rows, stride
}
