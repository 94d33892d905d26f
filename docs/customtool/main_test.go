//go:build unix

package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/loomd/loomd/daemon/daemontest"
	"github.com/loomd/loomd/daemon/place"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestWordCount serves a folder as the example does, and calls its tool.
func TestWordCount(t *testing.T) {
	root, home := t.TempDir(), t.TempDir()
	for _, name := range []string{"XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"} {
		dir := filepath.Join(home, strings.ToLower(name))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv(name, dir)
	}
	if err := os.WriteFile(filepath.Join(root, "f"), []byte("one two\nthree\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- serve(ctx, []string{root}, func() { close(ready) }) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	select {
	case <-ready:
	case err := <-done:
		done <- nil
		t.Fatal(err)
	}
	p, err := place.For([]string{root})
	if err != nil {
		t.Fatal(err)
	}
	nc, err := net.Dial("unix", p.Socket)
	if err != nil {
		t.Fatal(err)
	}
	agent := daemontest.Agent(t, nc, "a")
	if out := agent.MustTool("word_count", map[string]any{"path": "f"}); string(out.StructuredContent) != `{"words":3}` {
		t.Errorf("%s", out.StructuredContent)
	}
	agent.MustTool("write_file", map[string]any{"path": "f", "content": "four\n"})
	if out := agent.MustTool("word_count", map[string]any{"path": "f"}); string(out.StructuredContent) != `{"words":1}` {
		t.Errorf("after a proposal: %s", out.StructuredContent)
	}
	for path, code := range map[string]string{"none": "file_not_found", "../f": "path_outside_workspace", "": "is_directory"} {
		if out := agent.Tool("word_count", map[string]any{"path": path}); out.Text("code") != code {
			t.Errorf("%q: %s, want %s", path, out.StructuredContent, code)
		}
	}
}

// TestPageShowsTheExample: docs/custom-tools.md has the tool as it is here.
func TestPageShowsTheExample(t *testing.T) {
	code, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../custom-tools.md")
	if err != nil {
		t.Fatal(err)
	}
	_, tool, _ := strings.Cut(string(code), "type wordCountArgs")
	tool, _, _ = strings.Cut(tool, "\nfunc main()")
	if !strings.Contains(string(page), "type wordCountArgs"+tool) {
		t.Error("the page shows another tool")
	}
}
