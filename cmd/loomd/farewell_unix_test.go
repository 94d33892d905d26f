//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const (
	initializeText  = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`
	initializedText = `{"jsonrpc":"2.0","method":"initialized","params":{}}`
	shutdownText    = `{"jsonrpc":"2.0","id":2,"method":"shutdown"}`
	exitText        = `{"jsonrpc":"2.0","method":"exit"}`
)

// LSP's status at the end: 0 after shutdown, else 1, whether the process is the
// daemon or a way to it, and whether the client says exit or only goes.
func TestStdioStatus(t *testing.T) {
	for _, c := range []struct {
		name     string
		messages []string
		status   int
		says     string
	}{
		{"shutdown and exit", []string{initializeText, initializedText, shutdownText, exitText}, 0, ""},
		{"shutdown alone", []string{initializeText, initializedText, shutdownText}, 0, ""},
		{"exit alone", []string{initializeText, initializedText, exitText}, 1, "loomd: the client said exit without shutdown\n"},
		{"the end alone", []string{initializeText, initializedText}, 1, "loomd: the client has gone without shutdown\n"},
		{"nothing", nil, 1, "loomd: the client has gone without shutdown\n"},
	} {
		for _, bridged := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, bridged %v", c.name, bridged), func(t *testing.T) {
				dir, env := newWorkspace(t, "a\n")
				if bridged {
					loomdIn(t, dir, env, "call", "list_files")
				}
				var in strings.Builder
				for _, message := range c.messages {
					fmt.Fprintf(&in, "Content-Length: %d\r\n\r\n%s", len(message), message)
				}
				cmd := exec.Command("loomd", "serve", "--stdio")
				stderr := &bytes.Buffer{}
				cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stderr = dir, env, strings.NewReader(in.String()), stderr
				cmd.Run()
				if got := cmd.ProcessState.ExitCode(); got != c.status || !strings.HasSuffix(stderr.String(), c.says) {
					t.Errorf("%v, want status %d and %q: %s", cmd.ProcessState, c.status, c.says, stderr)
				}
				for _, d := range daemonsIn(filepath.Dir(dir)) {
					d.end(syscall.SIGTERM)
				}
			})
		}
	}
}

// However the stream is cut, and whatever is in it, the farewell is found.
func TestFarewell(t *testing.T) {
	frame := func(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }
	long := `{"jsonrpc":"2.0","id":7,"method":"shutdown","params":"` + strings.Repeat("x", longestFarewell) + `"}`
	for _, c := range []struct {
		name, stream   string
		shutdown, exit bool
	}{
		{"both", frame(initializeText) + frame(shutdownText) + frame(exitText), true, true},
		{"other headers and cases", "content-type: x\ncontent-LENGTH:  " + fmt.Sprint(len(shutdownText)) + "\n\n" + shutdownText, true, false},
		{"after garbage", "garbage\r\n\r\n{}" + frame(shutdownText), true, false},
		{"after a long message", frame(long) + frame(exitText), false, true},
		{"a notification is none", frame(`{"jsonrpc":"2.0","method":"shutdown"}`), false, false},
		{"within a text", frame(`{"text":` + `"Content-Length: 44\r\n\r\n\"method\":\"shutdown\""}`), false, false},
		{"not JSON", frame(`{"method":"shutdown","id":1`), false, false},
		{"half of one", frame(shutdownText)[:40], false, false},
	} {
		for _, cut := range []int{1, 3, 7, len(c.stream)} {
			f := &farewell{}
			for rest := c.stream; rest != ""; {
				n := min(cut, len(rest))
				f.Write([]byte(rest[:n]))
				rest = rest[n:]
			}
			if f.shutdown.Load() != c.shutdown || f.exit.Load() != c.exit {
				t.Errorf("%s, cut at %d: shutdown %v, exit %v", c.name, cut, f.shutdown.Load(), f.exit.Load())
			}
		}
	}
}
