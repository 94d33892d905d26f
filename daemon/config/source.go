package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Source gives the configuration as it is now, and reads a file again only when
// it has changed.
type Source struct {
	origin Origin

	mu       sync.Mutex // guards the fields below
	texts    []text     // the record of trust, the user's, then each workspace's
	readAt   []time.Time
	config   Config
	problems []Problem
	version  int
}

// NewSource reads nothing yet; the parameters are those of Load.
func NewSource(userPath string, roots []string) *Source {
	return NewSourceOf(Origin{User: userPath, Roots: roots})
}

// NewSourceOf reads nothing yet.
func NewSourceOf(o Origin) *Source {
	o.Roots = slices.Clone(o.Roots)
	return &Source{origin: o}
}

// firstRoot is where the workspaces begin among the texts.
const firstRoot = 2

// settledAfter is how old a file's time must be when it is read for the same
// time to mean the same content: file systems' clocks tick every 2 s at worst
// (FAT), and a write within the tick leaves no trace.
const settledAfter = 3 * time.Second

// Current returns the configuration and what is wrong with it. The version is
// raised by each change of a file, so that a caller can tell whether it has seen
// this one. The values are shared: they are not to be changed.
func (s *Source) Current() (c Config, problems []Problem, version int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.texts == nil {
		s.texts = make([]text, firstRoot+len(s.origin.Roots))
		s.readAt = make([]time.Time, len(s.texts))
	}
	changed := s.version == 0
	for i := range s.texts {
		if s.unchanged(i) {
			continue
		}
		now := time.Now()
		fresh := s.read(i)
		changed = changed || fresh.failed != s.texts[i].failed || string(fresh.data) != string(s.texts[i].data) || fresh.stat.exists != s.texts[i].stat.exists
		s.texts[i], s.readAt[i] = fresh, now
	}
	if changed {
		s.config, s.problems = s.origin.merge(texts{s.texts[0], s.texts[1], s.texts[firstRoot:]})
		s.version++
	}
	return s.config, s.problems, s.version
}

// path is where the i-th text is; "" for one that is not asked for. Those of the
// workspaces are found by their roots.
func (s *Source) path(i int) string {
	if i == 0 {
		return s.origin.Trust
	}
	return s.origin.User
}

// UserChanged reports whether the user's file may be other than Current has it. It
// costs one look at the file.
func (s *Source) UserChanged() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.texts == nil || !s.unchanged(1)
}

func (s *Source) read(i int) text {
	switch {
	case i >= firstRoot:
		return readWorkspace(s.origin.Roots[i-firstRoot])
	case s.path(i) == "":
		return text{}
	case i == 0:
		return readTrust(s.path(i))
	}
	return readUser(s.path(i))
}

// unchanged reports whether a file is surely as it was when it was read.
func (s *Source) unchanged(i int) bool {
	t := s.texts[i]
	if s.readAt[i].IsZero() || t.failed != "" {
		return false
	}
	if i < firstRoot && s.path(i) == "" {
		return true
	}
	if !t.stat.exists {
		return isAbsent(s.look(i, true))
	}
	info, err := s.look(i, false)
	if err != nil || !(stat{true, info}).same(t.stat) {
		return false
	}
	return s.readAt[i].Sub(info.ModTime()) > settledAfter
}

// isAbsent takes what lstat returned.
func isAbsent(_ fs.FileInfo, err error) bool {
	return errors.Is(err, fs.ErrNotExist) || isNotDir(err)
}

// look asks for a file's metadata: of the link itself, or of what it leads to.
func (s *Source) look(i int, link bool) (fs.FileInfo, error) {
	if i < firstRoot {
		if link {
			return os.Lstat(s.path(i))
		}
		return os.Stat(s.path(i))
	}
	dir, err := os.OpenRoot(s.origin.Roots[i-firstRoot])
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	name := filepath.Join(loomDir, fileName)
	if link {
		return dir.Lstat(name)
	}
	return dir.Stat(name)
}
