package diffpreview

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// Bounds of [Words], for each side; what is larger is for nobody's eye word by word. The time is that of wordCells: some
// milliseconds at the worst.
const (
	maxWordBytes = 64 << 10
	maxWordLines = 500
	wordCells    = 1 << 18 // words of one side that differ times those of the other
)

// WordSpan is a run of changed words: the bytes [Start, End) of a text.
type WordSpan struct{ Start, End int }

// Words returns which parts of a hunk's two texts differ, word by word, as byte ranges of either text, sorted and apart.
// Without them both texts are the same. No span goes over the end of a line, and none cuts a character or a word: a word
// is a run of letters, digits and "_", a run of blanks, or any other character.
//
// ok is false where there is nothing to be gained or it would cost too much: a side is empty, larger than the bounds, or
// not valid UTF-8 (UTF-16 has to be decoded first). It is a function of the two texts alone.
func Words(old, new []byte) (oldSpans, newSpans []WordSpan, ok bool) {
	for _, text := range [][]byte{old, new} {
		if len(text) == 0 || len(text) > maxWordBytes || countLines(text, UTF8) > maxWordLines || !utf8.Valid(text) {
			return nil, nil, false
		}
	}
	a, b := wordEnds(old), wordEnds(new)
	n := min(len(a), len(b))
	prefix, suffix := 0, 0
	for prefix < n && bytes.Equal(word(old, a, prefix), word(new, b, prefix)) {
		prefix++
	}
	for suffix < n-prefix && bytes.Equal(word(old, a, len(a)-1-suffix), word(new, b, len(b)-1-suffix)) {
		suffix++
	}
	i0, i1, j0, j1 := prefix, len(a)-suffix, prefix, len(b)-suffix
	if (i1-i0)*(j1-j0) > wordCells {
		return nil, nil, false
	}
	changes := changedWords(old, new, a[:i1], b[:j1], prefix)
	for _, c := range joinWords(changes) {
		oldSpans = appendSpans(oldSpans, old, c.old)
		newSpans = appendSpans(newSpans, new, c.new)
	}
	return oldSpans, newSpans, true
}

// wordEnds cuts a text into words and returns where each ends. A mark belongs to the character before it, and a zero
// width joiner makes one character of those beside it.
func wordEnds(text []byte) []int {
	const joiner = '\u200d'
	var ends []int
	last, lastKind := '\n', other
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		at += size
		kind := kindOfRune(r)
		inside := kind == lastKind && kind != other
		if unicode.IsMark(r) || r == joiner || last == joiner {
			inside, kind = true, lastKind
		}
		if n := len(ends); inside && last != '\n' && r != '\n' {
			ends[n-1] = at
		} else {
			ends = append(ends, at)
		}
		last, lastKind = r, kind
	}
	return ends
}

// runeKind is what a character can be a run of.
type runeKind int

const (
	other runeKind = iota // nothing
	letters
	blanks
)

func kindOfRune(r rune) runeKind {
	switch {
	case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
		return letters
	case r == ' ' || r == '\t':
		return blanks
	}
	return other
}

func word(text []byte, ends []int, i int) []byte {
	start := 0
	if i > 0 {
		start = ends[i-1]
	}
	return text[start:ends[i]]
}

// wordChange is a run of changed words on both sides, and the text that both have behind it, up to the next run.
type wordChange struct {
	old, new WordSpan
	same     []byte
}

// changedWords diffs the words from number first on.
func changedWords(old, new []byte, a, b []int, first int) []wordChange {
	numbers := runeNumbers[string]{}
	asRunes := func(text []byte, ends []int) []rune {
		out := make([]rune, 0, len(ends)-first)
		for i := first; i < len(ends); i++ {
			out = append(out, numbers.of(string(word(text, ends, i))))
		}
		return out
	}
	exact := diffmatchpatch.New()
	exact.DiffTimeout = 0 // a clock must not decide what is shown
	i, j := first, first
	offset := func(ends []int, i int) int {
		if i == 0 {
			return 0
		}
		return ends[i-1]
	}
	var changes []wordChange
	open := false // the last change may go on
	for _, d := range exact.DiffMainRunes(asRunes(old, a), asRunes(new, b), false) {
		oldAt, newAt, n := offset(a, i), offset(b, j), utf8.RuneCountInString(d.Text)
		if d.Type != diffmatchpatch.DiffEqual && !open {
			changes = append(changes, wordChange{old: WordSpan{oldAt, oldAt}, new: WordSpan{newAt, newAt}})
		}
		open = d.Type != diffmatchpatch.DiffEqual
		if d.Type != diffmatchpatch.DiffInsert {
			i += n
		}
		if d.Type != diffmatchpatch.DiffDelete {
			j += n
		}
		switch last := len(changes) - 1; {
		case open:
			changes[last].old.End, changes[last].new.End = offset(a, i), offset(b, j)
		case last >= 0:
			changes[last].same = old[oldAt:offset(a, i)]
		}
	}
	return changes
}

// joinWords joins changes with so little in common between them that a person would see confetti: the text between is on
// one line and no longer than what changes before it, and than what changes behind it. This is go-diff's semantic
// clean-up in bytes of the text; on runes for words that would count words, and it would join over line ends.
func joinWords(changes []wordChange) []wordChange {
	var out []wordChange
	for _, c := range changes {
		for len(out) > 0 {
			before := out[len(out)-1]
			size := len(before.same)
			if bytes.IndexByte(before.same, '\n') >= 0 || size > before.size() || size > c.size() {
				break
			}
			c.old.Start, c.new.Start = before.old.Start, before.new.Start
			out = out[:len(out)-1]
		}
		out = append(out, c)
	}
	return out
}

// size is the longer side of a change, in bytes.
func (c *wordChange) size() int { return max(c.old.End-c.old.Start, c.new.End-c.new.Start) }

// appendSpans adds a span, cut behind each line end in it.
func appendSpans(spans []WordSpan, text []byte, s WordSpan) []WordSpan {
	for s.Start < s.End {
		end, _ := lineEnd(text[:s.End], s.Start, UTF8)
		spans = append(spans, WordSpan{s.Start, end})
		s.Start = end
	}
	return spans
}

// runeNumbers gives things runes, in the order in which they are met, so that go-diff can compare them.
type runeNumbers[K comparable] map[K]rune

func (n runeNumbers[K]) of(thing K) rune {
	r, ok := n[thing]
	if !ok {
		if r = rune(len(n) + 1); r >= 0xD800 {
			r += 0x800 // no surrogates: they do not survive in a string
		}
		n[thing] = r
	}
	return r
}
