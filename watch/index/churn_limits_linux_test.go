package index_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// maxQueued is how many events the system holds for one watcher.
func maxQueued(t *testing.T) int {
	t.Helper()
	data, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// beforeServing lowers the number of watches in the child's own user namespace.
func beforeServing(t *testing.T) {
	t.Helper()
	if limit := os.Getenv(watchesEnv); limit != "" {
		if err := os.WriteFile("/proc/sys/user/max_inotify_watches", []byte(limit), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const watchesEnv = "LOOMD_TEST_WATCHES"
