package place

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// BusyError says that another daemon serves one of the roots.
type BusyError struct {
	Root   string
	PID    int    // 0 when it cannot be told
	Socket string // where it listens; "" when it has not said yet
}

func (e *BusyError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("another loomd serves %s", e.Root)
	}
	return fmt.Sprintf("another loomd (pid %d) serves %s", e.PID, e.Root)
}

// Claim is the right to serve every root of a place.
type Claim struct{ locks []*os.File }

// TakeClaim locks every root of p, or none: then the error is a *[BusyError]
// when another daemon serves one of them.
func TakeClaim(p Place) (*Claim, error) {
	c := &Claim{}
	for i, path := range p.Locks {
		lock, pid, err := Lock(path)
		if err == nil {
			c.locks = append(c.locks, lock)
			continue
		}
		err = errors.Join(err, c.Release())
		if errors.Is(err, ErrLocked) {
			h, _ := WhoHolds(path)
			return nil, &BusyError{Root: p.Roots[i], PID: pid, Socket: h.Socket}
		}
		return nil, err
	}
	return c, nil
}

// Announce tells clients that look into the locks where the holder listens.
// socket is absolute.
func (c *Claim) Announce(socket string) error {
	if !filepath.IsAbs(socket) {
		return fmt.Errorf("announcing %s: not an absolute path", socket)
	}
	for _, l := range c.locks {
		if err := Announce(l, socket); err != nil {
			return err
		}
	}
	return nil
}

// Release gives the roots back. A second call does nothing.
func (c *Claim) Release() error {
	var errs []error
	for _, l := range c.locks {
		errs = append(errs, Unlock(l))
	}
	c.locks = nil
	return errors.Join(errs...)
}
