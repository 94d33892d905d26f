package tools

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Limits of what a no_match says: enough to see the difference by, little enough
// to be read.
const (
	maxSearched     = 2 << 20 // bytes from the text's start in which a near region is looked for
	maxShownLines   = 12
	maxShownLine    = 200 // bytes of each
	maxOldLines     = 200 // lines of old_str that take part
	minResemblance  = 0.5 // share of old_str's letter pairs that a line must hold
	differenceAhead = 40  // bytes shown before the first difference
)

// difference is the first place where old_str and the file part, with white
// space made visible.
type difference struct {
	Line     int    `json:"line"` // of the file, from 1
	Expected string `json:"expected"`
	Found    string `json:"found"`
}

// region is a part of the file by its line numbers, which count from 1.
type region struct {
	StartLine int    `json:"start_line"`
	EndLine   int    `json:"end_line"`
	Text      string `json:"text"`
}

// noMatch explains why old, which the call names part, was not found in the text: in
// what alone it differs if there is such a thing, where the text is most like it, and
// what is different there. message says that it was not found.
func (t *editable) noMatch(message, part, old string) *Failure {
	f := &Failure{Code: CodeNoMatch, Message: message}
	f.Hint = "read the file again and copy " + part + " exactly from it"
	if len(t.text) == 0 {
		f.Hint = "the file is empty; an empty " + part + " appends"
		return f
	}
	if !t.secrets.Idle() && strings.Contains(old, "[redacted:") {
		f.Hint = "[redacted:NAME] stands for a secret, which the file has instead: leave it out of " + part
	}
	searched := t.text[:min(len(t.text), maxSearched)]
	if reason := onlyDifference(searched, old); reason != "" {
		f.Hint = part + " differs from the file in " + reason + "; " + f.Hint
	}
	lines := strings.Split(string(searched), "\n")
	oldLines := strings.Split(old, "\n")
	oldLines = oldLines[:min(len(oldLines), maxOldLines)]
	start, ok := nearestRegion(lines, oldLines)
	if !ok {
		return f
	}
	end := min(start+len(oldLines), len(lines))
	f.with("nearest", region{start + 1, end, t.excerpt(lines[start:end])})
	where := fmt.Sprintf("lines %d to %d", start+1, end)
	if end == start+1 {
		where = fmt.Sprintf("line %d", end)
	}
	f.Message += "; the nearest text is at " + where
	if d, ok := firstDifference(lines, oldLines, start); ok {
		if line := lines[d.Line-1]; t.secrets.String(line) != line { // the part around the difference may be one of a secret
			d.Found = visible(clip(t.secrets.String(line)))
		}
		f.with("difference", d)
		f.Message += fmt.Sprintf("; the first difference is at line %d: %s has `%s`, the file has `%s`", d.Line, part, d.Expected, d.Found)
	}
	return f
}

// folds are the differences that models and editors make without meaning to.
// Each fold makes its difference go away.
var folds = []struct {
	name, such string
	fold       func(string) string
}{
	{"line ends", " (CR LF and LF)", foldCR},
	{"white space", " (tabs, spaces, indentation or trailing blanks)", dropSpace},
	{"the Unicode form", " (composed and decomposed letters, NFC and NFD)", norm.NFC.String},
	{"typographic quotes or dashes", "", foldQuotes},
	{"upper and lower case", "", strings.ToLower},
	{"white space, quotes or Unicode form", "", looseForm},
}

func onlyDifference(text []byte, old string) string {
	for _, f := range folds {
		needle := f.fold(old)
		if needle != "" && strings.Contains(f.fold(string(text)), needle) {
			return f.name + " only" + f.such
		}
	}
	return ""
}

func foldCR(s string) string { return strings.ReplaceAll(s, "\r", "") }

func dropSpace(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '\u200b' || r == '\ufeff' {
			return -1
		}
		return r
	}, s)
}

func foldQuotes(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '‘', '’', '‚', '‛', '′':
			return '\''
		case '“', '”', '„', '‟', '″':
			return '"'
		case '‐', '‑', '‒', '–', '—', '−':
			return '-'
		}
		return r
	}, s)
}

// looseForm drops all that folds do. Two lines that have it in common are alike.
func looseForm(s string) string {
	if !ascii(s) {
		return strings.ToLower(foldQuotes(dropSpace(norm.NFC.String(s))))
	}
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		switch c := s[i]; {
		case c == ' ' || '\t' <= c && c <= '\r': // as unicode.IsSpace
		case 'A' <= c && c <= 'Z':
			out = append(out, c+'a'-'A')
		default:
			out = append(out, c)
		}
	}
	return string(out)
}

