package diffpreview

import (
	"bytes"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// BenchmarkDiff reads two files, makes a proposal's hunks and prints their diff, next to `git diff --no-index` of the same two files, of
// 100,000 lines. Goal: at most 1.0 times git's time up to 5 % of the lines changed, at most 2 times beyond.
func BenchmarkDiff(b *testing.B) {
	const lines = 100_000
	const distinct = 1 << 30
	rnd := rand.New(rand.NewPCG(1, 1))
	old := randomLines(rnd, lines, distinct)
	repeats := randomLines(rnd, lines, 50) // texts without any unique line are the hard ones
	moved := slices.Concat(old[:20_000], old[30_000:70_000], old[20_000:30_000], old[70_000:])
	tests := []struct {
		name     string
		old, new [][]byte
	}{
		{"Same", old, slices.Concat(old)},
		{"OneLine", old, splice(old, lines/2, 1, [][]byte{[]byte("another\n")})},
		{"1Percent", old, randomEdits(rnd, old, lines/100, distinct)},
		{"5Percent", old, randomEdits(rnd, old, lines/20, distinct)},
		{"30Percent", old, randomEdits(rnd, old, 3*lines/10, distinct)},
		{"AllLines", old, randomLines(rnd, lines, distinct)},
		{"MovedBlock", old, moved},
		{"Repeats0.1Percent", repeats, randomEdits(rnd, repeats, lines/1000, 50)},
		{"Repeats5Percent", repeats, randomEdits(rnd, repeats, lines/20, 50)},
		{"RepeatsAllLines", repeats, randomLines(rnd, lines, 50)},
	}
	for _, test := range tests {
		b.Run(test.name, func(b *testing.B) {
			dir := b.TempDir()
			oldFile, newFile := writeText(b, dir, "old", test.old), writeText(b, dir, "new", test.new)
			read := func(path string) Content {
				data, err := os.ReadFile(path)
				if err != nil {
					b.Fatal(err)
				}
				return Content{Exists: true, Data: data}
			}
			pair(b, "git", nil, func() {
				p, want := &Proposal{Name: "f", Base: read(oldFile), form: formBytes}, read(newFile)
				if diff, _ := p.step(want).Diff(); (diff == "") != (test.name == "Same") {
					b.Fatal("no diff")
				}
			}, func() { gitDiff(b, oldFile, newFile) })
		})
	}
}

// BenchmarkDiffGap is the largest gap that the exact diff gets, at its worst: nothing stands where it stood.
func BenchmarkDiffGap(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 5))
	old, new := bytes.Join(randomLines(rnd, 256, 100), nil), bytes.Join(randomLines(rnd, 256, 100), nil)
	for b.Loop() {
		DiffBytes(old, new, UTF8)
	}
}
