package daemon

import (
	"fmt"
	"log/slog"

	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/watch"
)

// watching keeps the watched files in step with the store: those that
// undecided proposals or open documents stand on. Hints go to the store, which
// reads for itself.
type watching struct {
	store  *diffpreview.Store
	files  *watch.Files
	logger *slog.Logger
	wake   chan struct{} // capacity 1: look again
	closed chan struct{} // closed by close
	done   chan struct{} // closed when the loop has ended
}

func newWatching(store *diffpreview.Store, logger *slog.Logger) (*watching, error) {
	w := &watching{
		store: store, logger: logger,
		wake: make(chan struct{}, 1), closed: make(chan struct{}), done: make(chan struct{}),
	}
	var err error
	var roots []string
	for _, r := range store.Workspace().Roots() {
		roots = append(roots, r.Path)
	}
	if w.files, err = watch.NewFiles(logger, w.changed, roots...); err != nil {
		return nil, fmt.Errorf("watching files: %w", err)
	}
	go w.loop()
	return w, nil
}

func (w *watching) changed(abs string) {
	if path, ok := w.store.Workspace().FromAbs(abs); ok {
		w.store.Stale(path)
	}
}

// watch has the watched set looked at again, soon.
func (s *Server) watch() {
	select {
	case s.watching.wake <- struct{}{}:
	default:
	}
}

func (w *watching) loop() {
	defer close(w.done)
	watched := map[string]diffpreview.Path{}
	for {
		select {
		case <-w.closed:
			return
		case <-w.wake:
		}
		wanted := map[string]diffpreview.Path{}
		for _, path := range w.store.Undecided() {
			wanted[w.store.Workspace().Abs(path)] = path
		}
		for abs := range watched {
			if _, ok := wanted[abs]; !ok {
				w.files.Remove(abs)
				delete(watched, abs)
			}
		}
		for abs, path := range wanted {
			if _, ok := watched[abs]; ok {
				continue
			}
			if err := w.files.Add(abs); err != nil {
				w.logger.Warn("File cannot be watched", "path", abs, "error", err)
				continue
			}
			watched[abs] = path
			w.store.Stale(path) // what changed before the watch was there
		}
	}
}

func (w *watching) problems() []string { return w.files.Problems() }

func (w *watching) close() error {
	close(w.closed)
	<-w.done
	return w.files.Close()
}
