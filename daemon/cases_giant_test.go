package daemon

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/loomd/loomd/daemon/daemontest"
	"github.com/loomd/loomd/daemon/protocol"
)

// giantChild is set in the process in which TestC182 measures its memory.
const giantChild = "LOOMD_TEST_GIANT"

// giantMemory is what daemon and clients together may need: 1 GiB.
const giantMemory = 1 << 30

func TestC182_GiantDiff(t *testing.T) {
	for _, name := range []string{"every line", "every second line"} {
		t.Run(name, func(t *testing.T) {
			if os.Getenv(giantChild) != "" {
				giantDiff(t, name == "every second line")
				wantLittleMemory(t)
				return
			}
			// A process of its own, so that the memory is this test's alone.
			cmd := exec.Command(os.Args[0], "-test.run=^"+strings.Join(strings.Split(t.Name(), "/"), "$/^")+"$", "-test.v")
			cmd.Env = append(os.Environ(), giantChild+"=1")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			} else if testing.Verbose() {
				t.Logf("%s", out)
			}
		})
	}
}

// giantTexts are the text before and after, and the last line of the latter.
func giantTexts(second bool) (given, wanted, last string) {
	lines := 200_000
	if second {
		lines /= 2 // what is square in the hunks takes a minute even so
	}
	if raceDetector {
		lines /= 10
	}
	var before, after strings.Builder
	for n := range lines {
		fmt.Fprintf(&before, "x %d\n", n)
		last = fmt.Sprintf("y %d\n", n)
		if second && n%2 == 0 {
			last = fmt.Sprintf("x %d\n", n)
		}
		after.WriteString(last)
	}
	return before.String(), after.String(), last
}

func giantDiff(t *testing.T, second bool) {
	given, wanted, last := giantTexts(second)
	h := newHost(t, map[string]string{"f": given, "g": given, "small": "x\n"})
	agent, reviewer, watcher := h.agent("a"), h.reviewer(), h.reviewer()
	var proposals []string
	for _, name := range []string{"f", "g"} {
		var out daemontest.Outcome
		within(t, "the answer", func() {
			if second {
				out = agent.MustTool("write_file", args{"path": name, "content": wanted})
			} else {
				out = agent.MustTool("edit_file", args{"path": name, "edits": []args{{"old_str": "x ", "new_str": "y ", "replace_all": true}}})
			}
		})
		diff := out.Text("diff")
		if len(diff) > 1<<20 || out.Fields["truncated"] != true || out.Fields["shown"] != float64(len(diff)) ||
			out.Fields["total"].(float64) <= float64(len(diff)) || out.Text("next") == "" {
			t.Errorf("%d bytes of diff, truncated %v, shown %v, total %v, next %q",
				len(diff), out.Fields["truncated"], out.Fields["shown"], out.Fields["total"], out.Text("next"))
		}
		proposals = append(proposals, out.Text("proposal"))
	}
	within(t, "the next edit", func() { agent.MustTool("edit_file", editOf("g", last, "z\n")) })
	within(t, "the proposal", func() {
		reviewer.Must(protocol.MethodProposalsGet, protocol.ProposalsGetParams{ID: proposals[0]}, nil)
	})
	decide := func(what, proposal string, decision protocol.Decision) {
		t.Helper()
		within(t, what, func() {
			if failure := decideAll(reviewer, proposal, decision); failure != nil {
				t.Fatal(failure)
			}
		})
	}
	decide("the reject", proposals[1], protocol.Reject)
	decide("the accept", proposals[0], protocol.Accept)
	h.wantDisk("f", wanted)
	h.wantDisk("g", given)
	within(t, "the undo", func() {
		reviewer.Must(protocol.MethodProposalsUndo, protocol.UndoParams{ID: proposals[0]}, nil)
	})
	h.wantDisk("f", given)
	agent.MustTool("read_file", args{"path": "small"})
	watcher.Must(protocol.MethodStatus, args{}, nil) // still connected
}

// within fails when f takes longer than the case allows.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	start := time.Now()
	f()
	if took := time.Since(start); took > 10*time.Second && !raceDetector {
		t.Errorf("%s took %v", what, took)
	} else {
		t.Logf("%s took %v", what, took)
	}
}

// wantLittleMemory looks at the most that this process ever had in memory.
func wantLittleMemory(t *testing.T) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if runtime.GOOS != "linux" || err != nil {
		t.Log("nothing tells how much memory it took")
		return
	}
	_, line, _ := strings.Cut(string(status), "VmHWM:")
	var kib int64
	if _, err := fmt.Sscan(line, &kib); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d MiB", kib>>10)
	if kib<<10 > giantMemory && !raceDetector {
		t.Errorf("it took %d MiB", kib>>10)
	}
}
