package match

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// answer is what was found in one file: its lines, and what matches in each.
type answer struct {
	lines []int
	spans []string // "line:start-end", with the line's or the run's first number
}

// askRipgrep searches the files of dir. refused is rg's own error.
func askRipgrep(t *testing.T, dir string, o Options) (answers map[string]*answer, refused string) {
	t.Helper()
	args := []string{"--no-config", "--no-unicode", "-uuu", "-a", "-E", "none", "--json"}
	for flag, set := range map[string]bool{"-F": o.Fixed, "-w": o.Word, "-i": o.IgnoreCase, "-U": o.Multiline, "-v": o.Invert} {
		if set {
			args = append(args, flag)
		}
	}
	cmd := exec.Command(ripgrep(t), append(args, "-e", o.Pattern, ".")...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 2 {
		return nil, stderr.String()
	}
	answers = map[string]*answer{}
	for line := range bytes.Lines(out) {
		var m rgMessage
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatal(err)
		}
		if m.Type == "match" {
			m.addTo(answers, o)
		}
	}
	return answers, ""
}

// rgMessage is a line that rg --json writes.
type rgMessage struct {
	Type string
	Data struct {
		Path       rgText
		Lines      rgText
		LineNumber int `json:"line_number"`
		Submatches []struct{ Start, End int }
	}
}

type rgText struct{ Text, Bytes string }

func (r rgText) String() string {
	if b, err := base64.StdEncoding.DecodeString(r.Bytes); err == nil && len(b) > 0 {
		return string(b)
	}
	return r.Text
}

func (m *rgMessage) addTo(answers map[string]*answer, o Options) {
	name := filepath.Base(m.Data.Path.String())
	a := answers[name]
	if a == nil {
		a = &answer{}
		answers[name] = a
	}
	for k := range lines([]byte(m.Data.Lines.String())) {
		a.lines = append(a.lines, m.Data.LineNumber+k)
	}
	for _, s := range m.Data.Submatches {
		if !o.Invert && s.Start < s.End {
			a.spans = append(a.spans, fmt.Sprintf("%d:%d-%d", m.Data.LineNumber, s.Start, s.End))
		}
	}
}

// ours is the same by this package.
func ours(t *testing.T, p *Pattern, o Options, text []byte) *answer {
	a := &answer{lines: found(t, p, text)}
	for i := 0; i < len(text) && !o.Invert; {
		start, end, ok := p.Find(text, i)
		if !ok {
			break
		}
		number := bytes.Count(text[:start], []byte("\n")) + 1
		for _, s := range spansOf(t, p, text[start:end]) {
			if s[0] < s[1] {
				a.spans = append(a.spans, fmt.Sprintf("%d:%d-%d", number, s[0], s[1]))
			}
		}
		i = end
	}
	return a
}

// oracleFiles writes small texts and returns them by name.
func oracleFiles(t *testing.T, dir string, r *rand.Rand) map[string][]byte {
	texts := map[string][]byte{
		"empty": {}, "newline": []byte("\n"), "one": []byte("foo"), "newlines": []byte("\n\n\n"),
		"wide": []byte("é\nÉ à\nüber straße\nab€c\n日本語 x\nнет\n\xe9\na\xffb\n\xc3\n"),
		"odd":  []byte("a\x00b\n\x00\n\ta\vb\fc\nfoo\rbar\n a\\b /*x*/ $1 {2} [3] (4) ^5 |6 .7 +8 ?9 *0\n\x7f~\n--\n#!/bin/sh\na-b_c\n"),
		"code": oracleCode,
	}
	for i := range 24 {
		letters := asciiLetters
		if i%3 == 0 {
			letters = append([]string{"é", "日", "\r-"}, wildLetters...)
		}
		texts[fmt.Sprintf("random%02d", i)] = randomText(r, r.IntN(14), letters)
	}
	source, err := goSource()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"strings/compare.go", "net/http/clone.go"} {
		text, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(name)] = text
	}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return texts
}

