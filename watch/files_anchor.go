package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

const (
	// maxLinks bounds the links on the way to one file; it is Linux's bound.
	maxLinks = 40

	// maxResolves bounds how often one path is resolved anew because a watch
	// was new. Each round adds the watches that the one before found wanting, so
	// a second finds nothing to do unless directories come and go meanwhile.
	maxResolves = 8
)

// step is one entry that a path leads through: name in directory dir. dir holds
// no link.
type step struct {
	dir     string
	name    string
	final   bool // the entry is the file itself, or nothing but links stand before it
	watched bool // dir needs a watch
}

func (s step) entry() string { return filepath.Join(s.dir, s.name) }

// watchedDir is one directory of Files.dirs.
type watchedDir struct {
	refs   int
	live   bool  // fsnotify has a watch on it
	remote bool  // events do not tell of all changes there
	err    error // why it is not live
}

// foldNames says that names on the usual file systems here ignore case, so an
// event may spell a name otherwise than the path did.
const foldNames = runtime.GOOS == "windows" || runtime.GOOS == "darwin"

// entryKey is what events and entries are compared by.
func entryKey(path string) string {
	if foldNames {
		return strings.ToLower(path)
	}
	return path
}

// resolve walks the way to path as the system would, through links, and returns
// every entry looked at: up to the file itself, or to the first that is missing.
// whole says that the file's directory exists.
func (f *Files) resolve(path string) (steps []step, whole bool) {
	volume := filepath.VolumeName(path)
	dir := volume + string(filepath.Separator)
	rest := splitPath(path[len(volume):])
	links := 0
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		if name == ".." { // of a link's target; dir holds no link, so this is right
			dir = filepath.Dir(dir)
			continue
		}
		s := step{dir: dir, name: name, final: len(rest) == 0}
		info, err := os.Lstat(s.entry())
		link := err == nil && info.Mode()&fs.ModeSymlink != 0
		steps = append(steps, s)
		if err != nil {
			break
		}
		if link {
			target, err := os.Readlink(s.entry())
			if links++; err != nil || links > maxLinks {
				break
			}
			if filepath.IsAbs(target) {
				volume = filepath.VolumeName(target)
				dir = volume + string(filepath.Separator)
				target = target[len(volume):]
			}
			rest = append(splitPath(target), rest...)
			continue
		}
		if len(rest) > 0 && !isDirectory(s.entry(), info) {
			break
		}
		dir = s.entry()
	}
	for i := range steps {
		steps[i].watched = i == len(steps)-1 || f.insideRoots(steps[i].entry())
	}
	return steps, len(steps) > 0 && steps[len(steps)-1].final
}

func splitPath(path string) []string {
	return slices.DeleteFunc(strings.Split(filepath.ToSlash(path), "/"), func(part string) bool {
		return part == "" || part == "."
	})
}

// isDirectory also takes what Windows calls a junction, which Lstat does not
// call a directory.
func isDirectory(path string, info fs.FileInfo) bool {
	if info.IsDir() {
		return true
	}
	if info.Mode()&fs.ModeIrregular == 0 {
		return false
	}
	target, err := os.Stat(path)
	return err == nil && target.IsDir()
}

// insideRoots reports whether path is a root or below one; without roots
// everything is.
func (f *Files) insideRoots(path string) bool {
	if len(f.roots) == 0 {
		return true
	}
	path = entryKey(path)
	for _, root := range f.roots {
		rest, ok := strings.CutPrefix(path, root)
		if ok && (rest == "" || os.IsPathSeparator(rest[0]) || os.IsPathSeparator(root[len(root)-1])) {
			return true
		}
	}
	return false
}

// anchor makes the watches fit what stands on the way to the file now. The
// caller holds anchoring. A new watch comes first and the look after it, so
// nothing that happens between the two is missed.
func (f *Files) anchor(w *watchedFile) {
	for range maxResolves {
		steps, whole := f.resolve(w.path)
		f.mu.Lock()
		f.setSteps(w, steps)
		f.mu.Unlock()
		fresh, reason := f.watchSteps(w, steps)
		if fresh {
			continue
		}
		f.settle(w, whole, reason)
		return
	}
	f.settle(w, false, errRestless)
}

