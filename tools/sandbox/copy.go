package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools"
)

// Options say what a [Copy] is of.
type Options struct {
	View *diffpreview.View
	// Dir is where the copy is made: absolute, outside of every root, its parent an
	// existing private directory. What is there already is removed.
	Dir string
	// Discard is for sessions that may run commands and change nothing: what a command
	// leaves is not proposed but taken back, ignored files, too.
	Discard bool
	Logger  *slog.Logger
}

// Copy is a private copy of a session's view. It implements [tools.Sandbox]; its methods
// may be called from any goroutine. Nothing is made before the first Begin.
type Copy struct {
	opts   Options
	logger *slog.Logger
	write  writer

	// turn holds a token while somebody works on the copy. Who has it may use the fields
	// below.
	turn    chan struct{}
	dir     string // of opts, links resolved
	roots   []*rootCopy
	pack    *pack
	packs   int  // made so far
	gitDirs int  // likewise, private git directories; guarded by a bringing's mu, too
	active  int  // Workdirs that have not ended
	astray  bool // what a command left could not be read: the records do not tell it
	closed  bool
}

// rootCopy is the copy of one root.
type rootCopy struct {
	*Copy
	root    diffpreview.Root
	name    string   // of the directory in the copy
	tree    *os.Root // which is only read
	copy    *os.Root
	id      fs.FileInfo // of copy
	records map[string]*record
	gits    map[string]*outsideGit // by the path of their .git
	run     uint32                 // number of the last walk
	ruled   atomic.Bool            // ignore rules may have changed since the last End
}

var _ tools.Sandbox = (*Copy)(nil)

