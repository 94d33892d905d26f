package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// typed is a terminal on which text is typed; it cannot be made raw.
func typed(t *testing.T, text string) *terminal {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	if _, err := w.WriteString(text); err != nil {
		t.Fatal(err)
	}
	w.Close()
	return &terminal{in: r, out: io.Discard, width: func() int { return 80 }, reads: make(chan chunk, 1)}
}

func TestTakeKey(t *testing.T) {
	term := typed(t, "")
	term.pending = []byte("y\r\x1b[A\x1bOB\x1b[1;5C\x1bxü?\xc3")
	var got []string
	for {
		key, ok := term.takeKey()
		if !ok {
			break
		}
		got = append(got, key)
	}
	if want := []string{"y", keyEnter, keyUp, keyDown, "ü", "?"}; !slices.Equal(got, want) {
		t.Errorf("keys %q, want %q", got, want)
	}
	if string(term.pending) != "\xc3" {
		t.Errorf("half a character became %q", term.pending)
	}
}

// Without single keys the first character of a line counts.
func TestKeysByLine(t *testing.T) {
	ctx := context.Background()
	term := typed(t, "yes\n\nül\nto be read\n")
	var out strings.Builder
	term.out = &out
	for _, want := range []string{"y", keyEnter, "ü"} {
		if got, err := term.Key(ctx, ""); err != nil || got != want {
			t.Fatalf("Key = %q, %v; want %q", got, err, want)
		}
	}
	if want := "(a key needs Enter here) "; out.String() != want { // once
		t.Errorf("printed %q, want %q", out.String(), want)
	}
	if line, err := term.Line(ctx, "? "); err != nil || line != "to be read" {
		t.Errorf("Line = %q, %v", line, err)
	}
	if _, err := term.Key(ctx, ""); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
}

// What is typed while nobody waits any more goes to who waits next.
func TestKeyOutlivesItsWaiter(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	term := &terminal{in: r, out: io.Discard, reads: make(chan chunk, 1), byLine: true}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := term.Key(ctx, ""); !errors.Is(err, context.Canceled) {
		t.Fatalf("Key of a cancelled walk: %v", err)
	}
	w.WriteString("n\n")
	w.Close()
	if key, err := term.Key(context.Background(), ""); err != nil || key != "n" {
		t.Errorf("Key = %q, %v", key, err)
	}
}

func TestEdit(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the editor is a shell script")
	}
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("VISUAL", "")
	script := filepath.Join(t.TempDir(), "my editor")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n[ \"$1\" = -w ] && printf 'edited %s' \"$(cat \"$2\")\" >\"$2.new\" && mv \"$2.new\" \"$2\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	term := typed(t, "")
	t.Setenv("EDITOR", `"`+script+`" -w`) // with an option, as git takes it
	got, err := term.Edit(context.Background(), "f.go", "text")
	if err != nil || got != "edited text" {
		t.Errorf("Edit = %q, %v", got, err)
	}
	t.Setenv("VISUAL", `sh -c 'echo more >>"$1"; exit 1' sh`)
	if got, err := term.Edit(context.Background(), "f.go", "text\n"); err == nil || got != "text\nmore\n" {
		t.Errorf("Edit with an editor that saves and fails: %q, %v", got, err)
	}
	t.Setenv("VISUAL", "false")
	if _, err := term.Edit(context.Background(), "f.go", "text"); err == nil || !strings.Contains(err.Error(), "the editor false") {
		t.Errorf("Edit with an editor that fails: %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}
