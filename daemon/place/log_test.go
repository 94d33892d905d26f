package place

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBoundedLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "daemon.log")
	f, err := OpenLog(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	log := BoundedLog(f, path)
	line := strings.Repeat("x", 1000)
	for i := range 3500 {
		if _, err := fmt.Fprintf(log, "%d %s\n", i, line); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprintln(f, "a panic") // as the runtime prints it
	text := read(t, path) + "|" + read(t, path+".old")
	if !strings.Contains(text, "3499 x") || !strings.Contains(text, "a panic\n|") {
		t.Error("the end of the log is missing")
	}
	for _, name := range []string{path, path + ".old"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > maxLog+2000 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has %d bytes, mode %v", name, info.Size(), info.Mode())
		}
	}
}

// TestBoundedLogLeavesOthersAlone: only the daemon's own log is emptied.
func TestBoundedLogLeavesOthersAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	f, err := OpenLog(filepath.Join(dir, "a.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var buf bytes.Buffer
	for _, w := range []io.Writer{f, &buf} {
		if got := BoundedLog(w, filepath.Join(dir, "daemon.log")); got != w {
			t.Errorf("%T became %T", w, got)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
