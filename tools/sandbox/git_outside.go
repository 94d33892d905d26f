package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/loomd/loomd/watch"
)

// gitdirPrefix begins a .git that is a file: it names the git directory.
const gitdirPrefix = "gitdir: "

// outsideGit is the git directory of a working tree in a root that lies outside of all
// roots: of a linked worktree, or of a submodule whose repository is above. Commands get
// a private one instead, since what they write into that would be no copy. Its objects
// are read where they are.
type outsideGit struct {
	from    string           // the git directory, absolute
	private string           // the one that commands use, absolute
	work    string           // the working tree in the copy, absolute
	sources map[string]stamp // of what the private one was made of, by absolute path
	made    map[string]stamp // of what is in the private one
}

// notPrivate are the entries of a git directory that a private one does without: objects
// are read where they are, the others are other working trees' or nobody's.
var notPrivate = []string{"objects", "worktrees", "modules", "lfs", "commondir", "gitdir", "fsmonitor--daemon.ipc", "fsmonitor--daemon"}

// gitPointer returns what a .git leads to when that lies outside of all roots: link is
// the target of one that is a link, text what one that is a file says. rel is the
// directory that it is in.
func (r *rootCopy) gitPointer(rel, link, text string) (from string, outside bool) {
	to := link
	if to == "" {
		named, ok := strings.CutPrefix(text, gitdirPrefix)
		if !ok {
			return "", false
		}
		to = strings.TrimRight(named, "\r\n")
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(r.root.Path, filepath.FromSlash(rel), filepath.FromSlash(to))
	}
	if real, err := filepath.EvalSymlinks(to); err == nil {
		to = real
	}
	_, inside := r.opts.View.Workspace().FromAbs(to)
	return to, !inside
}

// gitOutside puts a pointer to a private git directory where the tree's .git leads out of
// all roots. ok is false when it does not, and is copied like any file.
func (b *bringing) gitOutside(n *node, name string, st stamp) (ok bool, err error) {
	src, err := n.source()
	if err != nil {
		return false, unlessGone(err)
	}
	var target string
	var text []byte
	if st.kind == link {
		target, err = src.Readlink(name)
	} else if st.size < 1<<16 {
		text, err = src.ReadFile(name)
	}
	if err != nil {
		return false, unlessGone(err)
	}
	from, outside := b.gitPointer(n.rel, target, string(text))
	rel := join(n.rel, name)
	if !outside {
		inward, moved := b.gitInward(string(text))
		if !moved {
			return false, nil
		}
		return true, b.pointer(n, name, st, inward)
	}
	b.mu.Lock()
	g := b.gits[rel]
	if g == nil || g.from != from {
		b.Copy.gitDirs++
		g = &outsideGit{
			from: from, private: filepath.Join(b.dir, "git-"+strconv.Itoa(b.Copy.gitDirs)),
			work: filepath.Join(b.files(), b.name, filepath.FromSlash(n.rel)),
		}
		b.gits[rel] = g
	}
	b.mu.Unlock()
	return true, b.pointer(n, name, st, gitdirPrefix+g.private+"\n")
}

// gitInward is the text of a .git that names a git directory in a root by its absolute
// path, leading into the copy instead.
func (c *Copy) gitInward(text string) (inward string, moved bool) {
	named, ok := strings.CutPrefix(text, gitdirPrefix)
	to := strings.TrimRight(named, "\r\n")
	if !ok || c.inward(to) == to {
		return "", false
	}
	return gitdirPrefix + c.inward(to) + "\n", true
}

// pointer writes a .git that is a file.
func (b *bringing) pointer(n *node, name string, st stamp, text string) error {
	rec := b.record(join(n.rel, name))
	there, mine, err := b.mine(n, name, rec)
	if err != nil || !mine {
		return err
	}
	dst, err := b.dest(n)
	if err != nil {
		return unlessBusy(err)
	}
	now, err := b.write.bytes(placed{dst, name, there}, []byte(text), newMode, st.mtime)
	if err != nil {
		return err
	}
	b.pack.drop(rec.body)
	*rec = record{copy: now, tree: st, seen: b.run}
	return nil
}

