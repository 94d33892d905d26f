//go:build unix

package diffpreview

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkApplyAll writes 1,000 changed files, next to git apply of the same
// patch followed by sync -f, in the same run.
func BenchmarkApplyAll(b *testing.B) {
	const files = 1000
	git, err := exec.LookPath("git")
	if err != nil {
		b.Skip(err)
	}
	lines := make([]string, 200)
	for i := range lines {
		lines[i] = fmt.Sprintf("line %d of an ordinary file\n", i)
	}
	old := strings.Join(lines, "")
	lines[100] = "a changed line\n"
	text := strings.Join(lines, "")
	patch := strings.Builder{}
	var names []string
	for i := range files {
		name := fmt.Sprintf("d%d/f%d", i%40, i)
		names = append(names, name)
		fmt.Fprintf(&patch, "--- a/%s\n+++ b/%s\n@@ -101 +101 @@\n-line 100 of an ordinary file\n+a changed line\n", name, name)
	}
	var ours, theirs time.Duration
	for range b.N {
		x := newApplyTree(b, b.TempDir())
		var writes []write
		for _, name := range names {
			x.put(name, old, 0o644)
			writes = append(writes, x.modify(name, old, text))
		}
		patchFile := filepath.Join(b.TempDir(), "patch")
		if err := os.WriteFile(patchFile, []byte(patch.String()), 0o644); err != nil {
			b.Fatal(err)
		}
		exec.Command("sync", "-f", x.dir).Run()
		start := time.Now()
		x.mustApply(writes...)
		ours += time.Since(start)
		for _, name := range names {
			x.put(name, old, 0o644)
		}
		exec.Command("sync", "-f", x.dir).Run()
		start = time.Now()
		apply := exec.Command(git, "apply", "--unidiff-zero", patchFile)
		apply.Dir = x.dir
		if out, err := apply.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		exec.Command("sync", "-f", x.dir).Run()
		theirs += time.Since(start)
		x.want(names[0], text)
	}
	b.ReportMetric(float64(ours.Milliseconds())/float64(b.N), "ms/apply")
	b.ReportMetric(float64(theirs.Milliseconds())/float64(b.N), "ms/git")
	b.ReportMetric(float64(ours)/float64(theirs), "times-git")
}

// BenchmarkApplyOne writes one small file.
func BenchmarkApplyOne(b *testing.B) {
	x := newApplyTree(b, b.TempDir())
	x.put("f", "0", 0o644)
	texts := [2]string{"0", "1"}
	for i := 0; b.Loop(); i++ {
		if err := x.apply(x.modify("f", texts[i%2], texts[1-i%2])); err != nil {
			b.Fatal(err)
		}
	}
}
