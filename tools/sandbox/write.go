package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// cloneFrom is the size in bytes from which a clone is worth its system call.
const cloneFrom = 64 << 10

// writer puts files and links into the copy. Its methods may be called from any
// goroutine.
type writer struct {
	serial   atomic.Uint64 // of temporary names
	noClones atomic.Bool   // the file system cannot
	buffers  sync.Pool     // of *bytes.Buffer
}

// tempPrefix begins the names of files that are not in their place yet.
const tempPrefix = ".loomd-copy-"

// tempName is a name that nothing has.
func (w *writer) tempName() string {
	return tempPrefix + strconv.FormatUint(w.serial.Add(1), 36)
}

// placed says how an entry gets into its directory: at once, or over what is there.
type placed struct {
	dst  *os.Root
	name string
	over bool // something is there
}

// create calls make with a name, and gives what it made there its place.
func (w *writer) create(p placed, make func(name string) error) error {
	if !p.over {
		err := make(p.name)
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	temp := w.tempName()
	err := make(temp)
	if err == nil {
		if err = p.dst.Rename(temp, p.name); err != nil { // a directory, perhaps
			if err = removeAll(p.dst, p.name); err == nil {
				err = p.dst.Rename(temp, p.name)
			}
		}
	}
	if err != nil {
		_ = p.dst.Remove(temp)
	}
	return err
}

// bytes writes a file.
func (w *writer) bytes(p placed, data []byte, mode fs.FileMode, mtime int64) (stamp, error) {
	err := w.create(p, func(name string) error {
		f, err := p.dst.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		return w.finish(p.dst, name, f, mode, mtime, err)
	})
	return p.stamp(err)
}

// finish gives a file that was written its mode and mtime, and closes it. An mtime of 0
// is now.
func (w *writer) finish(dst *os.Root, name string, f *os.File, mode fs.FileMode, mtime int64, err error) error {
	if err == nil {
		var info fs.FileInfo
		if info, err = f.Stat(); err == nil && info.Mode().Perm() != mode { // the umask took something away
			err = f.Chmod(mode)
		}
	}
	err = errors.Join(err, f.Close())
	if err == nil && mtime != 0 {
		err = dst.Chtimes(name, time.Time{}, time.Unix(0, mtime))
	}
	return err
}

// stamp looks at what was placed.
func (p placed) stamp(err error) (stamp, error) {
	if err != nil {
		return stamp{}, err
	}
	info, err := p.dst.Lstat(p.name)
	if err != nil {
		return stamp{}, err
	}
	at := time.Now()
	return stampOf(info, at).settle(at), nil
}

// link makes a link.
func (w *writer) link(p placed, target string) (stamp, error) {
	return p.stamp(w.create(p, func(name string) error { return p.dst.Symlink(target, name) }))
}

// stream writes a file of any size without its bytes in memory.
func (w *writer) stream(p placed, src *os.File, mode fs.FileMode, mtime int64) (stamp, error) {
	err := w.create(p, func(name string) error {
		if _, err := src.Seek(0, io.SeekStart); err != nil {
			return err
		}
		f, err := p.dst.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err != nil {
			return err
		}
		if !w.cloned(f, src) {
			_, err = io.Copy(f, src) // in the kernel where there is such a call
		}
		return w.finish(p.dst, name, f, mode, mtime, err)
	})
	return p.stamp(err)
}

func (w *writer) cloned(dst, src *os.File) bool {
	if w.noClones.Load() {
		return false
	}
	if clone(dst, src) != nil {
		w.noClones.Store(true)
		return false
	}
	return true
}

// buffer lends a buffer.
func (w *writer) buffer() *bytes.Buffer {
	if b, ok := w.buffers.Get().(*bytes.Buffer); ok {
		b.Reset()
		return b
	}
	return &bytes.Buffer{}
}

// removeAll removes what is at a path of a root, also where a command took the right
// away to do so.
func removeAll(root *os.Root, rel string) error {
	err := root.RemoveAll(rel)
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if err := openUp(root, rel); err != nil {
		return err
	}
	return root.RemoveAll(rel)
}

// openUp lets the owner into all directories from rel on.
func openUp(root *os.Root, rel string) error {
	info, err := root.Lstat(rel)
	if err != nil || !info.IsDir() {
		return nil
	}
	if info.Mode().Perm()&0o700 != 0o700 {
		if err := root.Chmod(rel, info.Mode().Perm()|0o700); err != nil {
			return err
		}
	}
	f, err := root.Open(rel)
	if err != nil {
		return err
	}
	names, err := f.Readdirnames(-1)
	f.Close()
	for _, name := range names {
		err = errors.Join(err, openUp(root, path.Join(rel, name)))
	}
	return err
}

// Remove removes a folder of copies, whatever commands did to the rights in it. That it
// is not there is no error. Nothing that is mounted in it is removed.
func Remove(folder string) error {
	if err := dismount(folder); err != nil {
		return fmt.Errorf("removing copies of sessions: %w", err)
	}
	above, err := os.OpenRoot(filepath.Dir(folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("removing copies of sessions: %w", err)
	}
	defer above.Close()
	if err := removeAll(above, filepath.Base(folder)); err != nil {
		return fmt.Errorf("removing copies of sessions: %w", err)
	}
	return nil
}

// touch gives a file another mtime.
func (w *writer) touch(p placed, mtime int64) error {
	return p.dst.Chtimes(p.name, time.Time{}, time.Unix(0, mtime))
}
