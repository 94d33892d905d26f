package match

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"
)

// benchText is Go's own source, up to 100 MB.
var benchText = sync.OnceValue(func() []byte {
	const most = 100 << 20
	text := make([]byte, 0, most)
	root, err := goSource()
	if err != nil {
		panic(err)
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Ext(path) != ".go" || len(text) >= most {
			return err
		}
		file, err := os.ReadFile(path)
		text = append(text, file...)
		return err
	})
	if err != nil {
		panic(err)
	}
	return text[:bytes.LastIndexByte(text, '\n')+1]
})

var benchPatterns = []struct {
	name string
	o    Options
}{
	{"literal/rare", Options{Pattern: "errServerClosedIdle"}},
	{"literal/medium", Options{Pattern: "WriteString"}},
	{"literal/common", Options{Pattern: "return"}},
	{"literal/none", Options{Pattern: "zzqqxzzy"}},
	{"literal/dull", Options{Pattern: "tested for tea"}},
	{"fold/rare", Options{Pattern: "errserverclosedidle", IgnoreCase: true}},
	{"fold/medium", Options{Pattern: "writestring", IgnoreCase: true}},
	{"fold/none", Options{Pattern: "deployment_controller", IgnoreCase: true}},
	{"word/medium", Options{Pattern: "WriteString", Word: true}},
	{"many/4", Options{Pattern: "errServerClosedIdle|WriteString|ErrUnexpectedEOF|mutexProfile"}},
	{"many/8fold", Options{Pattern: "alpha7|bravo8|charlie9|delta10|echo11|foxtrot12|golf13|hotel14", IgnoreCase: true}},
	{"many/short", Options{Pattern: "foo|bar|qux"}},
	{"regex/prefix", Options{Pattern: `func \(s \*Server\) [A-Z][a-z]+`}},
	{"regex/suffix", Options{Pattern: `[A-Za-z]+Unmarshaler`}},
	{"regex/inner", Options{Pattern: `\w+_RESUME\b`}},
	{"dfa/caps", Options{Pattern: `[A-Z]{3}_[0-9]+`}},
	{"dfa/rare", Options{Pattern: `[a-z]{3}[0-9]{5}[A-Z]`}},
	{"dfa/words", Options{Pattern: `\w{5}\s+\w{5}\s+\w{5}\s+\w{5}`}},
	{"dfa/version", Options{Pattern: `[0-9]+\.[0-9]+\.[0-9]+`}},
	{"dfa/camel", Options{Pattern: `[a-z]+[A-Z][a-z]+[A-Z][a-z]+[A-Z][a-z]+[0-9]`}},
	{"dfa/end", Options{Pattern: `[0-9][0-9]+$`}},
	{"dfa/bounds", Options{Pattern: `\b[a-z]\d[a-z]\b`}},
	{"all/dot", Options{Pattern: `.`}},
	{"lines/span", Options{Pattern: `\)\s*\{\n\s*return`, Multiline: true}},
}

// BenchmarkFind measures each kind of pattern on one core, beside what Go has for it.
// GB/s is of the fastest pass: other work on the machine only makes passes slower.
func BenchmarkFind(b *testing.B) {
	for _, c := range benchPatterns {
		b.Run(c.name, func(b *testing.B) {
			p := compiled(b, c.o)
			measure(b, func(text []byte) int { return p.Count(text) })
		})
	}
}

// BenchmarkPeers is BenchmarkFind's patterns by bytes.Index, where they are literals,
// and by regexp, line by line behind each match.
func BenchmarkPeers(b *testing.B) {
	for _, c := range benchPatterns {
		if kind, _, _ := bytes.Cut([]byte(c.name), []byte("/")); string(kind) == "literal" {
			b.Run(c.name+"/index", func(b *testing.B) {
				literal := []byte(c.o.Pattern)
				measure(b, func(text []byte) int {
					return countLines(text, func(t []byte) int { return bytes.Index(t, literal) })
				})
			})
		}
		flags := "(?m)"
		if c.o.IgnoreCase {
			flags = "(?mi)"
		}
		re := regexp.MustCompile(flags + c.o.Pattern)
		b.Run(c.name+"/regexp", func(b *testing.B) {
			measure(b, func(text []byte) int {
				return countLines(text, func(t []byte) int {
					if m := re.FindIndex(t); m != nil {
						return m[0]
					}
					return -1
				})
			})
		})
	}
}

// countLines counts lines by a search for one place.
func countLines(text []byte, find func([]byte) int) int {
	n := 0
	for i := 0; i < len(text); n++ {
		at := find(text[i:])
		if at < 0 {
			break
		}
		i = lineEnd(text, i+at)
	}
	return n
}

// measure passes the text by in blocks, as a search does, and reports the sum of
// the best times of each.
func measure(b *testing.B, count func([]byte) int) {
	text := benchText()
	const block = 256 << 10
	var blocks [][]byte
	for i := 0; i < len(text); {
		end := lineEnd(text, min(i+block, len(text)-1))
		blocks = append(blocks, text[i:end])
		i = end
	}
	best := make([]time.Duration, len(blocks))
	found := 0
	for b.Loop() {
		found = 0
		for i, t := range blocks {
			start := time.Now()
			found += count(t)
			if took := time.Since(start); best[i] == 0 || took < best[i] {
				best[i] = took
			}
		}
	}
	var sum time.Duration
	for _, d := range best {
		sum += d
	}
	b.ReportMetric(float64(len(text))/float64(sum), "GB/s")
	b.ReportMetric(float64(found), "lines")
}
