package diffpreview

import (
	"strings"
	"testing"
)

// TestNamesThatNoSystemTakes: what no file can be called by is no file, also for
// what takes a link as itself.
func TestNamesThatNoSystemTakes(t *testing.T) {
	w, err := OpenWorkspace([]string{t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, name := range []string{"a\x00b", "\x00", "d/\x00/f", strings.Repeat("x", maxName+1), strings.Repeat("€", maxName/3+1)} {
		_, _, err := w.Resolve(name)
		if CodeOf(err) != CodeInvalidArguments {
			t.Errorf("%.20q: %v", name, err)
		}
		if _, err := w.ResolveEntry(name); CodeOf(err) != CodeInvalidArguments {
			t.Errorf("%.20q itself: %v", name, err)
		}
	}
}
