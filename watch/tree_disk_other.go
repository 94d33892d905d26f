//go:build !linux

package watch

import (
	"io/fs"
	"os"
	"path/filepath"
)

// disk reads below one root by paths. A directory on the way that is swapped
// for a link at the same moment may be followed; its event then corrects what
// was seen.
type disk struct {
	root string
	at   fileKey
}

func openDisk(root string) (*disk, error) {
	info, err := os.Lstat(root)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: root, Err: fs.ErrNotExist}
	}
	return &disk{root: root, at: keyOf(info)}, nil
}

func (d *disk) close() {}

// key names the root's inode.
func (d *disk) key() fileKey { return d.at }

func (d *disk) abs(rel string) string { return filepath.Join(d.root, filepath.FromSlash(rel)) }

// openDir opens directory rel; "." is the root.
func (d *disk) openDir(rel string) (dirHandle, error) {
	info, err := os.Lstat(d.abs(rel))
	if err != nil {
		return dirHandle{}, err
	}
	if !info.IsDir() {
		return dirHandle{}, &fs.PathError{Op: "open", Path: rel, Err: fs.ErrNotExist}
	}
	return dirHandle{abs: d.abs(rel), key: keyOf(info)}, nil
}

// readFile reads a regular file of at most maxOutsideFile bytes.
func (d *disk) readFile(rel string) ([]byte, error) {
	info, err := os.Lstat(d.abs(rel))
	if err != nil || !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: rel, Err: fs.ErrNotExist}
	}
	return readRegular(d.abs(rel), info)
}

// dirHandle is a directory.
type dirHandle struct {
	abs string
	key fileKey
}

func (h dirHandle) close() {}

// dirBuffer is the size, in bytes, of the buffer that list wants.
const dirBuffer = 0

// list calls each for every entry, in the order of names.
func (h dirHandle) list(_ []byte, each func(listed)) error {
	entries, err := os.ReadDir(h.abs)
	for _, e := range entries {
		each(listed{name: e.Name(), kind: kindOf(e.Type())})
	}
	return err
}

func kindOf(mode fs.FileMode) Kind {
	switch {
	case mode.IsDir():
		return Dir
	case mode&fs.ModeSymlink != 0:
		return Link
	case mode.IsRegular():
		return File
	}
	return Special
}

// stat looks at one entry of the directory.
func (h dirHandle) stat(name string) (stamp, fileKey, error) {
	return statPath(filepath.Join(h.abs, name), false)
}

// statPath looks at what an absolute path leads to, through links when follow.
func statPath(abs string, follow bool) (stamp, fileKey, error) {
	look := os.Lstat
	if follow {
		look = os.Stat
	}
	info, err := look(abs)
	if err != nil {
		return stamp{}, fileKey{}, err
	}
	key := keyOf(info)
	s := stamp{size: info.Size(), mtime: info.ModTime().UnixNano(), ino: key.ino, kind: kindOf(info.Mode())}
	s.ctime, s.linked = changeOf(info)
	return s, key, nil
}

// mountTable is empty: what is mounted is not asked for here.
func mountTable() string { return "" }
