package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/loomd/loomd/daemon/protocol"
)

// A conversation in which everything goes wrong that a daemon logs, and commands write
// to their streams; the last message but one is no JSON, which is told at the most
// detailed level.
var noisy = []string{
	`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{},"initializationOptions":{"loom":{"role":"agent","session":{"label":"a"}}}}}`,
	`{"jsonrpc":"2.0","method":"initialized","params":{}}`,
	`{"jsonrpc":"2.0","id":2,"method":"loom/tools/call","params":{"name":"bash","arguments":{"command":"cat; echo out; echo err >&2; echo 'Content-Length: 3'; exit 3"}}}`,
	`{"jsonrpc":"2.0","id":3,"method":"loom/tools/call","params":{"name":"read_file","arguments":{"path":"../x"}}}`,
	`{"jsonrpc":"2.0","id":4,"method":"loom/tools/call","params":{"name":"web_search","arguments":{"query":"q"}}}`,
	`{"jsonrpc":"2.0","id":5,"method":"no/such/method"}`,
	`{"jsonrpc":`,
	`{"jsonrpc":"2.0","id":6,"method":"shutdown"}`,
}

// TestStdoutHasFramesOnly: whatever is logged, stdout of the daemon and of a bridge to
// it has frames of JSON-RPC and not a byte besides.
func TestStdoutHasFramesOnly(t *testing.T) {
	for name, bridge := range map[string]bool{"daemon": false, "bridge": true} {
		t.Run(name, func(t *testing.T) {
			dir, env := newWorkspace(t, "a\n")
			if bridge {
				loomdIn(t, dir, env, "call", "list_files")
			}
			cmd := exec.Command("loomd", "serve", "--stdio", "--log-level", "debug")
			cmd.Dir, cmd.Env = dir, env
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { cmd.Process.Kill() })
			for _, message := range noisy {
				fmt.Fprintf(in, "Content-Length: %d\r\n\r\n%s", len(message), message)
			}
			in.Close()
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v: %s", err, &stderr)
			}
			if answers := onlyFrames(t, stdout.Bytes()); answers < len(noisy)-1 {
				t.Errorf("%d messages: %s", answers, &stdout)
			}
			if !bridge && !strings.Contains(stderr.String(), "level=DEBUG") {
				t.Errorf("nothing was logged in detail: %s", &stderr)
			}
		})
	}
}

// onlyFrames reads frames, in their strictest form, to the end of a text, and counts
// them.
func onlyFrames(t *testing.T, text []byte) (n int) {
	t.Helper()
	in := bufio.NewReader(bytes.NewReader(text))
	for ; ; n++ {
		var length int
		header, err := in.ReadString('\n')
		if err == io.EOF && header == "" {
			return n
		}
		if _, err := fmt.Sscanf(header, "Content-Length: %d\r\n", &length); err != nil {
			t.Fatalf("after %d frames %q: %v", n, header, err)
		}
		body := make([]byte, 2+length)
		if _, err := io.ReadFull(in, body); err != nil || !bytes.HasPrefix(body, []byte("\r\n")) || !json.Valid(body[2:]) {
			t.Fatalf("frame %d: %v, %q", n, err, body)
		}
	}
}

// TestASecretIsForTheGrantedToolOnly: a variable of the daemon's, which the user has
// granted to one tool, is in the environment of that one's program, and of no other's.
func TestASecretIsForTheGrantedToolOnly(t *testing.T) {
	const value = "tok-3n-of-the-daemon"
	dir, env := newWorkspace(t, "a\n")
	env = append(env, "TOKEN="+value, "OTHER="+value)
	program := filepath.Join(t.TempDir(), "show")
	config := strings.TrimSpace(loomdIn(t, dir, env, "config", "path"))
	grant := func(name, more string) string {
		return fmt.Sprintf("[grants.%s]\npath = %q\ndescription = \"shows\"\nrefuse = [\"--none\"]\n%s\n", name, program, more)
	}
	for _, step := range []error{
		os.WriteFile(program, []byte("#!/bin/sh\necho \"length ${#TOKEN}, $TOKEN\"; env\n"), 0o755),
		os.MkdirAll(filepath.Dir(config), 0o700),
		os.WriteFile(config, []byte("[secrets.TOKEN]\nprovider = \"env\"\n"+grant("granted", `secrets = ["TOKEN"]`)+grant("plain", "")+
			"[[permission.rule]]\nname = \"all\"\neffect = \"allow\"\ncommand = [\"**\"]\n"), 0o600),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	granted := loomdIn(t, dir, env, "call", "command_granted", `{"args":[]}`)
	if !strings.Contains(granted, fmt.Sprintf(`length %d, [redacted:TOKEN]\n`, len(value))) {
		t.Errorf("the granted tool has it not: %s", granted)
	}
	plain := loomdIn(t, dir, env, "call", "command_plain", `{"args":[]}`)
	shell := loomdIn(t, dir, env, "call", "bash", `{"command":"echo \"length ${#TOKEN}, $TOKEN\"; env"}`)
	for tool, out := range map[string]string{"plain": plain, "bash": shell} {
		if !strings.Contains(out, `length 0, \n`) || strings.Contains(out, "TOKEN=") {
			t.Errorf("%s has it: %s", tool, out)
		}
	}
	for _, out := range []string{granted, plain, shell} {
		if strings.Contains(out, value) || strings.Contains(out, "OTHER=") {
			t.Errorf("it is shown: %s", out)
		}
	}
}

// TestACancelledCommand: what a client gives up is ended soon, and the connection goes
// on.
func TestACancelledCommand(t *testing.T) {
	h := newShellHost(t, "")
	word := fmt.Sprintf("302.%d", time.Now().UnixNano())
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	answered := make(chan error, 1)
	go func() {
		_, err := h.p.CallTool(ctx, protocol.ToolsCallParams{
			Name: "bash", Arguments: []byte(`{"command":"trap '' TERM; sleep ` + word + ` & wait; sleep ` + word + `"}`),
		})
		answered <- err
	}()
	awaitSoon(t, "the command", 10*time.Second, func() bool { return len(withArgument(word)) > 0 })
	cancel()
	if err := <-answered; err == nil {
		t.Error("a cancelled call has a result")
	}
	awaitSoon(t, "the end of the command", 3*time.Second, func() bool { return len(withArgument(word)) == 0 })
	if r := h.bash(5*time.Second, 0, "echo next"); r.Stdout != "next\n" {
		t.Errorf("%+v", r)
	}
}

// awaitSoon returns when something is so, and fails when that takes too long.
func awaitSoon(t *testing.T, what string, most time.Duration, is func() bool) {
	t.Helper()
	end, tick := time.After(most), time.NewTicker(5*time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-end:
			t.Fatalf("%s did not come in %v", what, most)
		case <-tick.C:
		}
	}
}
