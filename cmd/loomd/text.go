package main

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// visible shows every character that would act on a terminal, reorder text or
// hide in it. Text without any is returned as it is. Tabs stay.
func visible(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r != '\t' && hides(r) }) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\t' || !hides(r):
			b.WriteRune(r)
		case r < 0x20:
			b.WriteString("^" + string(r+'@'))
		case r == 0x7f:
			b.WriteString("^?")
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

// hides says whether r is a control character, a line or paragraph separator, a
// bidirectional control, or takes no room by itself. The joiner U+200D stays:
// emoji are made with it.
func hides(r rune) bool {
	switch {
	case unicode.IsControl(r), r == 0x2028, r == 0x2029:
		return true
	case r == 0x200d:
		return false
	}
	return unicode.Is(unicode.Cf, r)
}

// columns is how many columns of a terminal r takes.
func columns(r rune) int {
	switch {
	case r == 0x200d, unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// columnsOf is the width of text without control characters.
func columnsOf(s string) int {
	n := 0
	for _, r := range s {
		n += columns(r)
	}
	return n
}

// shorten cuts the middle out of s when it is wider than limit columns.
func shorten(s string, limit int) string {
	if limit <= 0 || columnsOf(s) <= limit {
		return s
	}
	if limit < 3 {
		return strings.Repeat(".", limit)
	}
	runes := []rune(s)
	head, tail := 0, len(runes)
	for left, front := limit-1, true; ; front = !front {
		at := head
		if !front {
			at = tail - 1
		}
		if left -= columns(runes[at]); left < 0 || head >= tail-1 {
			return string(runes[:head]) + "…" + string(runes[tail:])
		}
		if front {
			head++
		} else {
			tail--
		}
	}
}

// shortenEnd cuts the end off s when it is wider than limit columns; 0 is no
// limit.
func shortenEnd(s string, limit int) string {
	if limit <= 0 || columnsOf(s) <= limit {
		return s
	}
	used := 0
	for i, r := range s {
		if used += columns(r); used > limit-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// tabStop is where terminals and git put tabs.
const tabStop = 8

// wrap cuts a line into pieces of at most limit columns, with tabs made spaces
// as if the line began at column 0. There is at least one piece. A limit of 0
// keeps the line whole, tabs included.
func wrap(line string, limit int) []string {
	if limit <= 0 {
		return []string{line}
	}
	limit = max(limit, 2) // a wide character must fit
	var pieces []string
	var b strings.Builder
	at, used := 0, 0 // columns of the line so far, of this piece so far
	put := func(s string, w int) {
		if used+w > limit {
			pieces = append(pieces, b.String())
			b.Reset()
			used = 0
		}
		b.WriteString(s)
		used += w
		at += w
	}
	for _, r := range line {
		if r == '\t' {
			for range tabStop - at%tabStop {
				put(" ", 1)
			}
			continue
		}
		put(string(r), columns(r))
	}
	return append(pieces, b.String())
}

// Bounds of a column that capColumn cuts: without a terminal, and the least on
// one, however narrow.
const (
	columnCap  = 60
	columnLeft = 16
)

// capColumn cuts the middle out of the long cells of one column of a table: to
// what the other columns leave of a terminal of that width, or without one (0)
// to 60 columns. The other cells must be as they are to be printed.
func capColumn(rows [][]string, column, width int) {
	limit := columnCap
	if width > 0 {
		var widest []int
		for _, row := range rows {
			for i, cell := range row {
				if i == len(widest) {
					widest = append(widest, 0)
				}
				widest[i] = max(widest[i], columnsOf(oneLine(cell)))
			}
		}
		limit = width
		for i, w := range widest {
			if i != column {
				limit -= w + columnGap
			}
		}
		limit = max(limit, columnLeft)
	}
	for _, row := range rows {
		row[column] = shorten(row[column], limit)
	}
}

// columnGap is what is between two columns.
const columnGap = 2

// table writes rows with their columns aligned, two spaces apart, nothing after
// the last. The text of cells is shown as visible makes it.
func table(rows [][]string) []string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			row[i] = oneLine(cell)
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], columnsOf(row[i]))
		}
	}
	lines := make([]string, len(rows))
	for n, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-columnsOf(cell)+columnGap))
			}
		}
		lines[n] = strings.TrimRight(b.String(), " ")
	}
	return lines
}