// New returns the copy of a view, which [Copy.Close] removes.
func New(o Options) *Copy {
	c := &Copy{opts: o, logger: o.Logger, turn: make(chan struct{}, 1)}
	if c.logger == nil {
		c.logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// take waits for the turn.
func (c *Copy) take(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case c.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Copy) give() { <-c.turn }

// files is the directory that holds the roots' copies.
func (c *Copy) files() string { return filepath.Join(c.dir, "files") }

// Begin implements [tools.Sandbox]. Beside those of the view's Resolve its failures are
// unavailable, file_not_found, not_regular_file (cwd is a file), no_space and io.
func (c *Copy) Begin(ctx context.Context, cwd string) (tools.Workdir, error) {
	if err := c.take(ctx); err != nil {
		return nil, err
	}
	defer c.give()
	if c.closed {
		return nil, closedError()
	}
	at, err := c.startIn(cwd)
	if err != nil {
		return nil, err
	}
	if err := c.prepare(); err != nil {
		return nil, failure(err)
	}
	if err := c.inStep(ctx); err != nil {
		return nil, failure(err)
	}
	start, err := c.enter(at, cwd)
	if err != nil {
		return nil, err
	}
	c.active++
	return &workdir{copy: c, dir: start}, nil
}

func closedError() error {
	return &diffpreview.Error{Code: diffpreview.CodeUnavailable, Message: "the session is closed", Hint: "connect again for a new session"}
}

// failure gives an error of the file system its code.
func failure(err error) error {
	var e *diffpreview.Error
	switch {
	case errors.As(err, &e), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return &diffpreview.Error{
			Code: diffpreview.CodeNoSpace, Message: "no space left for the copy of the workspace that commands run in: " + err.Error(), Err: err,
		}
	}
	return &diffpreview.Error{Code: diffpreview.CodeIO, Message: err.Error(), Err: err}
}

// startIn is the place that a cwd means. It may also be a path of the copy, as commands
// print them.
func (c *Copy) startIn(cwd string) (diffpreview.Path, error) {
	if cwd == "" {
		cwd = c.opts.View.Workspace().Roots()[0].Path
	}
	return c.opts.View.Resolve(c.outward(cwd))
}

// enter finds the directory of the copy that is a place of the view.
func (c *Copy) enter(at diffpreview.Path, cwd string) (string, error) {
	ws := c.opts.View.Workspace()
	index, rel := ws.Place(at)
	r := c.roots[index]
	if r.copy == nil {
		return "", &diffpreview.Error{Code: diffpreview.CodeUnavailable, Path: cwd, Message: "the folder is not there"}
	}
	info, err := r.copy.Stat(rel)
	switch {
	case err != nil:
		return "", &diffpreview.Error{Code: diffpreview.CodeFileNotFound, Path: cwd, Message: "no such directory"}
	case !info.IsDir():
		return "", &diffpreview.Error{Code: diffpreview.CodeNotRegularFile, Path: cwd, Message: "not a directory"}
	}
	return filepath.Join(c.files(), r.name, filepath.FromSlash(rel)), nil
}

// prepare makes what the copy needs at its first use.
func (c *Copy) prepare() error {
	if c.roots != nil {
		return nil
	}
	if err := Remove(c.opts.Dir); err != nil {
		return err
	}
	if err := os.Mkdir(c.opts.Dir, 0o700); err != nil {
		return fmt.Errorf("making the session's copy: %w", err)
	}
	var err error
	if c.dir, err = filepath.EvalSymlinks(c.opts.Dir); err != nil {
		return fmt.Errorf("making the session's copy: %w", err)
	}
	if err := os.Mkdir(c.files(), 0o700); err != nil {
		return fmt.Errorf("making the session's copy: %w", err)
	}
	if err := c.renewPack(); err != nil {
		return err
	}
	used := map[string]bool{}
	var roots []*rootCopy
	for _, root := range c.opts.View.Workspace().Roots() {
		name := filepath.Base(root.Path)
		if name == string(filepath.Separator) {
			name = "root"
		}
		for n, base := 2, name; used[strings.ToLower(name)]; n++ {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		used[strings.ToLower(name)] = true
		roots = append(roots, &rootCopy{Copy: c, root: root, name: name})
	}
	c.roots = roots
	return nil
}

// renewPack makes a new pack, of what the old one has that is still needed.
func (c *Copy) renewPack() error {
	c.packs++
	p, err := makePack(filepath.Join(c.dir, fmt.Sprintf("base-%d", c.packs)))
	if err != nil {
		return err
	}
	for _, r := range c.roots {
		for _, rec := range r.records {
			if !rec.body.packed {
				continue
			}
			data, err := c.pack.read(rec.body.at, rec.body.size)
			if err == nil {
				rec.body, err = p.put(data)
			}
			if err != nil { // some are in the new one already
				rec.body = body{}
			}
		}
	}
	if c.pack != nil {
		old := c.pack.file.Name()
		err = errors.Join(c.pack.close(), os.Remove(old))
	}
	c.pack = p
	return err
}

// inStep brings the copy in step with the view.
func (c *Copy) inStep(ctx context.Context) error {
	if err := dismount(c.files()); err != nil {
		return err
	}
	alone := c.active == 0
	if alone && c.pack.wasteful() {
		if err := c.renewPack(); err != nil {
			return err
		}
	}
	over := make([]map[string]diffpreview.Content, len(c.roots))
	for i := range over {
		over[i] = map[string]diffpreview.Content{}
	}
	for _, o := range c.opts.View.Overlaid() {
		if o.Err == nil { // else the view shows what the tree has there
			root, rel := c.opts.View.Workspace().Place(o.Path)
			over[root][rel] = o.Now
		}
	}
	for i, r := range c.roots {
		if _, err := c.opts.View.Resolve(r.root.Path); err != nil {
			if len(c.roots) == 1 {
				return err
			}
			c.logger.Warn("A folder is not there for commands", "root", r.root.Path, "error", err)
			continue
		}
		if err := r.open(alone); err != nil {
			return err
		}
		if alone && c.astray {
			if err := r.takeStock(ctx); err != nil {
				return err
			}
		}
		if err := r.bring(ctx, alone, over[i]); err != nil {
			return err
		}
	}
	if alone {
		c.astray = false
	}
	return nil
}

// open opens the root and its copy, which is made when it is not there: a command may
// have put something else in its place.
func (r *rootCopy) open(alone bool) (err error) {
	if r.tree == nil {
		if r.tree, err = os.OpenRoot(r.root.Path); err != nil {
			return fmt.Errorf("opening %s: %w", r.root.Path, err)
		}
	}
	place := filepath.Join(r.files(), r.name)
	if r.copy != nil {
		if now, err := os.Lstat(place); err == nil && os.SameFile(now, r.id) || !alone {
			return nil
		}
		r.copy.Close()
		r.copy = nil
	}
	if err := Remove(place); err != nil {
		return err
	}
	if err := os.Mkdir(place, 0o700); err != nil {
		return fmt.Errorf("making the session's copy: %w", err)
	}
	if r.copy, err = os.OpenRoot(place); err != nil {
		return fmt.Errorf("opening the session's copy: %w", err)
	}
	for _, rec := range r.records {
		r.pack.drop(rec.body)
	}
	r.records, r.gits = map[string]*record{}, map[string]*outsideGit{}
	r.id, err = r.copy.Stat(".")
	return err
}

// Close removes the copy. A Workdir that has not ended proposes nothing any more.
func (c *Copy) Close() error {
	c.turn <- struct{}{}
	defer c.give()
	if c.closed {
		return nil
	}
	c.closed = true
	if c.roots == nil && c.pack == nil {
		return nil
	}
	var errs []error
	for _, r := range c.roots {
		for _, dir := range []*os.Root{r.tree, r.copy} {
			if dir != nil {
				errs = append(errs, dir.Close())
			}
		}
		r.records = nil
	}
	if c.pack != nil {
		errs = append(errs, c.pack.close())
	}
	return errors.Join(append(errs, Remove(c.opts.Dir))...)
}

// named is a path of the root as the agent knows it.
func (r *rootCopy) named(rel string) string {
	p, ok := r.place(rel)
	if !ok {
		return strings.ToValidUTF8(rel, "\uFFFD")
	}
	return strings.ToValidUTF8(r.opts.View.Name(p), "\uFFFD")
}

// place is a path of the root as the view knows it. Its links are not followed: below
// the copy there are none on the way.
func (r *rootCopy) place(rel string) (diffpreview.Path, bool) {
	return r.opts.View.Workspace().FromAbs(filepath.Join(r.root.Path, filepath.FromSlash(rel)))
}

// inward is a link's target as the copy has it: what leads into a root by an absolute
// path leads into its copy.
func (c *Copy) inward(target string) string {
	if !filepath.IsAbs(target) {
		return target
	}
	p, ok := c.opts.View.Workspace().FromAbs(target)
	if !ok {
		return target
	}
	root, rel := c.opts.View.Workspace().Place(p)
	return filepath.Join(c.files(), c.roots[root].name, filepath.FromSlash(rel))
}

// outward is the inverse of inward, for any path. What leads elsewhere stays.
func (c *Copy) outward(target string) string {
	rel, err := filepath.Rel(c.files(), target)
	if c.roots == nil || !filepath.IsAbs(target) || err != nil || !filepath.IsLocal(rel) {
		return target
	}
	first, rest, _ := strings.Cut(filepath.ToSlash(rel), "/")
	i := slices.IndexFunc(c.roots, func(r *rootCopy) bool { return r.name == first })
	if i < 0 {
		return target
	}
	return filepath.Join(c.roots[i].root.Path, filepath.FromSlash(rest))
}
