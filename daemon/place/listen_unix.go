//go:build unix

package place

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// bindPattern names the directories in which sockets are bound: a dot, a letter
// and up to ten digits.
const bindPattern = ".b*"

// ListenPrivate listens on a Unix socket at path that has mode 0600 at every
// sight: it is bound in a fresh 0700 directory beside path, given its mode, and
// then renamed into place. Its directory must exist. A socket of this user on
// which nobody answers is replaced (the caller holds the lock that says that no
// other daemon is starting); one on which somebody does gives an error, and so
// does anything else that stands there. Closing the listener removes the socket
// if it is still its own.
func ListenPrivate(path string) (net.Listener, error) {
	dir := filepath.Dir(path)
	if n := max(len(path), len(dir)+bindRoom); n > maxSocketPath {
		return nil, fmt.Errorf("socket path %s is too long: at most %d bytes, its directory at most %d",
			path, maxSocketPath, maxSocketPath-bindRoom)
	}
	if err := checkReplaceable(path); err != nil {
		return nil, err
	}
	fresh, err := os.MkdirTemp(dir, bindPattern) // 0700
	if err != nil {
		return nil, fmt.Errorf("making room for the socket: %w", err)
	}
	defer os.RemoveAll(fresh)
	if err := os.Chmod(fresh, 0o700); err != nil { // a umask may have taken the owner's bits
		return nil, fmt.Errorf("making room for the socket: %w", err)
	}
	bound := filepath.Join(fresh, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: bound, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listening: %w", err)
	}
	l.SetUnlinkOnClose(false)
	pl := &privateListener{UnixListener: l, path: path}
	if err := pl.place(bound); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return pl, nil
}

type privateListener struct {
	*net.UnixListener
	path  string
	own   fs.FileInfo // of the socket file
	close sync.Once
}

func (l *privateListener) place(bound string) error {
	if err := os.Chmod(bound, 0o600); err != nil {
		return fmt.Errorf("making the socket private: %w", err)
	}
	own, err := os.Lstat(bound)
	if err != nil {
		return fmt.Errorf("making the socket private: %w", err)
	}
	if err := os.Rename(bound, l.path); err != nil {
		return fmt.Errorf("placing the socket: %w", err)
	}
	l.own = own
	return nil
}

// Addr returns where clients find the socket, not where it was bound.
func (l *privateListener) Addr() net.Addr { return &net.UnixAddr{Name: l.path, Net: "unix"} }

// Close takes the socket away before it stops listening: whoever finds nothing
// starts a daemon, whoever is refused thinks of a crash.
func (l *privateListener) Close() error {
	err := net.ErrClosed
	l.close.Do(func() {
		if now, serr := os.Lstat(l.path); serr == nil && os.SameFile(now, l.own) {
			serr = os.Remove(l.path)
			err = errors.Join(serr, l.UnixListener.Close())
			return
		}
		err = l.UnixListener.Close()
	})
	return err
}

// answerTime bounds the wait for a socket to take a connection: a daemon whose
// backlog is full lives.
const answerTime = 2 * time.Second

// checkReplaceable returns nil when path is free or a socket that nobody
// serves.
func checkReplaceable(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking for an old socket: %w", err)
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s exists and is not a socket", path)
	}
	if err := checkOwner(path, info); err != nil {
		return err
	}
	conn, err := net.DialTimeout("unix", path, answerTime)
	if err == nil {
		conn.Close()
		return fmt.Errorf("%s: %w", path, ErrAnswered)
	}
	if errors.Is(err, unix.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("looking for an old socket: %w", err)
}
