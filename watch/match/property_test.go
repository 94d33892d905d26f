package match

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"
)

// goLines lists the lines that Go's regexp finds a match in, one line at a time.
func goLines(re *regexp.Regexp, text []byte, invert bool) []int {
	var list []int
	for i, line := range splitLines(text) {
		if re.Match(bytes.TrimSuffix(line, []byte("\n"))) != invert {
			list = append(list, i+1)
		}
	}
	return list
}

func splitLines(text []byte) [][]byte {
	list := bytes.SplitAfter(text, []byte("\n"))
	if n := len(list); len(list[n-1]) == 0 {
		list = list[:n-1]
	}
	return list
}

// goRuns lists the lines that the matches of Go's regexp in the whole text touch.
func goRuns(re *regexp.Regexp, text []byte) []int {
	var list []int
	total := lines(text)
	for _, m := range re.FindAllIndex(text, -1) {
		first := bytes.Count(text[:m[0]], []byte("\n")) + 1
		last := first
		if m[1] > m[0] {
			last = bytes.Count(text[:m[1]-1], []byte("\n")) + 1
		}
		for n := first; n <= min(last, total); n++ {
			if len(list) == 0 || list[len(list)-1] < n {
				list = append(list, n)
			}
		}
	}
	return list
}

// TestPropertyLinesAsGo: for random patterns and texts the lines found, what stands
// in them and what is needed are those of Go's regexp.
func TestPropertyLinesAsGo(t *testing.T) {
	rounds := 2_500
	if soak {
		rounds = 600_000
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range rounds {
		g := &randomPattern{r: r, looks: r.IntN(2) == 0}
		source := g.pattern(2)
		fold := r.IntN(4) == 0
		prefix := "(?m)"
		if fold {
			prefix = "(?mi)"
		}
		re, err := regexp.Compile(prefix + "(?:" + source + ")")
		if err != nil {
			continue
		}
		p := compiled(t, Options{Pattern: source, IgnoreCase: fold})
		for range 3 {
			letters := asciiLetters
			if r.IntN(2) == 0 {
				letters = wildLetters
			}
			text := randomText(r, r.IntN(12), letters)
			want := goLines(re, text, false)
			if got := found(t, p, text); !slices.Equal(got, want) {
				t.Fatalf("%q (fold %v) in %q: lines %v, Go's regexp has %v", source, fold, text, got, want)
			}
			checkNot(t, Options{Pattern: source, IgnoreCase: fold}, re, text)
			for _, n := range want {
				checkLine(t, p, re, source, splitLines(text)[n-1])
			}
		}
	}
}

func checkNot(t *testing.T, o Options, re *regexp.Regexp, text []byte) {
	t.Helper()
	o.Invert = true
	want := goLines(re, text, true)
	if got := found(t, compiled(t, o), text); !slices.Equal(got, want) {
		t.Fatalf("not %q in %q: lines %v, Go's regexp has %v", o.Pattern, text, got, want)
	}
}

func checkLine(t *testing.T, p *Pattern, re *regexp.Regexp, source string, line []byte) {
	t.Helper()
	if !p.Need().meets(line) {
		t.Fatalf("%q matches %q, which lacks what it needs: %v", source, line, describe(p.Need()))
	}
	var want [][2]int
	for _, m := range re.FindAllIndex(bytes.TrimSuffix(line, []byte("\n")), -1) {
		want = append(want, [2]int{m[0], m[1]})
	}
	if got := spansOf(t, p, line); !slices.Equal(got, want) {
		t.Fatalf("%q in %q: spans %v, Go's regexp has %v", source, line, got, want)
	}
}

// TestPropertyRunsAsGo is the same with matches that span lines. Those that may be
// empty are left out: Go does not count an empty match right behind another, and here
// it may be the one of the next line, as in rg (see TestOracle).
func TestPropertyRunsAsGo(t *testing.T) {
	rounds := 2_500
	if soak {
		rounds = 600_000
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range rounds {
		g := &randomPattern{r: r, looks: r.IntN(2) == 0, multiline: true}
		source := g.pattern(2)
		re, err := regexp.Compile("(?m)(?:" + source + ")")
		if err != nil {
			continue
		}
		p := compiled(t, Options{Pattern: source, Multiline: true})
		p.spans.prepare()
		if p.spans.empty {
			continue
		}
		not := compiled(t, Options{Pattern: source, Multiline: true, Invert: true})
		for range 3 {
			text := randomText(r, r.IntN(10), asciiLetters)
			want := goRuns(re, text)
			if got := found(t, p, text); !slices.Equal(got, want) {
				t.Fatalf("%q in %q: lines %v, Go's regexp has %v", source, text, got, want)
			}
			if len(want) > 0 && !p.Need().meets(text) {
				t.Fatalf("%q matches %q, which lacks what it needs: %v", source, text, describe(p.Need()))
			}
			var rest []int
			for n := range lines(text) {
				if !slices.Contains(want, n+1) {
					rest = append(rest, n+1)
				}
			}
			if got := found(t, not, text); !slices.Equal(got, rest) {
				t.Fatalf("not %q in %q: lines %v, Go's regexp has %v", source, text, got, rest)
			}
		}
	}
}

// TestPropertyLineEnds: where nothing but a line's end is told by "\r", a text of
// Windows has the lines of one of Unix.
func TestPropertyLineEnds(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 1_500 {
		g := &randomPattern{r: r, looks: true, plain: true}
		source := g.pattern(2)
		p, err := Compile(Options{Pattern: source})
		if err != nil {
			continue
		}
		text := randomText(r, 1+r.IntN(8), asciiLetters)
		crlf := bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
		if want, got := found(t, p, text), found(t, p, crlf); !slices.Equal(want, got) {
			t.Fatalf("%q in %q: lines %v, with CRLF %v", source, text, want, got)
		}
	}
}
