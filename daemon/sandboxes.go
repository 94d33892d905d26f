package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/loomd/loomd/daemon/place"
	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools"
	"github.com/loomd/loomd/tools/sandbox"
)

// toolsetDiscards is the toolset whose commands may run and change nothing.
const toolsetDiscards = "read_only_shell"

// sandboxes are the copies of their views in which the commands of sessions run, one for
// each session. A copy is made at its session's first command, and goes with the session
// or with the daemon.
type sandboxes struct {
	store  *diffpreview.Store
	logger *slog.Logger
	base   string // the private folder of all daemons' copies that served these roots
	own    string // of this daemon's, in base; "" when there is no place for it

	removing sync.WaitGroup // removals under way

	mu     sync.Mutex               // guards the fields below
	copies map[string]*sandbox.Copy // by session; nil once the daemon is closed
}

// openSandboxes finds the place of the copies, outside of every root, and begins to
// remove those that another daemon of these roots left over.
func (s *Server) openSandboxes() *sandboxes {
	x := &sandboxes{store: s.store, logger: s.logger, copies: map[string]*sandbox.Copy{}}
	var errs []error
	for _, base := range s.place.SandboxDirs() {
		if root, in := s.rootAround(base); in {
			errs = append(errs, fmt.Errorf("%s is inside of %s", base, root))
			continue
		}
		own := filepath.Join(base, strconv.Itoa(os.Getpid())+"-"+strconv.FormatInt(time.Now().UnixNano(), 36))
		if err := place.MakePrivateDir(own); err != nil {
			errs = append(errs, err)
			continue
		}
		x.base, x.own = base, own
		x.removing.Go(x.removeOthers)
		return x
	}
	s.logger.Error("No place for the copies that commands run in", "error", errors.Join(errs...))
	return x
}

// rootAround is the root that a folder is in.
func (s *Server) rootAround(dir string) (string, bool) {
	for _, root := range s.ws.Roots() {
		if rel, err := filepath.Rel(root.Path, dir); err == nil && filepath.IsLocal(rel) {
			return root.Path, true
		}
	}
	return "", false
}

// removeOthers removes what daemons before this one left in the folder: nobody else uses
// it while this one has the roots.
func (x *sandboxes) removeOthers() {
	entries, err := os.ReadDir(x.base)
	for _, e := range entries {
		if dir := filepath.Join(x.base, e.Name()); dir != x.own {
			err = errors.Join(err, sandbox.Remove(dir))
		}
	}
	if err != nil {
		x.logger.Warn("Copies of a daemon before this one are left over", "folder", x.base, "error", err)
	}
}

// kind says where the commands of sessions run that began with this daemon: staged,
// or none where they cannot.
func (x *sandboxes) kind() string {
	if x.own == "" {
		return "none"
	}
	return "staged"
}

// kindOf is that of one session. One that had no sandbox with an earlier daemon has
// one with this.
func (x *sandboxes) kindOf(sess diffpreview.Session) string {
	if sess.Sandbox == "" || sess.Sandbox == "none" {
		return x.kind()
	}
	return sess.Sandbox
}

// of is where the commands of a session run, nil when there is no place or the daemon is
// being closed.
func (x *sandboxes) of(sess diffpreview.Session) tools.Sandbox {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.own == "" || x.copies == nil {
		return nil
	}
	c := x.copies[sess.ID]
	if c == nil {
		c = sandbox.New(sandbox.Options{
			View: x.store.View(sess.ID), Dir: filepath.Join(x.own, sess.ID), Discard: sess.Toolset == toolsetDiscards,
			Logger: x.logger.With("session", sess.ID),
		})
		x.copies[sess.ID] = c
	}
	return c
}

// note removes the copy of a session that was closed. It returns at once.
func (x *sandboxes) note(e diffpreview.Event) {
	if e.Session == nil || e.Session.Open {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if c := x.copies[e.Session.ID]; c != nil {
		delete(x.copies, e.Session.ID)
		x.removing.Go(func() { x.remove(c) })
	}
}

func (x *sandboxes) remove(c *sandbox.Copy) {
	if err := c.Close(); err != nil {
		x.logger.Warn("A session's copy is left over", "error", err)
	}
}

// close removes all copies. The jobs in them must have ended.
func (x *sandboxes) close() error {
	x.mu.Lock()
	for _, c := range x.copies {
		x.removing.Go(func() { x.remove(c) })
	}
	x.copies = nil
	x.mu.Unlock()
	x.removing.Wait()
	if x.own == "" {
		return nil
	}
	err := sandbox.Remove(x.own)
	place.RemoveDir(x.base)
	return err
}
