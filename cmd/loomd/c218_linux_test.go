package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A web page, or a name that is made to lead here, can only talk to a daemon that
// has a port. loomd has none: of all sockets that its process holds, and that
// listen or were bound, each is one of the file system.
func TestC218_C219(t *testing.T) {
	dir, env := newWorkspace(t, "a\n")
	loomdIn(t, dir, env, "call", "list_files")
	daemons := daemonsIn(filepath.Dir(dir))
	if len(daemons) != 1 {
		t.Fatalf("%d daemons", len(daemons))
	}
	pid := daemons[0].pid
	held := socketsOf(t, pid)
	if len(held) == 0 {
		t.Fatal("the daemon holds no socket at all")
	}
	for _, table := range []string{"tcp", "tcp6", "udp", "udp6", "raw", "raw6"} {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if os.IsNotExist(err) {
			continue // no IPv6 here
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(data), "\n") {
			if f := strings.Fields(line); len(f) > 9 && slices.Contains(held, f[9]) {
				t.Errorf("the daemon holds a socket of %s: %s", table, line)
			}
		}
	}
}

// socketsOf are the inodes of the sockets that a process holds.
func socketsOf(t *testing.T, pid int) []string {
	links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	var inodes []string
	for _, link := range links {
		to, _ := os.Readlink(link)
		if inode, ok := strings.CutPrefix(to, "socket:["); ok {
			inodes = append(inodes, strings.TrimSuffix(inode, "]"))
		}
	}
	return inodes
}
