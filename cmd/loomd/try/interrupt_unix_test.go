//go:build unix

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// ^C in the review ends it by its own clean-up, and is no failure of the trial.
func TestAnInterruptedReviewIsNoFailure(t *testing.T) {
	fake := func(script string) string {
		path := filepath.Join(t.TempDir(), "loomd")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	r := &review{dir: t.TempDir(), loomd: fake("exit 130\n")}
	if err := r.onTerminal(t.Context()); !errors.Is(err, errInterrupted) {
		t.Errorf("a review that ended by 130: %v", err)
	}
	r.loomd = fake("exit 1\n")
	if err := r.onTerminal(t.Context()); err == nil || errors.Is(err, errInterrupted) {
		t.Errorf("a review that failed: %v", err)
	}

	// The signal reaches this process: the review is asked to end, not killed.
	ctx, interrupt := context.WithCancel(t.Context())
	r.loomd = fake("trap 'echo asked > asked; exit 130' INT\necho > ready\nwhile :; do sleep 0.01; done\n")
	ended := make(chan error, 1)
	go func() { ended <- r.onTerminal(ctx) }()
	for {
		if _, err := os.Stat(filepath.Join(r.dir, "ready")); err == nil {
			break
		}
		select {
		case err := <-ended:
			t.Fatalf("the review ended: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	interrupt()
	if err := <-ended; !errors.Is(err, errInterrupted) {
		t.Errorf("an interrupted review: %v", err)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "asked")); err != nil {
		t.Errorf("the review was not asked to end: %v", err)
	}
}
