package diffpreview

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// The files of the state directory hold copies of private files. They are the
// owner's alone whatever the umask is, which may also take bits from the owner.
const (
	privateDirMode  fs.FileMode = 0o700
	privateFileMode fs.FileMode = 0o600
)

// privateDir makes a directory and what is missing above it, and closes one that
// is there already to others.
func privateDir(dir string) error {
	err := os.Mkdir(dir, privateDirMode)
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir {
		if err = privateDir(filepath.Dir(dir)); err == nil {
			err = os.Mkdir(dir, privateDirMode)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	case info.Mode().Perm() == privateDirMode || runtime.GOOS == "windows":
		return nil
	}
	return os.Chmod(dir, privateDirMode)
}

// openPrivate opens a file for writing with the flags of [os.OpenFile].
func openPrivate(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|flags, privateFileMode)
	if err != nil {
		return nil, err
	}
	if err := closeToOthers(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func closeToOthers(f *os.File) error {
	info, err := f.Stat()
	if err != nil || info.Mode().Perm() == privateFileMode || runtime.GOOS == "windows" {
		return err
	}
	return f.Chmod(privateFileMode)
}

// closeFile closes a file that is there to others.
func closeFile(path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() || info.Mode().Perm() == privateFileMode || runtime.GOOS == "windows" {
		return nil
	}
	return os.Chmod(path, privateFileMode)
}

// createPrivate makes a file with a name that nobody has; see [os.CreateTemp].
func createPrivate(dir, pattern string) (*os.File, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, err
	}
	if err := closeToOthers(f); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return f, nil
}

// writeSynced ends the writing of a file: when it returns nil, data is on the
// disk.
func writeSynced(f *os.File, data []byte) error {
	_, err := f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncDir makes a rename in dir durable. Windows cannot and need not.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

func replaceFile(from, to string) error { return os.Rename(from, to) }

func removeFile(path string) error { return os.Remove(path) }
