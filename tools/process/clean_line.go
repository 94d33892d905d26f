package process

import (
	"slices"
	"unicode/utf8"
)

// maxLine is from how many bytes on a line is written before it has ended.
const maxLine = 64 << 10

// line is one line of a terminal, with a cursor. It is text while the cursor stands
// at its end, and cells once it has gone back.
type line struct {
	text  []byte
	cells []rune
	col   int
	over  bool // cells and col count, not text
	begun bool // the line's first part is written
}

func (l *line) overwriting() bool { return l.over }

// put writes a character at the cursor.
func (l *line) put(done []byte, r rune) []byte {
	if !l.over {
		l.text = utf8.AppendRune(l.text, r)
		return l.shorten(done)
	}
	for len(l.cells) < l.col {
		l.cells = append(l.cells, ' ')
	}
	if l.col < len(l.cells) {
		l.cells[l.col] = r
	} else {
		l.cells = append(l.cells, r)
	}
	l.col++
	if len(l.cells) < maxLine {
		return done
	}
	done = l.render(done)
	*l = line{text: l.text[:0], cells: l.cells[:0], begun: true}
	return done
}

// shorten writes the text of a line that has become long.
func (l *line) shorten(done []byte) []byte {
	if len(l.text) < maxLine {
		return done
	}
	done = append(done, l.text...)
	l.text, l.begun = l.text[:0], true
	return done
}

// goTo moves the cursor to a column, from 0. One to the right of all text leaves
// spaces when something is written there.
func (l *line) goTo(col int) {
	if !l.over && col == l.at() {
		return
	}
	if !l.over {
		l.cells, l.over = append(l.cells[:0], []rune(string(l.text))...), true
		l.col = len(l.cells)
		l.text = l.text[:0]
	}
	l.col = min(max(0, col), maxLine-1)
}

// at is the cursor's column.
func (l *line) at() int {
	if l.over {
		return l.col
	}
	return utf8.RuneCount(l.text)
}

// erase takes away what is right of the cursor (0), left of it (1), or all (2).
func (l *line) erase(what int) {
	if !l.over && what == 0 {
		return
	}
	col := l.at()
	l.goTo(0)
	l.goTo(col)
	switch what {
	case 0:
		l.cells = l.cells[:min(l.col, len(l.cells))]
	case 1:
		for i := range min(l.col+1, len(l.cells)) {
			l.cells[i] = ' '
		}
	case 2, 3:
		l.cells = l.cells[:0]
	}
}

// empty reports whether nothing is to be seen in the line.
func (l *line) empty() bool {
	if l.over {
		return !slices.ContainsFunc(l.cells, func(r rune) bool { return r != ' ' })
	}
	return len(l.text) == 0
}

// render appends the text of the line. Spaces at the end of one that was written
// over are there to hide what was longer.
func (l *line) render(done []byte) []byte {
	if !l.over {
		return append(done, l.text...)
	}
	cells := l.cells
	for len(cells) > 0 && cells[len(cells)-1] == ' ' {
		cells = cells[:len(cells)-1]
	}
	for _, r := range cells {
		done = utf8.AppendRune(done, r)
	}
	return done
}

// end appends the text of the line and begins another.
func (l *line) end(done []byte) []byte {
	done = l.render(done)
	*l = line{text: l.text[:0], cells: l.cells[:0]}
	return done
}
