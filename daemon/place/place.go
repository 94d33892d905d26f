// Package place says where a daemon lives that serves a user's folders: its
// socket, its lock, its state and its log. Client and daemon ask the same
// question and so meet without any configuration.
//
// Everything it makes is private to the user from its first moment:
// directories are 0700, sockets and files 0600, and what somebody else owns is
// refused rather than used.
package place

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxSocketPath is the longest socket path in bytes that every platform takes:
// sun_path holds 104 bytes on darwin (108 on Linux), the last one a NUL.
const maxSocketPath = 103

// bindRoom is how many bytes longer than its final path a socket's path may be
// while it is bound: in a directory of bindPattern's shape, named "s".
const bindRoom = len("/.b0123456789/s")

// hashDigits is the length of the hex names: 64 bits, so that two of a user's
// folders share a name once in 2^32 folders.
const hashDigits = 16

// Place is where the daemon of one user and set of roots lives. Nothing of it
// need exist.
type Place struct {
	Roots     []string // absolute, links resolved, sorted, each once
	SocketDir string   // private directory of Socket
	Socket    string   // at most 103 bytes
	StateBase string   // private directory that holds every place's state and the locks
	StateDir  string   // of this set of roots: journal and log
	Allowed   string   // file of the commands that are allowed for good, in StateDir
	LogFile   string   // what a daemon started in the background prints
	Trust     string   // of this user: the record of the workspaces' files that are trusted
	Lock      string   // Locks[0]: the only one when there is one root
	Locks     []string // one per root, in Roots' order: who holds it serves that root
}

// For returns the place of the daemon that serves roots, which must be existing
// directories. The order of roots and the links on the way to them make no
// difference. It creates nothing.
//
// The environment that counts: XDG_RUNTIME_DIR (when it is a private directory
// of this user), else the temporary directory, for the socket; XDG_STATE_HOME
// (when absolute), else ~/.local/state, for the rest.
func For(roots []string) (Place, error) {
	if len(roots) == 0 {
		return Place{}, errors.New("no root given")
	}
	var p Place
	for _, r := range roots {
		c, err := canonical(r)
		if err != nil {
			return Place{}, err
		}
		p.Roots = append(p.Roots, c)
	}
	slices.Sort(p.Roots)
	p.Roots = slices.Compact(p.Roots)

	base, err := stateBase()
	if err != nil {
		return Place{}, err
	}
	hash := hashOf(p.Roots...)
	p.StateBase = base
	p.Trust = filepath.Join(base, "trusted.json")
	p.StateDir = filepath.Join(base, nameOf(p.Roots[0])+"-"+hash)
	p.LogFile = filepath.Join(p.StateDir, "daemon.log")
	p.Allowed = filepath.Join(p.StateDir, "allowed.json")
	for _, r := range p.Roots {
		p.Locks = append(p.Locks, filepath.Join(base, nameOf(r)+"-"+hashOf(r)+".lock"))
	}
	p.Lock = p.Locks[0]

	file := hash + ".sock"
	p.SocketDir, err = socketDir(len(file) + 1)
	if err != nil {
		return Place{}, err
	}
	p.Socket = filepath.Join(p.SocketDir, file)
	return p, nil
}

// canonical returns the one absolute name of an existing directory.
func canonical(root string) (string, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return "", fmt.Errorf("root %s: %w", root, err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", fmt.Errorf("root %s: %w", root, reason(err))
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", fmt.Errorf("root %s: %w", root, reason(err))
	}
	if !info.IsDir() {
		return "", fmt.Errorf("root %s: not a directory", root)
	}
	return real, nil
}

// reason takes the path out of a file error; the caller names it already.
func reason(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// hashOf is the short name of paths. They cannot contain NUL, so no two lists
// are hashed alike.
func hashOf(paths ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(paths, "\x00")))
	return hex.EncodeToString(sum[:])[:hashDigits]
}

// nameOf is a root's base name for people who look into the state directory:
// at most 32 bytes of letters, digits, ".", "_" and "-".
func nameOf(root string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '_', r == '-':
			return r
		}
		return '_'
	}, filepath.Base(root))
	name = strings.TrimLeft(name, ".-")
	if len(name) > 32 {
		name = name[:32]
	}
	if name == "" {
		return "root"
	}
	return name
}
