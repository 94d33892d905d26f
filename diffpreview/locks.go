package diffpreview

import (
	"cmp"
	"slices"
	"sync"
)

// comparePaths orders paths by root, then by their bytes.
func comparePaths(a, b Path) int {
	return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.rel, b.rel))
}

// pathLocks is a lock per path, made when first needed.
type pathLocks struct {
	mu    sync.Mutex // guards locks
	locks map[Path]*pathLock
}

type pathLock struct {
	sync.Mutex
	users int // who hold or wait for it; guarded by pathLocks.mu
}

// lock takes the locks of paths in one order and returns what gives them back.
func (l *pathLocks) lock(paths ...Path) func() {
	paths = slices.Clone(paths)
	slices.SortFunc(paths, comparePaths)
	paths = slices.Compact(paths)
	for _, p := range paths {
		l.mu.Lock()
		if l.locks == nil {
			l.locks = map[Path]*pathLock{}
		}
		if l.locks[p] == nil {
			l.locks[p] = &pathLock{}
		}
		held := l.locks[p]
		held.users++
		l.mu.Unlock()
		held.Lock()
	}
	return func() {
		for _, p := range paths {
			l.mu.Lock()
			held := l.locks[p]
			if held.users--; held.users == 0 {
				delete(l.locks, p)
			}
			l.mu.Unlock()
			held.Unlock()
		}
	}
}