// nearestRegion returns the line at which old is likeliest meant to stand. Each
// line of the text that equals a line of old in loose form votes for the place
// where old would have to begin; without any such line the one that holds most of the
// letter pairs of old's longest line decides.
func nearestRegion(lines, old []string) (start int, ok bool) {
	wanted := map[string][]int{}
	longest := 0
	for j, line := range old {
		key := looseForm(line)
		if len(key) > 0 && len(wanted[key]) < 8 { // a line like "}" that old is full of says little
			wanted[key] = append(wanted[key], j)
		}
		if len(line) > len(old[longest]) {
			longest = j
		}
	}
	votes := make([]int, len(lines)) // weighted by the length of the lines
	best := 0
	for i, line := range lines {
		for _, j := range wanted[looseForm(line)] {
			if i < j {
				continue
			}
			at := i - j
			votes[at] += len(line)
			if votes[at] > best || votes[at] == best && at < start {
				best, start = votes[at], at
			}
		}
	}
	if best > 0 {
		return start, true
	}
	i, ok := mostAlike(lines, looseForm(old[longest]))
	return max(0, i-longest), ok
}

// mostAlike returns the line that holds the greatest share of the pairs of
// neighbouring bytes in key, if that is at least minResemblance.
func mostAlike(lines []string, key string) (int, bool) {
	if len(key) < 2 {
		return 0, false
	}
	seen := make([]int32, 1<<16) // by pair: 0 not in key, else the last line it was counted in plus 1
	pair := func(s string, i int) int { return int(s[i])<<8 | int(s[i+1]) }
	distinct := 0
	for i := range len(key) - 1 {
		if seen[pair(key, i)] == 0 {
			distinct++
		}
		seen[pair(key, i)] = 1
	}
	best, at := 0, 0
	for n, line := range lines {
		line = looseForm(line)
		count, stamp := 0, int32(n+2)
		for i := range max(0, len(line)-1) {
			if p := pair(line, i); seen[p] != 0 && seen[p] != stamp {
				seen[p] = stamp
				count++
			}
		}
		if count > best {
			best, at = count, n
		}
	}
	return at, float64(best) >= minResemblance*float64(distinct)
}

// firstDifference compares old with the lines from start on. The first line of
// old may begin, and its last may end, within a line of the text.
func firstDifference(lines, old []string, start int) (difference, bool) {
	for j, want := range old {
		have, line := "", min(start+j, len(lines)-1)
		if start+j < len(lines) {
			have = lines[start+j]
		}
		first, last := j == 0, j == len(old)-1
		if !strings.HasSuffix(want, "\r") && !last {
			have = strings.TrimSuffix(have, "\r") // LF stands for CR LF
		}
		switch {
		case want == have:
			continue
		case first && last && strings.Contains(have, want),
			first && !last && strings.HasSuffix(have, want),
			last && !first && strings.HasPrefix(have, want):
			continue
		}
		common := 0
		if !first {
			for common < min(len(want), len(have)) && want[common] == have[common] {
				common++
			}
		}
		return difference{line + 1, visible(around(want, common)), visible(around(have, common))}, true
	}
	return difference{}, false
}

// around is the part of a line that begins shortly before place at.
func around(line string, at int) string {
	from := max(0, at-differenceAhead)
	for from > 0 && !utf8.RuneStart(line[from]) {
		from--
	}
	if from > 0 {
		return "…" + clip(line[from:])
	}
	return clip(line)
}

// visible makes white space and what looks like something else readable: → for
// a tab, ␍ for CR, · for blanks at the end, ⍽ for a no-break space, and the
// number of other invisible and combining characters.
func visible(s string) string {
	body := strings.TrimRight(s, " ")
	var b strings.Builder
	for _, r := range body {
		switch {
		case r == '\t':
			b.WriteRune('→')
		case r == '\r':
			b.WriteRune('␍')
		case r == '\u00a0':
			b.WriteRune('⍽')
		case unicode.Is(unicode.Mn, r) || !unicode.IsPrint(r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteString(strings.Repeat("·", len(s)-len(body)))
	return b.String()
}

// excerpt is the lines as text, bounded.
func (t *editable) excerpt(lines []string) string {
	var b bytes.Buffer
	for i, line := range lines {
		if i == maxShownLines {
			b.WriteString("…\n")
			break
		}
		b.WriteString(clip(t.secrets.String(line)))
		b.WriteByte('\n')
	}
	return b.String()
}

// clip is a line cut to maxShownLine at a character border, in valid UTF-8.
func clip(line string) string {
	if len(line) > maxShownLine {
		end := maxShownLine
		for end > 0 && !utf8.RuneStart(line[end]) {
			end--
		}
		line = line[:end] + "…"
	}
	return strings.ToValidUTF8(line, "\uFFFD")
}
