package secret

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// someText is 8 MiB of Go source.
func someText(b *testing.B) []byte {
	var text []byte
	names, _ := filepath.Glob("../*.go")
	for len(text) < 8<<20 {
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				b.Fatal(err)
			}
			text = append(text, data...)
		}
	}
	return text[:8<<20]
}

// BenchmarkWriter is a stream of 32 KiB chunks through a redactor, next to a plain
// copy.
func BenchmarkWriter(b *testing.B) {
	text := someText(b)
	for _, n := range []int{-1, 0, 1, 10, 100} {
		r := &Redactor{}
		for i := range n {
			r.learn(fmt.Sprintf("S%d", i), fmt.Sprintf("ghp_%d_0123456789abcdefghij%d", i*7919, i))
		}
		b.Run(fmt.Sprintf("secrets=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				var w io.Writer = &sink{}
				if n >= 0 {
					w = r.Writer(w)
				}
				for rest := text; len(rest) > 0; rest = rest[min(len(rest), 32<<10):] {
					w.Write(rest[:min(len(rest), 32<<10)])
				}
			}
		})
	}
}

// sink keeps what it is given, as a ring does.
type sink struct{ buf bytes.Buffer }

func (s *sink) Write(p []byte) (int, error) {
	if s.buf.Len() > 256<<10 {
		s.buf.Reset()
	}
	return s.buf.Write(p)
}

// BenchmarkBytes is a text at once that holds no secret.
func BenchmarkBytes(b *testing.B) {
	text := someText(b)
	for _, n := range []int{0, 1, 10, 100} {
		r := &Redactor{}
		for i := range n {
			r.learn(fmt.Sprintf("S%d", i), fmt.Sprintf("ghp_%d_0123456789abcdefghij%d", i*7919, i))
		}
		b.Run(fmt.Sprintf("secrets=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				r.Bytes(text)
			}
		})
	}
}
