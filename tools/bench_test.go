package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkReadFile is a call of read_file on 4 KiB, next to reading the file.
func BenchmarkReadFile(b *testing.B) {
	bench := newBench(b, map[string]string{"f": strings.Repeat("a line of sixty-three bytes, such as there are in many programs\n", 64)})
	raw := json.RawMessage(`{"path":"f"}`)
	b.Run("tool", func(b *testing.B) {
		for b.Loop() {
			out, err := bench.registry.Run(context.Background(), "read_file", "", raw, Context{View: bench.view})
			if err != nil || out.IsError {
				b.Fatal(err, string(out.Structured))
			}
		}
	})
	b.Run("file", func(b *testing.B) {
		name := filepath.Join(bench.dir, "f")
		for b.Loop() {
			if _, err := os.ReadFile(name); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("view", func(b *testing.B) {
		buf := make([]byte, 5000)
		for b.Loop() {
			p, err := bench.view.Resolve("f")
			must(b, err)
			src, err := bench.view.Open(p)
			must(b, err)
			src.ReadAt(buf, 0)
			src.Close()
		}
	})
}

// BenchmarkApplyEdits is one line in a file of 100,000.
func BenchmarkApplyEdits(b *testing.B) {
	var file strings.Builder
	for n := range 100_000 {
		fmt.Fprintf(&file, "line %d of a file that is as long as few are\n", n)
	}
	for name, content := range map[string]string{"LF": file.String(), "CRLF": strings.ReplaceAll(file.String(), "\n", "\r\n")} {
		edits := []edit{{OldStr: "line 50000 of a file that is as long as few are\nline 50001", NewStr: "changed\nline"}}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			for b.Loop() {
				if _, err := applyEdits(context.Background(), nil, []byte(content), edits); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEditFile(b *testing.B) {
	var file strings.Builder
	for n := range 100_000 {
		fmt.Fprintf(&file, "line %d of a file that is as long as few are\n", n)
	}
	bench := newBench(b, map[string]string{"f": file.String()})
	from, to := "line 50000 of", "LINE 50000 of"
	for b.Loop() {
		out, a := bench.call("edit_file", args{"path": "f", "edits": edits(from, to)})
		if out.IsError {
			b.Fatal(a)
		}
		from, to = to, from
	}
}

// BenchmarkListFiles is a tree of 20,000 files in 2,000 directories.
func BenchmarkListFiles(b *testing.B) {
	files := map[string]string{".gitignore": "*.o\n", ".git/HEAD": "ref: refs/heads/main\n"}
	for n := range 20_000 {
		files[fmt.Sprintf("d%d/e%d/f%d.go", n%40, n%2000/40, n)] = ""
	}
	bench := newBench(b, files)
	for b.Loop() {
		if a := bench.ok("list_files", args{"recursive": true}); a["total"] != float64(20_000+2000+40+1) {
			b.Fatal(a["total"])
		}
	}
}
