package diffpreview

import (
	"cmp"
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
	top    *folder  // the root's; nil of that itself
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
	var top *folder
	var err error
	if p.rel == "." {
		opened, err = t.w.root(p).OpenRoot(".")
	} else {
		var above *folder
		above, err = t.folder(Path{p.index, path.Dir(p.rel)})
		if err != nil {
			return nil, err
		}
		top = cmp.Or(above.top, above)
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
	f := &folder{at: p, top: top, root: opened, dir: dir}
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
// do not. A file in the way counts as missing when t takes it away.
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

// clears reports whether t takes away a file at p or above it.
func (t *transaction) clears(p Path) bool {
	for ; p.rel != "."; p.rel = path.Dir(p.rel) {
		if t.leaving[p] {
			return true
		}
	}
	return false
}

func (t *transaction) close() {
	for _, f := range t.folders {
		f.close()
	}
	for _, f := range t.closed {
		f.close()
	}
}

func (f *folder) close() {
	f.dir.Close()
	f.root.Close()
}

// names lists what is in the directory.
func (f *folder) names() ([]fs.DirEntry, error) {
	dir, err := f.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.ReadDir(-1)
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
// same inode or time of modification. Its hash is what mark makes of a file or
// link, and the type of anything else.
type fingerprint struct {
	hash  string
	inode uint64      // 0: any
	time  time.Time   // zero: any
	perm  fs.FileMode // not compared
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
	found := fingerprint{inode: identity(info).inode, time: info.ModTime(), perm: info.Mode().Perm()}
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		found.hash, err = f.markOfLink(name)
		return found, err
	case !mode.IsRegular():
		found.hash = mode.Type().String()
		return found, nil
	}
	file, _, err := f.open(name, os.O_RDONLY)
	if errors.Is(err, fs.ErrPermission) {
		found.hash = "unreadable"
		return found, nil
	}
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
