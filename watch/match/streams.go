package match

import (
	"bytes"
	"encoding/binary"
)

// A walk is bound by how long the table takes to answer, so that four walks side by
// side take the time of one: a text is cut into windows of four parts of whole lines.
const (
	streamSize = 4 << 10 // bytes of a part
	leastSize  = 256     // bytes; less is not worth the cuts
	stride     = 16      // bytes of each part that are walked before the states are looked at
)

// streams are the walks through the parts of a window.
type streams struct {
	cuts  [5]int // the borders of the parts
	at    [4]int
	state [4]uint16
	hits  [4][]int // places of matches, one for each line
}

// cut takes the next four parts of whole lines behind i. It returns false when lines
// are too long, or too little is left.
func (w *streams) cut(text []byte, i, size int) bool {
	if size = min(size, (len(text)-i)/4); size < leastSize {
		return false
	}
	w.cuts[0] = i
	for k := 1; k <= 4; k++ {
		at := i + k*size
		near := text[min(at, len(text)):min(at+size, len(text))]
		j := bytes.IndexByte(near, '\n')
		switch {
		case j >= 0:
			w.cuts[k] = at + j + 1
		case k == 4 && at+size >= len(text):
			w.cuts[k] = len(text)
		default:
			return false
		}
	}
	return true
}

// findLine returns a place in the first line with a match at or behind the start of a
// line, i; or -1. No match spans lines.
func (d *dfa) findLine(w *streams, text []byte, i int) int {
	// The line asked for is often near: look there first.
	for size := leastSize; i < len(text); size = min(2*size, streamSize) {
		if size > 4*leastSize && w.cut(text, i, size) {
			if first := d.scan(w, text); first >= 0 {
				return inLine(text, first)
			}
			i = w.cuts[4]
			continue
		}
		end := lineEnd(text, min(i+size, len(text)-1))
		if at, _ := d.run(text, i, end, d.startAt(beforeLine)); at >= 0 {
			return inLine(text, at)
		}
		i = end
	}
	return -1
}

// inLine returns -1 for the end of a text that ends in "\n": no line is there.
func inLine(text []byte, at int) int {
	if at == len(text) && text[at-1] == '\n' {
		return -1
	}
	return at
}

// eachLine calls yield for each line with a match behind the start of a line, i, until
// it returns false.
func (d *dfa) eachLine(w *streams, text []byte, i int, yield func(start, end int) bool) bool {
	for i < len(text) {
		if d.loose || !w.cut(text, i, streamSize) {
			end := lineEnd(text, min(i+4*streamSize, len(text)-1))
			for i < end {
				at, _ := d.run(text, i, end, d.startAt(beforeLine))
				if at < 0 || inLine(text, at) < 0 {
					break
				}
				start := lineStart(text, i, at)
				if i = lineEnd(text, at); !yield(start, i) {
					return false
				}
			}
			i = end
			continue
		}
		d.scan(w, text)
		for k := range w.hits {
			for _, at := range w.hits[k] {
				if inLine(text, at) < 0 {
					break
				}
				if !yield(lineStart(text, i, at), lineEnd(text, at)) {
					return false
				}
			}
		}
		i = w.cuts[4]
	}
	return true
}

// scan finds a place in each line of the window that has a match. It returns the first
// one, or -1.
func (d *dfa) scan(w *streams, text []byte) int {
	w.restart(0, d.startAt(beforeLine))
	losses := d.losses
	d.scanTogether(w, text)
	first := -1
	for k := range 4 {
		if d.losses != losses {
			w.restart(k, d.startAt(beforeLine))
			losses = d.losses
		}
		for w.at[k] < w.cuts[k+1] {
			at, _ := d.run(text, w.at[k], w.cuts[k+1], w.state[k])
			if at < 0 {
				break
			}
			w.hit(text, k, at)
			w.state[k] = d.startAt(beforeLine)
		}
		if first < 0 && len(w.hits[k]) > 0 {
			first = w.hits[k][0]
		}
	}
	return first
}

// restart puts part k and those behind it to their starts.
func (w *streams) restart(k int, start uint16) {
	for ; k < 4; k++ {
		w.at[k], w.state[k], w.hits[k] = w.cuts[k], start, w.hits[k][:0]
	}
}

// hit notes a match in part k, which goes on behind the line.
func (w *streams) hit(text []byte, k, at int) {
	w.hits[k] = append(w.hits[k], at)
	w.at[k] = lineEnd(text, at)
}

