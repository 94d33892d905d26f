package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loomd/loomd/diffpreview"
)

// While a job writes without end, and puts links in the place of directories, other
// commands begin and end, the tree changes, and nothing outside is read or written.
func TestWhileAJobWrites(t *testing.T) {
	w := newWorld(t, map[string]string{"dir/f": "f\n", "dir/g": someText, "log": ""})
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "f"), []byte("SECRET\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	stop := filepath.Join(t.TempDir(), "stop")
	job := w.begin()
	cmd := exec.Command("sh", "-c", `while [ ! -e "$STOP" ]; do echo line >> log; mv dir kept; ln -s "$OUTSIDE" dir; rm dir; mv kept dir; echo x > new; rm new; done`)
	cmd.Dir, cmd.Env = job.Dir(), []string{"PATH=" + os.Getenv("PATH"), "OUTSIDE=" + outside, "STOP=" + stop}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	end := func() {
		if !ended {
			ended = true
			err := os.WriteFile(stop, nil, 0o600)
			if err = errors.Join(err, cmd.Wait()); err != nil {
				t.Log(err) // of the last command in the script
			}
		}
	}
	t.Cleanup(end)
	for i := range 40 {
		d, err := w.copy.Begin(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		w.tree("echo changed" + strings.Repeat("x", i) + " > dir/f")
		left, err := d.End(t.Context(), diffpreview.Call{ID: "c", Tool: "bash"})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range left.Steps {
			if strings.Contains(s.Diff, "SECRET") {
				t.Fatalf("what is outside was proposed: %s", s.Diff)
			}
		}
	}
	end()
	w.end(job)
	if got := sh(t, outside, nil, "cat f; ls -A"); got != "SECRET\nf\n" {
		t.Errorf("outside is %q", got)
	}
	if got := w.tree("cat dir/f; ls; ls dir"); got != "changed"+strings.Repeat("x", 39)+"\ndir\nlog\nf\ng\n" {
		t.Errorf("the tree has %q", got)
	}
	w.inStep()
}
