//go:build unix

package client_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/loomd/loomd/daemon/client"
)

// daemonScript makes an executable that is started in the place of loomd.
func daemonScript(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "loomd")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBackground(t *testing.T) {
	_, p := workspace(t)
	exe := daemonScript(t, `echo "args $*" >&2; pwd >&2; ps -o sid= -p $$ >&2; echo $$ >&2; echo ready >&3`)
	if err := client.Background(exe, time.Minute)(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(p.LogFile)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	if want := "args serve --idle 1m0s --root " + p.Roots[0]; lines[0] != want {
		t.Errorf("started with %q, want %q", lines[0], want)
	}
	if lines[1] != "/" {
		t.Errorf("started in %s", lines[1])
	}
	if strings.TrimSpace(lines[2]) != lines[3] {
		t.Errorf("session %s, want its own, %s", lines[2], lines[3])
	}
}

func TestBackgroundFails(t *testing.T) {
	_, p := workspace(t)
	for body, want := range map[string]string{
		"echo the journal is damaged >&3": "the journal is damaged",
		"exit 7":                          "ended without a word: exit status 7",
		"exit 0":                          "ended without a word",
	} {
		err := client.Background(daemonScript(t, body), time.Minute)(context.Background(), p)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
	if err := client.Background(daemonScript(t, "echo busy >&3"), time.Minute)(context.Background(), p); !errors.Is(err, client.ErrBusy) {
		t.Errorf("busy: %v", err)
	}
	if err := client.Background(filepath.Join(t.TempDir(), "absent"), time.Minute)(context.Background(), p); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no such executable: %v", err)
	}
}

// A start that takes too long is given up, and the process with it.
func TestBackgroundGivesUp(t *testing.T) {
	_, p := workspace(t)
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("interrupted")
	exe := daemonScript(t, "exec sleep 60")
	go func() { cancel(why) }()
	if err := client.Background(exe, time.Minute)(ctx, p); !errors.Is(err, why) {
		t.Errorf("Background = %v", err)
	}
}
