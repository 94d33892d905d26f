package tools

import (
	"strings"
	"testing"
)

// Of a command that ended its supervisor it is not said that it did not run: what it
// changed is in the view.
func TestBashWhoseEndIsNotKnown(t *testing.T) {
	b := newBench(t, nil)
	b.withSandbox()
	a := b.fails("io", "bash", args{"command": "echo done > f; exec kill -9 $PPID"})
	message, hint := a["message"].(string), a["hint"].(string)
	if !strings.Contains(message, "how the command ended is not known") || !strings.Contains(hint, "look before you run it again") {
		t.Errorf("%s; %s", message, hint)
	}
	if text := b.ok("read_file", args{"path": "f"})["contents"]; text != "done\n" {
		t.Errorf("the view has %q", text)
	}
}
