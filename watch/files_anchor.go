package watch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

const (
	// maxLinks bounds the links on the way to one file; it is Linux's bound.
	maxLinks = 40

	// maxResolves bounds how often one path is resolved anew because the way or
	// a watch was new. The second round finds nothing to do unless directories
	// come and go meanwhile.
	maxResolves = 8
)

// step is one entry that a path leads through: name in directory dir. dir holds
// no link.
type step struct {
	dir     string
	name    string
	final   bool // the way ends here: the file itself, or a link to it
	watched bool // dir needs a watch
}

func (s step) entry() string { return filepath.Join(s.dir, s.name) }

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
	return slices.ContainsFunc(f.roots, func(root string) bool { return isWithin(path, root) })
}

// isWithin reports whether path is dir or below it; both are clean.
func isWithin(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || os.IsPathSeparator(rest[0]) || os.IsPathSeparator(dir[len(dir)-1]))
}

// anchor makes the watches fit what stands on the way to the file now. The
// caller holds anchoring. It ends when a look at the way finds what an earlier
// one did, with the events of all its entries awaited and all its directories
// watched since: so nothing that happens meanwhile is missed.
func (f *Files) anchor(w *watchedFile) {
	for range maxResolves {
		steps, whole := f.resolve(w.path)
		f.mu.Lock()
		known := slices.Equal(w.steps, steps)
		if !known {
			f.setSteps(w, steps)
		}
		f.mu.Unlock()
		fresh, reason := f.watchSteps(w, steps)
		if fresh || !known {
			continue
		}
		f.settle(w, whole, reason)
		return
	}
	f.settle(w, false, errRestless)
}

// settle records how a file is anchored. Each reason to poll is logged once.
func (f *Files) settle(w *watchedFile, whole bool, reason error) {
	f.mu.Lock()
	gone := w.whole && !whole
	w.whole, w.reason = whole, reason
	w.had = w.had || whole
	f.mu.Unlock()
	if gone {
		f.logger.Info("directory of a watched file is gone", "path", w.path)
	}
	if reason == nil {
		return
	}
	f.mu.Lock()
	known := f.told[reason.Error()]
	f.told[reason.Error()] = true
	f.mu.Unlock()
	if !known {
		f.logger.Warn("files are polled", "first", w.path, "reason", explain(reason))
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
	for _, s := range steps {
		key := entryKey(s.entry())
		if f.deps[key] == nil {
			f.deps[key] = map[*watchedFile]bool{}
		}
		f.deps[key][w] = f.deps[key][w] || s.final
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
	f.dropStale()
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
