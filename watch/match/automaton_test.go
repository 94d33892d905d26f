package match

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// abText has long lines of a and b, and a few c and CRs: patterns that count behind an
// a come into ever new states.
func abText(r *rand.Rand, size int) []byte {
	text := make([]byte, size)
	for i := range text {
		switch k := r.IntN(600); {
		case k < 3:
			text[i] = '\n'
		case k < 5:
			text[i] = 'c'
		case k < 7:
			text[i] = '\r'
		default:
			text[i] = "ab"[k%2]
		}
	}
	return text
}

// TestManyStates: the states are forgotten while four parts are walked, and the lines
// are those of Go's regexp all the same.
func TestManyStates(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	for _, pattern := range []string{`a[ab]{7}c`, `a[ab]{9}c$`, `a[ab]{13}[c\r]`, `b[ab]{13}c$|c[ab]{3}c`, `a[ab]{40}c`, `^b[ab]{20}a[ab]{8}c`} {
		re := regexp.MustCompile("(?m)" + strings.ReplaceAll(pattern, "$", `\r?$`))
		for _, size := range []int{3_000, 40_000} {
			p := compiled(t, Options{Pattern: pattern})
			text := abText(r, size)
			for range 2 { // with the states of the first pass
				if got, want := found(t, p, text), goLines(re, text, false); !slices.Equal(got, want) {
					t.Errorf("%q in %d bytes: lines %v, Go's regexp has %v", pattern, size, got, want)
				}
			}
		}
	}
	for _, pattern := range []string{`a[ab\n]{7}c`, `a[ab\n]{10}c`, `a[ab\r\n]{13}[c\r]`, `c[ab\n]{9}a[ab]{9}`, `b[ab\n]{40}c`} {
		re := regexp.MustCompile("(?m)" + pattern)
		for _, size := range []int{3_000, 30_000} {
			p := compiled(t, Options{Pattern: pattern, Multiline: true})
			text := abText(r, size)
			if got, want := found(t, p, text), goRuns(re, text); !slices.Equal(got, want) {
				t.Errorf("%q in %d bytes: lines %v, Go's regexp has %v", pattern, size, got, want)
			}
		}
	}
}

// TestLongTexts: texts of many parts, where the automaton walks four at a time, have
// the lines of Go's regexp; matches are rare or stand in each line, states are few or
// are forgotten again and again.
func TestLongTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	sparse := randomText(r, 4_000, append(slices.Repeat([]string{"x", "yz", " ", "."}, 40), "abA1", "q"))
	dense := randomText(r, 4_000, asciiLetters)
	long := append(bytes.Repeat([]byte("ab c"), 20_000), "\nfoo1\n"...)
	letters := randomText(r, 2_000, []string{"a", "b"})
	crlf := bytes.ReplaceAll(sparse, []byte("\n"), []byte("\r\n"))
	for _, pattern := range []string{
		`[A-Z]\d`, `[a-c]{2}[A-Z]`, `\d$`, `^[a-z]\W`, `\b[a-z]\d\b`, `[^x-z .]`, `(a|b)*a(a|b){9}`, `[ab]*a[ab]{14}`, `\w{3}\W+\w{2}$`, `[.q]$`, `^`, `$`, `\W$|^q`,
	} {
		re := regexp.MustCompile("(?m)" + pattern)
		p := compiled(t, Options{Pattern: pattern})
		for _, text := range [][]byte{sparse, dense, long, letters, dense[:20_000], sparse[1:9_000]} {
			if got, want := found(t, p, text), goLines(re, text, false); !slices.Equal(got, want) {
				t.Errorf("%q in a text of %d bytes: %d lines, Go's regexp has %d", pattern, len(text), len(got), len(want))
			}
		}
		if strings.Contains(pattern, `\W`) || strings.Contains(pattern, `[^`) {
			continue // these match "\r"
		}
		if got, want := found(t, p, crlf), goLines(re, sparse, false); !slices.Equal(got, want) {
			t.Errorf("%q in a text of Windows: %d lines, Go's regexp has %d without its CRs", pattern, len(got), len(want))
		}
	}
}

// TestLongRuns is the same with matches that span lines, which may begin far before they end.
func TestLongRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	sparse := randomText(r, 4_000, append(slices.Repeat([]string{"x", "yz", " ", "."}, 40), "abA1", "q", "ab"))
	dense := randomText(r, 1_000, asciiLetters)
	letters := randomText(r, 2_000, []string{"a", "b", "b", "a", "b", "abc"})
	for _, pattern := range []string{
		`[A-Z]\d\n[a-z]`, `q\s+q`, `[ab]+\n[ab]{12}\n`, `a[ab\n]{14}c`, `(a|b|\n)*a(a|b|\n){9}c`, `[^x]{300}`, `(?s)A` + strings.Repeat(`.{1000}`, 5) + `q`, `1$\n^ `, `\w\n\W{3}`,
	} {
		re := regexp.MustCompile("(?m)" + pattern)
		p := compiled(t, Options{Pattern: pattern, Multiline: true})
		for _, text := range [][]byte{sparse, dense, letters, dense[:2_000], sparse[1:9_000]} {
			if got, want := found(t, p, text), goRuns(re, text); !slices.Equal(got, want) {
				t.Errorf("%q in a text of %d bytes: %d lines, Go's regexp has %d", pattern, len(text), len(got), len(want))
			}
		}
	}
}

