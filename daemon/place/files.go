package place

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// maxLog is the size in bytes from which a log is put aside when a daemon
// starts: some days of warnings. One older log is kept.
const maxLog = 1 << 20

// OpenLog opens a daemon's log for appending, 0600, making its directory. A log
// that has grown past 1 MiB is first renamed to the same name with ".old".
func OpenLog(path string) (*os.File, error) {
	if err := MakePrivateDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("opening the log: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("opening the log: %s is not a file", path)
	case info.Size() > maxLog:
		if err := os.Rename(path, path+".old"); err != nil {
			return nil, fmt.Errorf("putting the log aside: %w", err)
		}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log: %w", err)
	}
	return f, nil
}

// Scratch is a text in a private file that a person's editor opens.
type Scratch struct{ Path string }

// NewScratch writes text to a file called name in a fresh private directory
// outside every workspace.
func NewScratch(name, text string) (*Scratch, error) {
	dir, err := os.MkdirTemp("", "loomd-edit-*") // 0700
	if err != nil {
		return nil, fmt.Errorf("making room for the text: %w", err)
	}
	s := &Scratch{Path: filepath.Join(dir, filepath.Base(name))}
	if err := os.WriteFile(s.Path, []byte(text), 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("writing the text: %w", err), s.Remove())
	}
	return s, nil
}

// Text reads the file back.
func (s *Scratch) Text() (string, error) {
	data, err := os.ReadFile(s.Path)
	if err != nil {
		return "", fmt.Errorf("reading the text: %w", err)
	}
	return string(data), nil
}

// Remove deletes the file and what the editor left beside it.
func (s *Scratch) Remove() error { return os.RemoveAll(filepath.Dir(s.Path)) }

// WritePrivate writes a file of the user alone, whole or not at all, making its
// directory.
func WritePrivate(path string, data []byte) error {
	if err := MakePrivateDir(filepath.Dir(path)); err != nil {
		return err
	}
	fresh := fmt.Sprintf("%s.%d", path, os.Getpid())
	f, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, reason(err))
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(fresh, path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("writing %s: %w", path, err), os.Remove(fresh))
	}
	return nil
}