// withoutInvert is for -U with -v, where rg also reports lines that a match ends in:
// it is asked for the lines that match, and the answer is all others.
func withoutInvert(t *testing.T, dir string, texts map[string][]byte, o Options) (map[string]*answer, string) {
	t.Helper()
	o.Invert = false
	matching, refused := askRipgrep(t, dir, o)
	answers := map[string]*answer{}
	for name, text := range texts {
		a := &answer{}
		for n := range lines(text) {
			if m := matching[name]; m == nil || !slices.Contains(m.lines, n+1) {
				a.lines = append(a.lines, n+1)
			}
		}
		answers[name] = a
	}
	return answers, refused
}

// compareWithRipgrep reports differences between rg and this package. Empty matches
// are not compared, since rg leaves out that at the end of a text without "\n", nor
// are spans where it looks for the start of the text in more than the line.
func compareWithRipgrep(t *testing.T, dir string, texts map[string][]byte, o Options) {
	t.Helper()
	ask := func() (map[string]*answer, string) { return askRipgrep(t, dir, o) }
	if o.Multiline && o.Invert {
		ask = func() (map[string]*answer, string) { return withoutInvert(t, dir, texts, o) }
	}
	want, refused := ask()
	p, err := Compile(o)
	if refused != "" {
		// What rg refuses may be taken here (see the package's comment), not lines: "\n".
		if err == nil && strings.Contains(refused, `the literal "\n" is not allowed`) {
			t.Errorf("%+v: rg says %q, and here it is no error", o, refused)
		}
		return
	}
	if err != nil {
		t.Errorf("%+v: %v; rg takes it", o, err)
		return
	}
	for name, text := range texts {
		w := want[name]
		if w == nil {
			w = &answer{}
		}
		got := ours(t, p, o, text)
		if !slices.Equal(got.lines, w.lines) {
			t.Errorf("%+v in %s %.300q: lines %v, rg has %v", o, name, text, got.lines, w.lines)
			return
		}
		textual := strings.Contains(o.Pattern, `\A`) || strings.Contains(o.Pattern, `(?-m`)
		if !slices.Equal(got.spans, w.spans) && !o.Multiline && !textual {
			t.Errorf("%+v in %s %.300q: spans %v, rg has %v", o, name, text, got.spans, w.spans)
			return
		}
	}
}

// variants are the flags that patterns are asked under.
func variants(pattern string) []Options {
	return []Options{
		{Pattern: pattern},
		{Pattern: pattern, IgnoreCase: true},
		{Pattern: pattern, Word: true},
		{Pattern: pattern, Multiline: true},
		{Pattern: pattern, Invert: true},
		{Pattern: pattern, Fixed: true},
		{Pattern: pattern, Multiline: true, Invert: true},
		{Pattern: pattern, Word: true, IgnoreCase: true, Multiline: true},
		{Pattern: pattern, Fixed: true, Word: true},
		{Pattern: pattern, Fixed: true, IgnoreCase: true},
	}
}

// TestOracle: what rg --no-unicode finds is found, line for line, for written and
// for random patterns.
func TestOracle(t *testing.T) {
	ripgrep(t)
	r := rand.New(rand.NewPCG(7, 8))
	dir := t.TempDir()
	texts := oracleFiles(t, dir, r)
	for _, pattern := range oraclePatterns {
		all := variants(pattern)
		if !soak { // the pattern itself, or one of the others
			k := max(0, r.IntN(2*len(all))-len(all))
			all = all[k : k+1]
		}
		for _, o := range all {
			compareWithRipgrep(t, dir, texts, o)
		}
	}
	rounds := 120
	if soak {
		rounds = 2_000
	}
	for range rounds {
		g := &randomPattern{r: r, looks: r.IntN(2) == 0, multiline: r.IntN(4) == 0}
		all := variants(g.pattern(2))
		o := all[r.IntN(len(all))]
		if g.multiline && !o.Fixed {
			o.Multiline = true
		}
		compareWithRipgrep(t, dir, texts, o)
	}
}