// TestStatesAreBounded: a pattern that would need more states than there is room for
// has them forgotten, and then is walked without.
func TestStatesAreBounded(t *testing.T) {
	p := compiled(t, Options{Pattern: `[ab]*a[ab]{80}c`})
	d := newDFA(p.exists, false)
	spanning := compiled(t, Options{Pattern: `a[ab\n]{80}c`, Multiline: true})
	text := randomText(rand.New(rand.NewPCG(11, 12)), 10_000, []string{"a", "b", "a", "b", "ab"})
	text = bytes.ReplaceAll(text, []byte("\n"), nil)[:10<<12-20] // the match is in two pieces of dfa.begun
	for _, c := range []string{"a", "b"} {
		line := slices.Concat(text, []byte(c), bytes.Repeat([]byte("ab"), 40), []byte("c\n"))
		if at := d.findLine(&streams{}, line, 0); at >= 0 != (c == "a") {
			t.Errorf("an %s stands there; findLine says %d of %d", c, at, len(line))
		}
		if got := found(t, spanning, line); (got != nil) != (c == "a") {
			t.Errorf("an %s stands there; lines %v", c, got)
		}
	}
	if !d.loose || d.few || len(d.states)<<d.shift > tableSize {
		t.Errorf("loose %v, %d states", d.loose, len(d.states))
	}
}

// TestPatternIsShared: one pattern is used by many goroutines.
func TestPatternIsShared(t *testing.T) {
	text := randomText(rand.New(rand.NewPCG(13, 14)), 2_000, asciiLetters)
	for _, o := range []Options{{Pattern: `[A-Z]\d+`}, {Pattern: "foo", Word: true}, {Pattern: `a\nb`, Multiline: true}} {
		p := compiled(t, o)
		want := p.Count(text)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 5 {
					if got := len(found(t, p, text)); got != want {
						t.Errorf("%+v: %d lines, then %d", o, want, got)
					}
				}
			})
		}
		wg.Wait()
	}
}

// TestBombs: patterns and texts that make backtracking engines run for ever are
// answered in time that grows with the text alone.
func TestBombs(t *testing.T) {
	as := strings.Repeat("a", 50_000)
	for _, pattern := range []string{
		`(a*)*b`, `(a+)+$b`, `(a|aa)+b`, `(.*)(.*)(.*)(.*)(.*)b`, strings.Repeat("a?", 50) + strings.Repeat("a", 50) + "b",
		`(?:a{0,30}){0,30}b`, `(\w+\s?)*b`, `^(([a-z])+.)+[A-Z]([a-z])+$`, `(((((a*)*)*)*)*)*b`,
		strings.Repeat("(?:", 60) + strings.Repeat("){60}", 60) + "b", strings.Repeat("(?:", 60) + strings.Repeat("){0,60}", 2) + strings.Repeat(")", 58) + "b",
	} {
		p := compiled(t, Options{Pattern: pattern})
		if got := found(t, p, []byte(as+"\n"+as+"\n")); got != nil {
			t.Errorf("%q: lines %v", pattern, got)
		}
		p.Span([]byte(as[:5_000]))
	}
}

// TestFinders: literals are found wherever they stand, in texts of any length.
func TestFinders(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	letters := []string{"a", "b", "A", "B", "_", "@", "`", "\xe1", "\x01"}
	for range 20_000 {
		text := randomText(r, 1+r.IntN(10), letters)
		if r.IntN(3) == 0 {
			text = bytes.Repeat(text, 1+r.IntN(12))
		}
		set := make([]literal, 1+r.IntN(4))
		least := r.IntN(4)
		for i := range set {
			for range max(1, least+r.IntN(5)) {
				set[i].text += letters[r.IntN(len(letters))]
			}
			if set[i].fold = r.IntN(2) == 0; set[i].fold {
				set[i].text = string(lower([]byte(set[i].text)))
			}
		}
		from := r.IntN(len(text) + 1)
		want := -1
		for i, l := range set {
			at := indexLiteral(text, l, from)
			f := newFinder(l)
			if got := f.find(text, from); got != at {
				t.Fatalf("%+v in %q from %d: %d, want %d", l, text, from, got, at)
			}
			if last := len(text) - len(l.text); from <= last { // what it does without vectors
				if got := f.findPair(text, from, last); got != at {
					t.Fatalf("%+v in %q from %d: %d, want %d", l, text, from, got, at)
				}
			}
			if at >= 0 && (want < 0 || at < want) {
				want = at
			}
			if i+1 < len(set) {
				continue
			}
			if f := newManyFinder(set); f != nil && f.find(text, from) != want {
				t.Fatalf("%+v in %q from %d: %d, want %d", set, text, from, f.find(text, from), want)
			}
		}
	}
}

func indexLiteral(text []byte, l literal, from int) int {
	text = bytes.Clone(text[from:])
	if l.fold {
		lower(text)
	}
	if i := bytes.Index(text, []byte(l.text)); i >= 0 {
		return from + i
	}
	return -1
}
