package main

import (
	"errors"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"time"

	"github.com/loomd/loomd/daemon/client"
	"github.com/loomd/loomd/daemon/protocol"
)

// target is the part of a command line that says which daemon is meant.
type target struct {
	Root   []string `sep:"none" placeholder:"DIR" help:"Folder the daemon serves; may be given several times (default: the nearest one upwards that holds .git or .loom, else this one)."`
	Socket string   `placeholder:"PATH" help:"Socket of a daemon that runs already."`
}

// defaultIdle is after how long without any client a daemon that a command
// started ends.
const defaultIdle = 10 * time.Minute

// roots returns the folders that are meant, absolute.
func (t target) roots() ([]string, error) {
	dirs := t.Root
	if len(dirs) == 0 {
		dir, err := nearestRoot()
		if err != nil {
			return nil, err
		}
		dirs = []string{dir}
	}
	abs := make([]string, len(dirs))
	for i, dir := range dirs {
		a, err := filepath.Abs(dir)
		if err != nil {
			return nil, usagef("--root %s: %v", dir, err)
		}
		switch info, err := os.Stat(a); {
		case errors.Is(err, os.ErrNotExist):
			return nil, usagef("--root %s: no such folder", dir)
		case err != nil:
			return nil, usagef("--root %s: %v", dir, err)
		case !info.IsDir():
			return nil, usagef("--root %s: not a folder", dir)
		}
		abs[i] = a
	}
	return abs, nil
}

// nearestRoot is the working directory, or the nearest one above it that is
// marked as somebody's workspace.
func nearestRoot() (string, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := cwd; ; {
		for _, mark := range []string{".git", ".loom"} {
			if _, err := os.Lstat(filepath.Join(dir, mark)); err == nil {
				return dir, nil
			}
		}
		up := filepath.Dir(dir)
		if up == dir {
			return cwd, nil
		}
		dir = up
	}
}

// connect reaches the daemon in a role. idle is how long a daemon that had to
// be started stays when nobody uses it; 0: none is started.
func (t target) connect(e *env, role protocol.Role, session *protocol.SessionOptions, idle time.Duration) (*client.Client, error) {
	opts := client.Options{
		Socket: t.Socket,
		Who:    client.Identity{Name: clientName(role), Version: version(), Role: role, Session: session},
		Logger: slog.New(slog.DiscardHandler),
	}
	var err error
	if opts.Socket == "" {
		if opts.Roots, err = t.roots(); err != nil {
			return nil, err
		}
	}
	if idle > 0 {
		exe, err := os.Executable()
		if err != nil {
			return nil, err
		}
		opts.Starter = client.Background(exe, idle)
	}
	return client.Connect(e.ctx, opts)
}

// clientName is how a command introduces itself: a reviewer by the person's
// name, because agents are told who decided.
func clientName(role protocol.Role) string {
	if role == protocol.RoleReviewer {
		if u, err := user.Current(); err == nil && u.Username != "" {
			return u.Username
		}
	}
	return "loomd"
}

// review reaches the daemon as somebody who decides.
func (t target) review(e *env) (*client.Client, error) {
	return t.connect(e, protocol.RoleReviewer, nil, defaultIdle)
}

// hintOf is the daemon's advice in an error answer, how a wrong command line is
// written, or what helps when no answer came.
func hintOf(err error) string {
	var answer *client.Error
	var usage *usageError
	switch {
	case errors.As(err, &answer):
		return answer.Data.Hint
	case errors.As(err, &usage):
		return usage.hint
	case errors.Is(err, errLost):
		return lostHint
	}
	return ""
}