// renewGits brings the private git directories in step. It leaves those alone that a
// running command may use.
func (b *bringing) renewGits() error {
	for rel, g := range b.gits {
		if rec := b.records[rel]; rec == nil || rec.seen != b.run {
			delete(b.gits, rel)
			if err := Remove(g.private); err != nil {
				return err
			}
			continue
		}
		if !b.alone && g.made != nil {
			continue
		}
		if g.made != nil && g.same(g.made, g.private) && g.same(g.sources, g.common(), g.from) {
			continue
		}
		if err := g.make(); err != nil {
			return fmt.Errorf("making a private git directory for commands: %w", err)
		}
	}
	return nil
}

// gitsChanged reports whether a command has changed one of the private git directories.
func (r *rootCopy) gitsChanged() bool {
	for _, g := range r.gits {
		if g.made != nil && !g.same(g.made, g.private) {
			return true
		}
	}
	return false
}

// common is the git directory that g shares with other working trees.
func (g *outsideGit) common() string {
	data, err := watch.ReadGitFile(filepath.Join(g.from, "commondir"))
	if err != nil {
		return g.from
	}
	dir := strings.TrimSpace(string(data))
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(g.from, dir)
	}
	return dir
}

// stamps are those of all files in git directories that a private one is made of.
func stamps(dirs ...string) map[string]stamp {
	out := map[string]stamp{}
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
			rel, _ := filepath.Rel(dir, name)
			switch {
			case err != nil: // it went meanwhile
				return nil
			case rel != "." && !strings.Contains(rel, string(filepath.Separator)) && slices.Contains(notPrivate, rel):
				if e.IsDir() {
					return fs.SkipDir
				}
				return nil
			case !e.Type().IsRegular() || isLock(rel):
				return nil
			}
			if info, err := e.Info(); err == nil {
				out[name] = stampOf(info, time.Now())
			}
			return nil
		})
	}
	return out
}

// same reports whether the files in directories are as they were.
func (g *outsideGit) same(was map[string]stamp, dirs ...string) bool {
	now := stamps(dirs...)
	for name, st := range now {
		if old, ok := was[name]; !ok || !old.same(st) {
			return false
		}
	}
	return len(now) == len(was)
}

// make makes the private git directory anew.
func (g *outsideGit) make() error {
	if err := Remove(g.private); err != nil {
		return err
	}
	common := g.common()
	g.sources = stamps(common, g.from)
	for _, dir := range []string{"objects/info", "refs"} {
		if err := os.MkdirAll(filepath.Join(g.private, dir), 0o700); err != nil {
			return err
		}
	}
	for _, from := range slices.Compact([]string{common, g.from}) { // a working tree's own go over those that are shared
		for name := range g.sources {
			rel, err := filepath.Rel(from, name)
			if err != nil || !filepath.IsLocal(rel) || slices.Contains(notPrivate, strings.Split(filepath.ToSlash(rel), "/")[0]) {
				continue
			}
			if err := copyFile(name, filepath.Join(g.private, rel)); err != nil {
				return err
			}
		}
	}
	objects := filepath.Join(common, "objects")
	if err := os.WriteFile(filepath.Join(g.private, "objects/info/alternates"), []byte(quoteAlternate(objects)+"\n"), 0o600); err != nil {
		return err
	}
	if err := g.configure(); err != nil {
		return err
	}
	g.made = stamps(g.private)
	return nil
}

// configure says in the private configuration where the working tree is.
func (g *outsideGit) configure() error {
	for _, name := range []string{"config", "config.worktree"} {
		f, err := os.OpenFile(filepath.Join(g.private, name), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(f, "\n[core]\n\tbare = false\n\tworktree = %s\n", strconv.Quote(g.work))
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// quoteAlternate writes a path as a line of a list of alternates.
func quoteAlternate(p string) string {
	if strings.ContainsAny(p, "\"\\\n") || strings.HasPrefix(p, "#") {
		return strconv.Quote(p)
	}
	return p
}

// copyFile copies a file of a git directory. That it went meanwhile is no error.
func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return nil
	}
	return os.Chtimes(to, time.Time{}, info.ModTime())
}
