package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loomd/loomd/daemon/protocol"
)

// peakMemory is the most that a process has had in memory, in bytes.
func peakMemory(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	var kilobytes int64
	_, after, ok := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscan(after, &kilobytes); !ok || err != nil {
		t.Fatalf("VmHWM: %v", err)
	}
	return kilobytes << 10
}

// bigFolder is a folder of large files with a built loomd.
type bigFolder struct {
	t           *testing.T
	root, state string
	loomd       string
	pid         int // of the daemon
}

// startInBigFolder starts a daemon in a folder that fill has filled.
func startInBigFolder(t *testing.T, fill func(root string)) *bigFolder {
	t.Helper()
	b := &bigFolder{t: t, root: t.TempDir(), state: t.TempDir(), loomd: filepath.Join(t.TempDir(), "loomd")}
	must(t, os.Mkdir(filepath.Join(b.root, ".git"), 0o700))
	fill(b.root)
	if out, err := exec.Command("go", "build", "-o", b.loomd, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b.run("call", "list_files", "{}")
	var daemon struct{ PID int }
	if err := json.Unmarshal(b.run("status", "--json"), &daemon); err != nil {
		t.Fatal(err)
	}
	b.pid = daemon.PID
	t.Cleanup(func() {
		if p, err := os.FindProcess(b.pid); err == nil {
			p.Signal(os.Interrupt)
		}
	})
	return b
}

func (b *bigFolder) run(args ...string) []byte {
	b.t.Helper()
	cmd := exec.Command(b.loomd, args...)
	cmd.Dir = b.root
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+b.state, "XDG_RUNTIME_DIR="+b.state)
	out, err := cmd.Output()
	if err != nil {
		b.t.Fatalf("%v: %v", args, err)
	}
	return out
}

// partOfFile is what a test looks at of a result of read_file.
type partOfFile struct {
	Contents       string
	TotalBytes     int64  `json:"total_bytes"`
	ByteOffset     int64  `json:"byte_offset"`
	NextByteOffset *int64 `json:"next_byte_offset"`
	Truncated      bool
}

func (b *bigFolder) read(args string) partOfFile {
	b.t.Helper()
	var part partOfFile
	if err := json.Unmarshal(b.run("call", "read_file", args), &part); err != nil {
		b.t.Fatal(err)
	}
	return part
}

// walk reads a file from a byte to its end in the largest pages, and compares them
// with it.
func (b *bigFolder) walk(name string, from int64) {
	b.t.Helper()
	f, err := os.Open(filepath.Join(b.root, name))
	must(b.t, err)
	defer f.Close()
	for truncated := true; truncated; {
		page := b.read(fmt.Sprintf(`{"path":%q,"max_bytes":%d,"byte_offset":%d}`, name, 8<<20, from))
		want := make([]byte, len(page.Contents))
		if _, err := f.ReadAt(want, page.ByteOffset); err != nil || string(want) != page.Contents {
			b.t.Fatalf("the page from byte %d is not what is there: %v", page.ByteOffset, err)
		}
		end := page.ByteOffset + int64(len(want))
		if truncated = page.Truncated; truncated {
			from = *page.NextByteOffset
		}
		if truncated && from != end || !truncated && end != page.TotalBytes {
			b.t.Fatalf("from byte %d: ends at %d of %d, goes on at %d", page.ByteOffset, end, page.TotalBytes, from)
		}
	}
}