// settle records how a file is anchored.
func (f *Files) settle(w *watchedFile, whole bool, reason error) {
	f.mu.Lock()
	gone := w.whole && !whole
	before := w.reason
	w.whole, w.reason = whole, reason
	w.had = w.had || whole
	f.mu.Unlock()
	if gone {
		f.logger.Info("directory of a watched file is gone", "path", w.path)
	}
	if reason != nil && (before == nil || before.Error() != reason.Error()) {
		f.logger.Warn("file is polled", "path", w.path, "reason", reason)
	}
}

// setSteps replaces the entries that concern a file. The caller holds mu.
func (f *Files) setSteps(w *watchedFile, steps []step) {
	for _, s := range w.steps {
		key := entryKey(s.entry())
		if delete(f.deps[key], w); len(f.deps[key]) == 0 {
			delete(f.deps, key)
		}
	}
	w.steps = steps
	for i, s := range steps {
		key := entryKey(s.entry())
		if f.deps[key] == nil {
			f.deps[key] = map[*watchedFile]dep{}
		}
		d, known := f.deps[key][w]
		if !known {
			d.first = i
		}
		d.final = d.final || s.final
		f.deps[key][w] = d
	}
}

// watchSteps watches the directories of steps, the upper first. fresh says that
// a watch is new or a directory vanished: the path has to be resolved again.
// reason is why the file has to be polled.
func (f *Files) watchSteps(w *watchedFile, steps []step) (fresh bool, reason error) {
	var want []string
	for _, s := range steps {
		if s.watched && !slices.Contains(want, s.dir) {
			want = append(want, s.dir)
		}
	}
	f.hold(w, want)
	for _, dir := range want {
		added, err := f.ensure(dir)
		switch {
		case added:
			fresh = true
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
			fresh = true
		case err != nil && reason == nil:
			reason = err
		case f.dirs[dir].remote && reason == nil:
			reason = errRemote
		}
	}
	return fresh, reason
}

// hold makes want the directories that the file keeps watched, and lets go of
// the others. The caller holds anchoring.
func (f *Files) hold(w *watchedFile, want []string) {
	for _, dir := range want {
		if slices.Contains(w.dirs, dir) {
			continue
		}
		if f.dirs[dir] == nil {
			f.dirs[dir] = &watchedDir{}
		}
		f.dirs[dir].refs++
	}
	for _, dir := range w.dirs {
		if slices.Contains(want, dir) {
			continue
		}
		d := f.dirs[dir]
		if d.refs--; d.refs > 0 {
			continue
		}
		f.unwatch(dir, d)
		delete(f.dirs, dir)
		f.takeStale(dir)
	}
	w.dirs = want
}

// takeStale reports whether the watch of dir may sit on what was there before,
// and forgets it.
func (f *Files) takeStale(dir string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	was := f.stale[dir]
	delete(f.stale, dir)
	return was
}

// ensure gives dir a live watch. added says that it has a new one. A stale watch
// is removed first: fsnotify would keep its old path and lose its events.
func (f *Files) ensure(dir string) (added bool, err error) {
	d := f.dirs[dir]
	if f.takeStale(dir) {
		f.unwatch(dir, d)
	}
	if d.live {
		return false, nil
	}
	if d.err = f.watchable(); d.err == nil {
		d.err = f.notify.Add(dir)
	}
	if d.err != nil {
		return false, fmt.Errorf("watching %s: %w", dir, d.err)
	}
	d.live, d.remote = true, eventless(dir)
	return true, nil
}

// watchable returns why no watch can be had at all, or nil.
func (f *Files) watchable() error {
	if f.noNotify != nil {
		return f.noNotify
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead {
		return errDead
	}
	return nil
}

func (f *Files) unwatch(dir string, d *watchedDir) {
	if !d.live {
		return
	}
	d.live = false
	// fsnotify drops a watch by itself when its directory goes, so that is no
	// error; nor does any other leave something to do.
	if err := f.notify.Remove(dir); err != nil && !errors.Is(err, fsnotify.ErrNonExistentWatch) {
		f.logger.Debug("removing a watch", "dir", dir, "error", err)
	}
}
