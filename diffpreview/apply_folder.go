package diffpreview

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
	"time"
)

// folder is a directory held open. Names are used relative to it, so what was
// checked in it and what is written into it are in the same directory, however
// the tree is rearranged meanwhile.
type folder struct {
	at     Path
	root   *os.Root // for the calls that os.Root has
	dir    *os.File // the same directory, for exchange, no-replace and sync
	device uint64   // 0 where the system has none
}

// folder opens a directory, each component of its path from the handle of the
// one above it, and follows no link. The directory belongs to t.
func (t *transaction) folder(p Path) (*folder, error) {
	if f := t.folders[p]; f != nil {
		return f, nil
	}
	var opened *os.Root
	var err error
	if p.rel == "." {
		opened, err = t.w.root(p).OpenRoot(".")
	} else {
		var above *folder
		above, err = t.folder(Path{p.index, path.Dir(p.rel)})
		if err != nil {
			return nil, err
		}
		opened, err = openPlain(above.root, path.Base(p.rel))
	}
	if err != nil {
		return nil, err
	}
	dir, err := opened.Open(".")
	if err != nil {
		opened.Close()
		return nil, err
	}
	f := &folder{at: p, root: opened, dir: dir}
	if info, err := dir.Stat(); err == nil {
		f.device = identity(info).device
	}
	t.folders[p] = f
	return f, nil
}

// openPlain opens the directory called name. What was opened is compared with
// the entry itself, because OpenRoot would follow a link.
func openPlain(above *os.Root, name string) (*os.Root, error) {
	entry, err := above.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !entry.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.ENOTDIR}
	}
	opened, err := above.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	info, err := opened.Stat(".")
	if err == nil && !os.SameFile(entry, info) {
		err = &fs.PathError{Op: "open", Path: name, Err: syscall.ENOTDIR}
	}
	if err != nil {
		opened.Close()
		return nil, err
	}
	return opened, nil
}

// nearest opens the deepest directory above p that exists and names those that
// do not. A file in the way counts as missing when t deletes it.
func (t *transaction) nearest(p Path) (f *folder, missing []string, err error) {
	dir := Path{p.index, path.Dir(p.rel)}
	for {
		f, err = t.folder(dir)
		absent := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) && t.clears(dir)
		if err == nil || !absent || dir.rel == "." {
			return f, missing, err
		}
		missing = append([]string{path.Base(dir.rel)}, missing...)
		dir.rel = path.Dir(dir.rel)
	}
}

// isGone reports whether a directory could not be opened because it is not there.
func isGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// clears reports whether t deletes a file at p or above it.
func (t *transaction) clears(p Path) bool {
	for ; p.rel != "."; p.rel = path.Dir(p.rel) {
		for _, c := range t.changes {
			if c.path == p && c.base.Exists && !c.want.Exists {
				return true
			}
		}
	}
	return false
}

func (t *transaction) close() {
	for _, f := range t.folders {
		f.dir.Close()
		f.root.Close()
	}
}

// open opens the regular file called name and makes sure that it is what the
// directory has under that name, not what a link leads to. On an overlay the
// name stands for another file once the old one was opened to write.
func (f *folder) open(name string, flag int) (*os.File, fs.FileInfo, error) {
	entry, err := f.root.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if err := regular(name, entry); err != nil {
		return nil, nil, err
	}
	file, err := openAtOnce(f.root, name, flag)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && !os.SameFile(entry, info) {
		entry, err = f.root.Lstat(name)
		if err == nil && !os.SameFile(entry, info) {
			err = &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

// fileID tells files apart while they exist. It is zero where the system has no
// such numbers.
type fileID struct{ device, inode uint64 }

// fingerprint recognises a file under another name: the same bytes, and the
// same inode or time of modification. Of what is not a regular file hash is the
// type and, for a link, the target.
type fingerprint struct {
	hash  string
	inode uint64    // 0: any
	time  time.Time // zero: any
}

func (a fingerprint) is(b fingerprint) bool {
	if a.hash != b.hash {
		return false
	}
	return a.inode == 0 || b.inode == 0 || a.inode == b.inode || a.time.Equal(b.time)
}

func (f *folder) fingerprint(name string) (fingerprint, error) {
	info, err := f.root.Lstat(name)
	if err != nil {
		return fingerprint{}, err
	}
	found := fingerprint{inode: identity(info).inode, time: info.ModTime()}
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		target, err := f.root.Readlink(name)
		found.hash = "link " + target
		return found, err
	case !mode.IsRegular():
		found.hash = mode.Type().String()
		return found, nil
	}
	file, _, err := f.open(name, os.O_RDONLY)
	if err != nil {
		return fingerprint{}, err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return fingerprint{}, fmt.Errorf("hashing: %w", err)
	}
	found.hash = hex.EncodeToString(sum.Sum(nil))
	return found, nil
}

// same reports whether two names stand for the same file.
func (f *folder) same(a, b string) bool {
	one, err := f.root.Lstat(a)
	if err != nil {
		return false
	}
	other, err := f.root.Lstat(b)
	return err == nil && os.SameFile(one, other)
}

// remove unlinks name; that it is gone already is no error.
func (f *folder) remove(name string) error {
	err := f.root.Remove(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