// A read of a file as large as that takes no more memory than one of a file of
// 20 MB: for what is walked, and for the page in its forms on the way out.
func TestPeakMemoryOfALargeRead(t *testing.T) {
	const sparse, pageMemory, imageMemory = 1 << 30, 192 << 20, 512 << 20
	size, long := int64(64<<20), os.Getenv("LOOMD_SOAK") != ""
	if long {
		size = 1 << 30
	}
	lines := 0
	b := startInBigFolder(t, func(root string) {
		// The index shall not take memory for them.
		must(t, os.WriteFile(filepath.Join(root, ".gitignore"), []byte("*.big\n"), 0o644))
		lines = writeLines(t, filepath.Join(root, "text.big"), size)
		must(t, os.WriteFile(filepath.Join(root, "sparse.big"), bytes.Repeat([]byte("head\n"), 2000), 0o644))
		must(t, os.Truncate(filepath.Join(root, "sparse.big"), sparse))
		if long {
			writeImage(t, filepath.Join(root, "image.big"))
		}
	})
	before := peakMemory(t, b.pid)
	within := func(what string, limit int64) {
		t.Helper()
		grown := peakMemory(t, b.pid) - before
		t.Logf("%s: %d MiB more than at the start", what, grown>>20)
		if grown > limit {
			t.Errorf("%s: %d MiB more, at most %d", what, grown>>20, limit>>20)
		}
	}

	if end := b.read(fmt.Sprintf(`{"path":"sparse.big","byte_offset":%d}`, sparse-1000)); len(end.Contents) != 1000 || end.Truncated || end.TotalBytes != sparse {
		t.Errorf("the end of a sparse file: %d bytes of %d, truncated %v", len(end.Contents), end.TotalBytes, end.Truncated)
	}
	within("the end of a sparse file", pageMemory/4)
	if past := b.read(`{"path":"sparse.big","offset":5000}`); past.Contents != "" || past.Truncated {
		t.Errorf("past the last line of a sparse file: %d bytes", len(past.Contents))
	}
	within("all lines of a sparse file", pageMemory/4)
	if last := b.read(fmt.Sprintf(`{"path":"text.big","offset":%d}`, lines)); !strings.HasPrefix(last.Contents, fmt.Sprintf("line %d of", lines)) || last.Truncated {
		t.Errorf("the last line: %q", last.Contents)
	}
	within("the last line of a text", pageMemory/4)

	b.walk("text.big", max(0, size-64<<20))
	within("a text in the largest pages", pageMemory)
	if long {
		b.run("call", "read_file", `{"path":"image.big"}`)
		within("an image of 49 million pixels", imageMemory)
	}
}

// writeLines writes numbered lines of about size bytes and returns how many.
func writeLines(t *testing.T, name string, size int64) int {
	t.Helper()
	f, err := os.Create(name)
	must(t, err)
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	n := 0
	for written := int64(0); written < size; {
		n++
		k, err := fmt.Fprintf(w, "line %d of a file that is far too long, in ünïcode €\n", n)
		must(t, err)
		written += int64(k)
	}
	must(t, w.Flush())
	return n
}

func writeImage(t *testing.T, name string) {
	t.Helper()
	f, err := os.Create(name)
	must(t, err)
	defer f.Close()
	img := image.NewNRGBA(image.Rect(0, 0, 7000, 7000))
	for i := range img.Pix {
		img.Pix[i] = byte(i >> 8)
	}
	must(t, (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(f, img))
}

// An edit of one line, and another one after it, take at most three times a
// large file, on top of what the daemon has anyway and of what its index says that it
// keeps.
func TestPeakMemoryOfALargeEdit(t *testing.T) {
	if os.Getenv("LOOMD_SOAK") == "" {
		t.Skip("in the long form: a file of 100 MB")
	}
	var text bytes.Buffer
	for i := 0; text.Len() < 100<<20; i++ {
		fmt.Fprintf(&text, "line %d of a file that is far too long\n", i)
	}
	size := int64(text.Len())
	b := startInBigFolder(t, func(string) {})
	before := peakMemory(t, b.pid)
	must(t, os.WriteFile(filepath.Join(b.root, "f"), text.Bytes(), 0o644))
	var kept int64
	for kept < size || peakMemory(t, b.pid) > before+kept+size/2 {
		var status struct{ Index protocol.IndexStatusResult }
		must(t, json.Unmarshal(b.run("status", "--json"), &status))
		kept = status.Index.Memory
		// While the file was read into the index there was more: the peak begins anew (5: see
		// proc(5), clear_refs).
		must(t, os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", b.pid), []byte("5"), 0))
	}
	before += kept
	for _, n := range []string{"1000000", "1000001"} {
		b.run("call", "edit_file", fmt.Sprintf(`{"path":"f","edits":[{"old_str":"line %s of","new_str":"line number %s of"}]}`, n, n))
		grown := peakMemory(t, b.pid) - before
		t.Logf("%.2f times the file", float64(grown)/float64(size))
		if grown > 3*size+size/20 { // with the answer, the stacks, what the allocator rounds up
			t.Errorf("%d bytes for a file of %d", grown, size)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
