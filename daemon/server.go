package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/loomd/loomd/daemon/config"
	"github.com/loomd/loomd/daemon/place"
	"github.com/loomd/loomd/daemon/rpc"
	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools"
	"github.com/loomd/loomd/tools/permission"
	"github.com/loomd/loomd/tools/process"
	"github.com/loomd/loomd/tools/secret"
)

// Options configure a daemon.
type Options struct {
	Roots      []string
	Socket     string            // "": the private one of this user and these roots
	Idle       time.Duration     // end after so long without a client; 0: never
	MaxFrame   int64             // bytes of one message; 0: rpc's default
	UserConfig string            // the user's configuration; "": none
	Overrides  []config.Override // what stands above it: of the environment, of flags
	Version    string
	Logger     *slog.Logger
}

// AlreadyRunning says that another daemon serves one of the roots.
type AlreadyRunning struct {
	PID    int
	Socket string
}

func (e *AlreadyRunning) Error() string {
	return fmt.Sprintf("a daemon with pid %d serves this folder already", e.PID)
}

// Server is one daemon.
type Server struct {
	opts      Options
	logger    *slog.Logger
	place     place.Place
	claim     *place.Claim
	socket    string
	ws        *diffpreview.Workspace
	store     *diffpreview.Store
	toolbox   *toolbox
	config    *config.Source
	secrets   *secret.Set
	watching  *watching
	indexes   *indexes
	sandboxes *sandboxes
	started   time.Time

	// sandboxOf is where the commands of a session run; nil: none can.
	sandboxOf func(sess diffpreview.Session) tools.Sandbox

	permissions    *permission.Requests
	allowedProblem error // why what was allowed for good is not known; nil: it is

	configuring   sync.Mutex      // held while configuration is taken up; guards the fields below
	configured    int             // the version of config that the store has
	hostTools     map[string]bool // tools of grants: whether they run on the host
	grantProblems []string

	changing sync.Mutex // held while the tools are changed and agents are told

	mu      sync.Mutex // guards the fields below
	clients map[*client]bool
	conns   int                    // connections being served
	over    chan struct{}          // closed when the last client left Idle ago, or the roots are gone
	ending  bool                   // over is closed: nobody is let in any more
	timer   *time.Timer            // runs while no client is connected
	calls   int                    // call ids given out
	jobs    map[string]*tools.Jobs // by session; nil once the daemon is closed
}

