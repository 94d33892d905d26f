package diffpreview

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"sort"
	"syscall"
)

// Entry is one name in a directory. Links are not followed.
type Entry struct {
	Name  string
	IsDir bool
	Size  int64
	Mode  fs.FileMode // with type bits
}

// list returns the entries of a directory sorted by name bytes.
func (w *Workspace) list(p Path) ([]Entry, error) {
	name := w.Name(p)
	info, err := w.root(p).Lstat(p.rel)
	if err != nil {
		return nil, ioError(name, err)
	}
	if !info.IsDir() {
		return nil, &Error{Code: CodeNotRegularFile, Path: name, Message: "not a directory"}
	}
	dir, err := w.root(p).Open(p.rel)
	if err != nil {
		return nil, ioError(name, err)
	}
	defer dir.Close()
	found, err := dir.ReadDir(-1)
	if err != nil {
		return nil, ioError(name, err)
	}
	entries := make([]Entry, 0, len(found))
	for _, d := range found {
		info, err := d.Info()
		if err != nil {
			continue // gone since it was listed
		}
		entries = append(entries, Entry{Name: d.Name(), IsDir: d.IsDir(), Size: info.Size(), Mode: info.Mode()})
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name < entries[j].Name })
	return entries, nil
}

// open opens a regular file for reading. Special files are refused before they
// are opened, because opening a FIFO blocks; the check is repeated on the
// handle.
func (w *Workspace) open(p Path) (*os.File, fs.FileInfo, error) {
	name := w.Name(p)
	info, err := w.root(p).Lstat(p.rel)
	if err != nil {
		return nil, nil, ioError(name, err)
	}
	if err := regular(name, info); err != nil {
		return nil, nil, err
	}
	f, err := openAtOnce(w.root(p), p.rel, os.O_RDONLY)
	if err != nil {
		return nil, nil, ioError(name, err)
	}
	if info, err = f.Stat(); err == nil {
		err = regular(name, info)
	}
	if err != nil {
		f.Close()
		return nil, nil, ioError(name, err)
	}
	return f, info, nil
}

// openAtOnce opens a file without waiting for the other end of a FIFO. A regular
// file that this process is just writing in place has a lease for microseconds;
// that is waited for.
func openAtOnce(root *os.Root, rel string, flag int) (*os.File, error) {
	f, err := root.OpenFile(rel, flag|openNonblock, 0)
	if errors.Is(err, syscall.EAGAIN) {
		f, err = root.OpenFile(rel, flag, 0)
	}
	return f, err
}

func regular(name string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return &Error{Code: CodeIsDirectory, Path: name, Message: "is a directory"}
	case mode&fs.ModeSymlink != 0:
		return becameLink(name)
	default:
		return &Error{Code: CodeNotRegularFile, Path: name, Message: "not a regular file (" + kindOf(mode) + ")"}
	}
}

// becameLink refuses a path that stood for no link when its links were followed.
func becameLink(name string) *Error {
	return &Error{Code: CodeNotRegularFile, Path: name, Message: "became a link meanwhile"}
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}

// read returns the file on disk whole, or the link itself; Exists is false where
// there is neither.
func (w *Workspace) read(p Path) (Content, error) { return w.readLike(p, nil) }

// readLike is read. A file that holds just what like does is like: a second copy
// of a large text is not made.
func (w *Workspace) readLike(p Path, like []byte) (Content, error) {
	f, info, err := w.open(p)
	if CodeOf(err) == CodeNotRegularFile {
		if link := w.readLink(p); link.Exists {
			return link, nil
		}
	}
	if CodeOf(err) == CodeFileNotFound {
		var absent Content
		if dir, err := w.root(p).Stat(path.Dir(p.rel)); err == nil {
			absent.changed = dir.ModTime()
		}
		return absent, nil
	}
	if err != nil {
		return Content{}, err
	}
	defer f.Close()
	data, err := w.readAll(p, f, info.Size(), like)
	if err != nil {
		return Content{}, err
	}
	return Content{Exists: true, Data: data, Mode: info.Mode().Perm(), changed: info.ModTime()}, nil
}

// readLink returns the link at p; Exists is false when what is there is none.
func (w *Workspace) readLink(p Path) Content {
	info, err := w.root(p).Lstat(p.rel)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return Content{}
	}
	target, err := w.root(p).Readlink(p.rel)
	if err != nil {
		return Content{}
	}
	return Content{Exists: true, Data: []byte(target), Mode: fs.ModeSymlink | fs.ModePerm, changed: info.ModTime()}
}

// readAll reads an open file of about size bytes to its end.
func (w *Workspace) readAll(p Path, f *os.File, size int64, like []byte) ([]byte, error) {
	if size > MaxEdit {
		return nil, tooLarge(w.Name(p), size)
	}
	if len(like) >= comparing && int64(len(like)) == size {
		if same, err := holds(f, like); err != nil || same {
			return like, ioError(w.Name(p), err)
		}
	}
	data := make([]byte, 0, size+1)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if len(data) > MaxEdit {
			return nil, tooLarge(w.Name(p), int64(len(data)))
		}
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return nil, ioError(w.Name(p), err)
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

func tooLarge(name string, size int64) *Error {
	return failf(CodeTooLarge, name, "%d bytes is over the limit of %d for edited files", size, MaxEdit)
}

// writable fails with permission_denied when this process could not write the
// file at p, whatever its directory allows.
func (w *Workspace) writable(p Path) error {
	if err := mayWrite(w.root(p), p.rel); err != nil {
		return ioError(w.Name(p), err)
	}
	return nil
}

func openToWrite(root *os.Root, rel string) error {
	f, err := openAtOnce(root, rel, os.O_WRONLY)
	if err != nil {
		return err
	}
	return f.Close()
}
