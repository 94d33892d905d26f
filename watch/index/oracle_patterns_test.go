package index_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
)

// patternsByHand are those that have a story: borders of lines, of blocks, of
// texts, literals that are short, long, common, folded, part of each other.
var patternsByHand = []string{
	`needle`, `NEEDLE`, `n`, `ne`, `nee`, `need`, `^`, `$`, `^$`, `^needle$`, `needle$`, `^\s*$`, `.`, `..`, `x*`, `.*`, `needle.*needle`,
	`[A-Za-z]+_RESUME`, `mutex_lock_?[a-z]*`, `\w+Unmarshaler`, `needle|hay`, `needle|hay|NOTE|return`, `nee|needle`, `(a|b|c)+`, `(?i)needle`, `(?i:NEE)dle`,
	`[A-Z]{3}_[0-9]+`, `\w{5}\s+\w{5}`, `\d+\.\d+`, `0x[0-9a-fA-F]{8}`, `\bneedle\b`, `\Bedle`, `\x66unc`, `a\+b`, `\[\]byte`, `C:\\dir`, `--flag`, `\$HOME`,
	`\xe9`, `\xff`, "caf.", "\u00e9", "e\u0301", "\u65e5", `[^a-z]`, `[^ -~]`, `\s`, `\S+`, `\W{3}`, `\t`, `\r`, `\v`, `a{7}`, `(abc){3}`, `(?:foo|BAR)_RESUME`,
	`return err$`, `^return err`, `err\b`, `[[:upper:]]{4,}`, `[[:alpha:]]+[[:digit:]]`, `needle\.`, `http\.Request`, `nothingLikeThis`, `zzzz`, `f(o|oo)_R`, `^.{0,3}$`,
	`()`, `(|needle)`, `needle{0}`, `[a-c]{2,5}x?`, `k`, `s`, `(?i)k`, `(?i)s`, `^(NOTE|if)`, `(needle )+`, `hay$|^needle`, `abcdefghijklmno$`, `y{30}needle`,
}

var patternAtoms = []string{
	"needle", "hay", "func", "err", "mutex", "_lock", "NOTE", "return", "RESUME", "a", "e", "x", "ab", "aaa", `\w`, `\w+`, `\d`, `\d+`, `\s`, `\s*`, `.`, `.*`, `.+`,
	`[a-z]`, `[A-Z]+`, `[^a-z]`, `[0-9a-f]{2}`, `[[:alpha:]]`, `\b`, `\(`, `\.`, `_`, ` `, `\S`, `\W`, `\xff`, `\t`, "\u00e9", `.{3}`, `e?`, `ee*d`, `(?i:n)`,
}

func patternOf(rng *rand.Rand, depth int) string {
	var b strings.Builder
	for range 1 + rng.IntN(4) {
		switch n := rng.IntN(12); {
		case n == 0 && depth > 0:
			b.WriteString("(" + patternOf(rng, depth-1) + ")" + pick(rng, []string{"", "", "?", "*", "+", "{2}"}))
		case n == 1 && depth > 0:
			b.WriteString("(?:" + patternOf(rng, depth-1) + "|" + patternOf(rng, depth-1) + ")")
		default:
			b.WriteString(pick(rng, patternAtoms))
		}
	}
	return b.String()
}

// questionOf makes a question of a pattern: half of them plain, the others with
// flags, context and other modes.
func questionOf(rng *rand.Rand, pattern string) question {
	q := question{Pattern: pattern, Mode: contentMode}
	if rng.IntN(2) == 0 {
		return withRG(q)
	}
	q.Word = rng.IntN(5) == 0
	q.Fold = rng.IntN(4) == 0
	q.Invert = rng.IntN(10) == 0
	q.Fixed = rng.IntN(8) == 0
	switch rng.IntN(8) {
	case 0, 1:
		q.Before, q.After = rng.IntN(4), rng.IntN(4)
	case 2:
		q.Mode = filesMode
	case 3:
		q.Mode = countMode
	case 4:
		q.Under = pick(rng, []string{"a", "a/b", ".hidden", "src", "a.b", "."})
	case 5:
		q.Globs = [][]string{{"*.go"}, {"a/**"}, {"!*.txt"}, {"**/*.{go,txt}"}, {"*", "!a/**"}, {"src/**/*1*"}}[rng.IntN(6)]
	case 6:
		q.NoHidden = true
	}
	return withRG(q)
}

// dollar finds "$" that are borders of lines. Patterns here have no "$" in
// classes.
var dollar = regexp.MustCompile(`\\.|\$`)

// withRG writes the pattern as rg needs it: our "$" also holds before "\r\n",
// and without --crlf rg's does not. (With --crlf rg takes a lone "\r" for a line
// end too.)
func withRG(q question) question {
	if q.Fixed {
		return q
	}
	if rewritten := beforeCR(q.Pattern); rewritten != q.Pattern {
		q.RG = rewritten
	}
	return q
}

// beforeCR lets every "$" of a pattern hold before a carriage return, too.
func beforeCR(pattern string) string {
	return dollar.ReplaceAllStringFunc(pattern, func(s string) string {
		if s == "$" {
			return `(?:\r?$)`
		}
		return s
	})
}

// multilineByHand span lines, or could.
var multilineByHand = []string{
	`needle\nhay`, `err\n\nreturn`, `(?s)needle.{0,40}hay`, `\n`, `\n\n+`, `needle\s+hay`, `return\s+err`, `^\n\n`, `(?m)^needle`, `[^x]needle`, `NOTE\n`, `\nNOTE`,
	`mutex_lock\nNOTE\nmutex_unlock`, `(?s)mutex_lock.*?mutex_unlock`, `hay\r\n`, `\r\n`, `[\s\S]needle`, `abcdefghijklmno\nmutex`, `(a|\n)+b`, `x*`, `needle`, `\Aneedle`, `needle\z`,
	`^\n`, `\s+$`, `(?:hay\n){3}`, `return err\nreturn err\nreturn err`, `.\n.`, `[^\n]+\n[^\n]+x`,
}