// scanTogether walks the four parts until one is nearly at its end, or the states are
// lost.
func (d *dfa) scanTogether(w *streams, text []byte) {
	losses := d.losses
	start := w.state[0]
	for !d.loose {
		n := w.cuts[1] - w.at[0]
		for k := 1; k < 4; k++ {
			n = min(n, w.cuts[k+1]-w.at[k])
		}
		if n < stride {
			return
		}
		var done int
		var next [4]uint16
		if d.few {
			done, next = d.lockFew(w, text, n)
		} else {
			done, next = d.lockRows(w, text, n)
		}
		d.spent += 4 * done
		for k := range 4 {
			if w.at[k] += done; done+stride > n {
				continue
			}
			if next[k] > d.matched {
				w.at[k] += stride
				w.state[k] = next[k]
				continue
			}
			at, behind := d.run(text, w.at[k], w.at[k]+stride, w.state[k])
			if d.losses != losses {
				return
			}
			if at >= 0 {
				w.hit(text, k, at)
				w.state[k] = start
				continue
			}
			w.at[k] += stride
			w.state[k] = behind
		}
	}
}

// lockFew walks the four parts in turns, for n bytes of each. It stops before a stride
// that one of them has to walk by itself, or when no stride is left, and returns how
// far it came and where the stride would lead.
func (d *dfa) lockFew(w *streams, text []byte, n int) (done int, next [4]uint16) {
	columns, matched := &d.byByte, uint8(d.matched)
	s0, s1, s2, s3 := uint8(w.state[0]), uint8(w.state[1]), uint8(w.state[2]), uint8(w.state[3])
	a, b, c, e := text[w.at[0]:][:n], text[w.at[1]:][:n], text[w.at[2]:][:n], text[w.at[3]:][:n]
	i := 0
	for ; i+stride <= n; i += stride {
		n0, n1, n2, n3 := s0, s1, s2, s3
		for j := i; j < i+stride; j += 8 {
			w0, w1 := binary.LittleEndian.Uint64(a[j:]), binary.LittleEndian.Uint64(b[j:])
			w2, w3 := binary.LittleEndian.Uint64(c[j:]), binary.LittleEndian.Uint64(e[j:])
			n0, n1 = columns[uint8(w0)][n0], columns[uint8(w1)][n1]
			n2, n3 = columns[uint8(w2)][n2], columns[uint8(w3)][n3]
			n0, n1 = columns[uint8(w0>>8)][n0], columns[uint8(w1>>8)][n1]
			n2, n3 = columns[uint8(w2>>8)][n2], columns[uint8(w3>>8)][n3]
			n0, n1 = columns[uint8(w0>>16)][n0], columns[uint8(w1>>16)][n1]
			n2, n3 = columns[uint8(w2>>16)][n2], columns[uint8(w3>>16)][n3]
			n0, n1 = columns[uint8(w0>>24)][n0], columns[uint8(w1>>24)][n1]
			n2, n3 = columns[uint8(w2>>24)][n2], columns[uint8(w3>>24)][n3]
			n0, n1 = columns[uint8(w0>>32)][n0], columns[uint8(w1>>32)][n1]
			n2, n3 = columns[uint8(w2>>32)][n2], columns[uint8(w3>>32)][n3]
			n0, n1 = columns[uint8(w0>>40)][n0], columns[uint8(w1>>40)][n1]
			n2, n3 = columns[uint8(w2>>40)][n2], columns[uint8(w3>>40)][n3]
			n0, n1 = columns[uint8(w0>>48)][n0], columns[uint8(w1>>48)][n1]
			n2, n3 = columns[uint8(w2>>48)][n2], columns[uint8(w3>>48)][n3]
			n0, n1 = columns[uint8(w0>>56)][n0], columns[uint8(w1>>56)][n1]
			n2, n3 = columns[uint8(w2>>56)][n2], columns[uint8(w3>>56)][n3]
		}
		if n0 <= matched || n1 <= matched || n2 <= matched || n3 <= matched {
			next = [4]uint16{uint16(n0), uint16(n1), uint16(n2), uint16(n3)}
			break
		}
		s0, s1, s2, s3 = n0, n1, n2, n3
	}
	w.state = [4]uint16{uint16(s0), uint16(s1), uint16(s2), uint16(s3)}
	return i, next
}

// lockRows is lockFew for the second form of the table.
func (d *dfa) lockRows(w *streams, text []byte, n int) (done int, next [4]uint16) {
	t, classes, matched := d.table, &d.p.classes, d.matched
	s0, s1, s2, s3 := w.state[0], w.state[1], w.state[2], w.state[3]
	a, b, c, e := text[w.at[0]:][:n], text[w.at[1]:][:n], text[w.at[2]:][:n], text[w.at[3]:][:n]
	i := 0
	for ; i+stride <= n; i += stride {
		n0, n1, n2, n3 := s0, s1, s2, s3
		for j := i; j < i+stride; j++ {
			n0, n1 = t[n0|classes[a[j]]], t[n1|classes[b[j]]]
			n2, n3 = t[n2|classes[c[j]]], t[n3|classes[e[j]]]
		}
		if n0 <= matched || n1 <= matched || n2 <= matched || n3 <= matched {
			next = [4]uint16{n0, n1, n2, n3}
			break
		}
		s0, s1, s2, s3 = n0, n1, n2, n3
	}
	w.state = [4]uint16{s0, s1, s2, s3}
	return i, next
}
