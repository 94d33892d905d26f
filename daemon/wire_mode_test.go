package daemon

import (
	"io/fs"
	"testing"
)

// Modes that git writes alike are told apart in a conflict.
func TestExactMode(t *testing.T) {
	for mode, want := range map[fs.FileMode]string{
		0: "", 0o644: "100644", 0o600: "100600", 0o700: "100700", 0o755: "100755", fs.ModeSymlink | 0o777: "120000",
	} {
		if got := exactMode(mode); got != want {
			t.Errorf("%v: %s, want %s", mode, got, want)
		}
	}
}
