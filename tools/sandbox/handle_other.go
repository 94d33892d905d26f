//go:build !linux

package sandbox

import (
	"os"
	"time"
)

// handle is a directory that is walked. The zero handle is closed. No link is followed.
type handle struct{ root *os.Root }

// openHandle opens the directory that a root is.
func openHandle(root *os.Root) (handle, error) {
	own, err := root.OpenRoot(".")
	return handle{own}, err
}

// sub opens a directory in h.
func (h handle) sub(name string) (handle, error) {
	info, err := h.root.Lstat(name)
	if err != nil {
		return handle{}, err
	}
	r, err := openDir(h.root, name, info)
	return handle{r}, err
}

func (h handle) close() {
	if h.root != nil {
		_ = h.root.Close() // it was only read
	}
}

// names lists what is in the directory.
func (h handle) names() ([]string, error) {
	f, err := h.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// stat looks at an entry of the directory.
func (h handle) stat(name string, at time.Time) (entry, error) {
	info, err := h.root.Lstat(name)
	if err != nil {
		return entry{}, err
	}
	return entry{stampOf(info, at), info.ModTime().UnixNano()}, nil
}