// New takes the roots for this process, brings the journal back and makes
// ready to serve. The error is an *AlreadyRunning when another daemon serves a
// root.
func New(opts Options) (_ *Server, err error) {
	s := &Server{
		opts: opts, logger: opts.Logger, started: time.Now().UTC(),
		clients: map[*client]bool{}, over: make(chan struct{}), jobs: map[string]*tools.Jobs{},
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	s.secrets = secret.NewSet(os.Environ())
	s.logger = slog.New(s.secrets.Redactor().Handler(s.logger.Handler()))
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if err := s.settle(); err != nil {
		return nil, err
	}
	own, err := tools.All()
	if err != nil {
		return nil, err
	}
	s.toolbox = newToolbox(own)
	s.config = config.NewSourceOf(config.Origin{
		User: opts.UserConfig, Roots: s.place.Roots, Overrides: opts.Overrides, Trust: s.place.Trust, Known: known(own),
	})
	current, _, _ := s.config.Current()
	s.takeSecrets(current)
	if s.ws, err = diffpreview.OpenWorkspace(opts.Roots); err != nil {
		return nil, err
	}
	s.store, err = diffpreview.Open(s.ws, diffpreview.Options{
		Dir: filepath.Join(s.place.StateDir, "review"), Logger: s.logger, Check: s.checkProposed,
	})
	if err != nil {
		return nil, err
	}
	s.openPermissions()
	configured, _ := s.configure()
	if s.watching, err = newWatching(s.store, s.logger); err != nil {
		return nil, err
	}
	s.indexes = s.openIndexes(configured.Memory.Value)
	s.sandboxes = s.openSandboxes()
	s.sandboxOf = s.sandboxes.of
	s.store.Subscribe(s.sandboxes.note)
	s.store.Subscribe(s.announce)
	s.watch()
	return s, nil
}

// settle finds the daemon's place and claims it.
func (s *Server) settle() (err error) {
	if s.place, err = place.For(s.opts.Roots); err != nil {
		return err
	}
	for _, dir := range []string{s.place.StateBase, s.place.StateDir} {
		if err := place.MakePrivateDir(dir); err != nil {
			return err
		}
	}
	if err := place.KeepUnseen(s.place.StateBase); err != nil {
		return err
	}
	s.claim, err = place.TakeClaim(s.place)
	var busy *place.BusyError
	if errors.As(err, &busy) {
		return &AlreadyRunning{PID: busy.PID, Socket: busy.Socket}
	}
	if err != nil {
		return err
	}
	if s.socket = s.opts.Socket; s.socket == "" {
		s.socket = s.place.Socket
		return place.MakePrivateDir(s.place.SocketDir)
	}
	s.socket, err = filepath.Abs(s.socket)
	return err
}

// Close ends the daemon: no method runs any more and the roots are free.
func (s *Server) Close() error {
	var errs []error
	s.endAllJobs() // before the store: what they changed is proposed
	process.Rest()
	if s.sandboxes != nil {
		errs = append(errs, s.sandboxes.close())
	}
	if s.watching != nil {
		errs = append(errs, s.watching.close())
	}
	if s.indexes != nil {
		errs = append(errs, s.indexes.close())
	}
	if s.store != nil {
		errs = append(errs, s.store.Close())
	}
	if s.ws != nil {
		errs = append(errs, s.ws.Close())
	}
	if s.claim != nil {
		errs = append(errs, s.claim.Release())
	}
	return errors.Join(errs...)
}

// Serve accepts clients on the socket until ctx ends or nobody has been
// connected for Options.Idle. It calls ready once it listens. It returns when
// the last connection has ended.
func (s *Server) Serve(ctx context.Context, ready func()) error {
	listener, err := place.ListenPrivate(s.socket)
	if err != nil {
		return fmt.Errorf("listening on %s: %w", s.socket, err)
	}
	if err := s.claim.Announce(s.socket); err != nil {
		listener.Close()
		return err
	}
	if ready != nil {
		ready()
	}
	s.logger.Info("Serving", "socket", s.socket, "roots", s.place.Roots, "pid", os.Getpid())
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-ctx.Done():
		case <-s.over:
			s.logger.Info("Ending for want of clients or of the folder")
			cancel()
		}
		listener.Close()
	}()
	s.count(0)
	var served sync.WaitGroup
	for {
		conn, err := listener.Accept()
		if err != nil {
			cancel()
			served.Wait()
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return nil
			}
			return fmt.Errorf("accepting: %w", err)
		}
		peer, ok := conn.(*net.UnixConn)
		if ok {
			err = place.CheckPeer(peer)
		}
		if err != nil {
			s.logger.Warn("Connection refused", "error", err)
			conn.Close()
			continue
		}
		served.Go(func() { s.ServeConn(ctx, conn) })
	}
}

// ServeConn serves one client until it is gone or ctx ends. A daemon that is
// ending closes the connection unanswered, and the client starts another one.
func (s *Server) ServeConn(ctx context.Context, rwc io.ReadWriteCloser) error {
	if !s.count(1) {
		return rwc.Close()
	}
	defer s.count(-1)
	c := newClient(s)
	c.conn = rpc.NewConn(rwc, rpc.Options{MaxFrame: s.opts.MaxFrame, Logger: s.logger, Name: "client"})
	defer s.leave(c)
	return c.conn.Run(ctx, c.handle)
}

// count adds to the connections and runs the idle timer while there are none.
// It reports false when the daemon is ending: for want of clients, or because its
// roots are gone.
func (s *Server) count(by int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if by > 0 && !s.ending {
		if err := s.ws.Gone(); err != nil {
			s.logger.Warn("Ending", "error", err)
			s.ending = true
			close(s.over)
		}
	}
	if s.ending {
		return false
	}
	s.conns += by
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	if s.conns == 0 && s.opts.Idle > 0 {
		s.timer = time.AfterFunc(s.opts.Idle, s.endIdle)
	}
	return true
}

func (s *Server) endIdle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == 0 && !s.ending {
		s.ending = true
		close(s.over)
	}
}

func (s *Server) join(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients[c] = true
}

func (s *Server) leave(c *client) {
	s.mu.Lock()
	delete(s.clients, c)
	s.mu.Unlock()
	if s.toolbox.lends(c) {
		_ = s.changeTools(func() error { // which cannot fail
			s.toolbox.takeBack(c, nil)
			return nil
		})
	}
	s.store.CloseDocuments(c)
	s.watch()
}

// nextCallID names a call whose client gave no id.
func (s *Server) nextCallID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	return fmt.Sprintf("c%d", s.calls)
}
