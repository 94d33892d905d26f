package sandbox

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools"
)

// maxTotal bounds the bytes of all files that one command's changes are read into
// memory for. A proposal stays there until it is decided.
const maxTotal = 1 << 30

// change is a file or link that a command made, changed or removed.
type change struct {
	found
	path       diffpreview.Path
	base, mine diffpreview.Content
	known      bool    // base is; else it is not there any more
	to         *change // the new file that has its bytes: it was moved there
	moved      bool    // it is the place that another one was moved to
	clash      bool    // it could not be merged
	// carries is, of a new file that another one is moved to in two steps, what others
	// have made of that one.
	carries *diffpreview.Content
}

// ending is the end of one command.
type ending struct {
	*Copy
	left    tools.Left
	rules   map[*rootCopy]*rules // of the copy, as the command left it
	changes []*change
	total   int64
	plain   map[string]bool // directories, absolute: no link leads there
}

// end finds what commands left and proposes it.
func (c *Copy) end(ctx context.Context, call diffpreview.Call) (tools.Left, error) {
	e := &ending{Copy: c, rules: map[*rootCopy]*rules{}, plain: map[string]bool{}}
	if err := dismount(c.files()); err != nil {
		c.astray = true
		return tools.Left{}, err
	}
	var all []found
	for _, r := range c.roots {
		if r.copy == nil {
			continue
		}
		some, err := r.scan(context.WithoutCancel(ctx))
		if errors.Is(err, errRootGone) {
			e.refuse(r, ".", diffpreview.CodeIO, err.Error()+"; it is put back")
			c.astray = true
			continue
		}
		if err != nil {
			c.astray = true
			return tools.Left{}, err
		}
		e.rules[r] = newRules(r.root.Path, r.copy)
		all = append(all, r.withUncovered(some, e.rules[r])...)
	}
	for _, r := range c.roots {
		e.left.GitDiscarded = e.left.GitDiscarded || r.gitsChanged()
	}
	if err := ctx.Err(); err != nil || c.opts.Discard {
		for i := range all {
			all[i].putBack()
		}
		return tools.Left{}, err
	}
	for i := range all {
		e.sort(all[i])
	}
	e.pair()
	err := e.propose(ctx, call)
	slices.SortFunc(e.left.Steps, func(a, b diffpreview.Step) int { return strings.Compare(a.Proposal.Name, b.Proposal.Name) })
	slices.SortFunc(e.left.Refused, func(a, b tools.Refusal) int { return strings.Compare(a.Path, b.Path) })
	return e.left, err
}

// withUncovered adds to what a scan found the session's own files that the ignore rules
// do not leave out any more.
func (r *rootCopy) withUncovered(all []found, rules *rules) []found {
	ruled := slices.ContainsFunc(all, func(f found) bool { return isRules(path.Base(f.rel)) && !inGit(f.rel) })
	if !r.ruled.Swap(false) && !ruled {
		return all
	}
	known := make(map[string]bool, len(all))
	for i := range all {
		known[all[i].rel] = true
	}
	for rel, rec := range r.records {
		isFile := rec.copy.kind == file || rec.copy.kind == link || rec.copy.kind == none && (rec.tree.kind == file || rec.tree.kind == link)
		if rec.left && isFile && !known[rel] && !rules.ignored(rel, false) {
			all = append(all, found{rootCopy: r, rel: rel, rec: rec, now: rec.copy})
		}
	}
	slices.SortFunc(all, func(a, b found) int { return strings.Compare(a.rel, b.rel) })
	return all
}

func (e *ending) refuse(r *rootCopy, rel string, code diffpreview.Code, message string) {
	e.left.Refused = append(e.left.Refused, tools.Refusal{Path: r.named(rel), Code: string(code), Message: message})
}

// reject refuses a path, which is put back.
func (e *ending) reject(f *found, code diffpreview.Code, message string) {
	e.refuse(f.rootCopy, f.rel, code, message)
	f.putBack()
}

// sort decides what a path that differs is.
func (e *ending) sort(f found) {
	was := none
	if f.rec != nil {
		was = f.rec.copy.kind
	}
	same := f.rec != nil && f.rec.copy.same(f.now) // changed so recently that only its bytes could tell
	if inGit(f.rel) {
		if !same {
			e.left.GitDiscarded = true
			f.putBack()
		}
		return
	}
	if same && f.rec.reset {
		return // it was told
	}
	isDir := f.now.kind == dir || f.now.kind == none && was == dir
	if e.rules[f.rootCopy].ignored(f.rel, isDir) {
		if !isDir && !same {
			e.left.Ignored++
		}
		if !same {
			f.keep()
		}
		return
	}
	switch {
	case f.now.kind == dir:
		e.directory(f, was)
	case f.now.kind == none && was == dir:
		f.keep()
	case !utf8.ValidString(f.rel):
		e.reject(&f, diffpreview.CodeUnsupportedEncoding, "its name is not UTF-8; give it another one")
	case f.now.kind == special:
		e.reject(&f, diffpreview.CodeNotRegularFile, "a named pipe, a socket or a device cannot be proposed")
	default:
		e.file(f)
	}
}

// directory takes note of a directory that is new or has other rights.
func (e *ending) directory(f found, was kind) {
	switch {
	case was == dir && f.rec.tree.kind == dir && f.rec.copy.mode != f.now.mode:
		e.reject(&f, diffpreview.CodeNotRegularFile, "the mode of a directory cannot be proposed")
	case f.closed && was == dir:
		f.rec.copy = f.now // what is in it is as it was, for all that is known
	case f.closed:
		e.refuse(f.rootCopy, f.rel, diffpreview.CodePermissionDenied, "the directory cannot be read, and what is in it cannot be proposed")
		f.keep()
	case was == file || was == link: // that is gone, and this is a directory
		e.file(f)
	default:
		f.keep()
	}
}

// file makes a change of a path that has, or had, a file or a link.
func (e *ending) file(f found) {
	p, ok := f.place(f.rel)
	if !ok {
		e.reject(&f, diffpreview.CodePathOutsideWorkspace, "outside the workspace")
		return
	}
	c := &change{found: f, path: p}
	if err := e.Copy.opts.View.Workspace().Protected(p); err != nil {
		e.fail(c, err)
		return
	}
	if !e.plainAbove(c) {
		e.reject(&c.found, diffpreview.CodeConflict, "the way there leads through a link by now")
		return
	}
	mine, err := f.read(maxTotal - e.total)
	if errors.Is(err, errSwapped) {
		return // something is at work on it: the next End sees that
	}
	if err != nil {
		e.fail(c, err)
		return
	}
	c.mine = mine
	c.base, c.known = f.base()
	if c.known && sameBytes(c.base, c.mine) && (!c.mine.Exists || c.mine.IsLink() || modeOf(c.base) == modeOf(c.mine)) {
		rec := f.record() // it was written anew, as it was
		rec.copy, rec.left, rec.reset = f.now, false, false
		return
	}
	e.total += int64(len(c.mine.Data) + len(c.base.Data))
	e.changes = append(e.changes, c)
}

// fail refuses a change for an error, and puts back what it is of.
func (e *ending) fail(c *change, err error) {
	var known *diffpreview.Error
	message := err.Error()
	if errors.As(err, &known) {
		message = strings.TrimPrefix(known.Error(), known.Path+": ")
	}
	e.reject(&c.found, diffpreview.CodeOf(failure(err)), message)
}

// plainAbove reports whether the tree has no link on the way to a change by now.
func (e *ending) plainAbove(c *change) bool {
	ws := e.Copy.opts.View.Workspace()
	above, ok := c.place(path.Dir(c.rel))
	if !ok {
		return false
	}
	name := ws.Abs(above)
	plain, known := e.plain[name]
	if !known {
		p, _, err := ws.Resolve(name)
		plain = err == nil && p == above
		e.plain[name] = plain
	}
	return plain
}

// read returns what the copy has at a path. room is how many bytes may be read.
func (f *found) read(room int64) (diffpreview.Content, error) {
	name := f.named(f.rel)
	switch f.now.kind {
	case none, dir:
		return diffpreview.Content{}, nil
	case link:
		target, err := f.copy.Readlink(f.rel)
		if err != nil {
			return diffpreview.Content{}, errSwapped
		}
		if f.rec != nil && f.rec.target != "" && target == f.inward(f.rec.target) {
			target = f.rec.target
		}
		return diffpreview.Content{Exists: true, Data: []byte(f.outward(target)), Mode: os.ModeSymlink | os.ModePerm}, nil
	}
	if f.now.mode&0o400 == 0 {
		return diffpreview.Content{}, &diffpreview.Error{Code: diffpreview.CodePermissionDenied, Path: name, Message: "its mode does not let it be read"}
	}
	if f.now.size > min(diffpreview.MaxEdit, room) {
		return diffpreview.Content{}, tooLarge(name)
	}
	file, err := f.copy.OpenFile(f.rel, os.O_RDONLY|openNonblock, 0)
	if gone(err) || isEscape(err) {
		return diffpreview.Content{}, errSwapped
	}
	if err != nil {
		return diffpreview.Content{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return diffpreview.Content{}, errSwapped
	}
	var buf bytes.Buffer
	buf.Grow(int(f.now.size) + bytes.MinRead)
	n, err := io.Copy(&buf, io.LimitReader(file, diffpreview.MaxEdit+1))
	if err == nil && n > min(diffpreview.MaxEdit, room) {
		err = tooLarge(name)
	}
	return diffpreview.Content{Exists: true, Data: buf.Bytes(), Mode: f.now.mode}, err
}

func tooLarge(name string) error {
	return &diffpreview.Error{Code: diffpreview.CodeTooLarge, Path: name, Message: "the file, or what the command changed in all, is too large to be proposed"}
}

// base is what the view had at a path when the copy was made of it. It is not known
// when it was not kept and the tree has changed since.
func (f *found) base() (base diffpreview.Content, known bool) {
	rec := f.rec
	switch {
	case rec == nil:
		return diffpreview.Content{}, true
	case rec.over != nil:
		return *rec.over, true
	case rec.tree.kind == link:
		return diffpreview.Content{Exists: true, Data: []byte(rec.target), Mode: os.ModeSymlink | os.ModePerm}, true
	case rec.tree.kind != file:
		return diffpreview.Content{}, true
	}
	base = diffpreview.Content{Exists: true, Mode: rec.tree.mode}
	if rec.body.known {
		data, err := rec.body.bytes(f.pack)
		base.Data = data
		return base, err == nil
	}
	info, err := f.tree.Lstat(f.rel)
	if err != nil || !stampOf(info, info.ModTime()).same(rec.tree) || info.Size() > diffpreview.MaxEdit {
		return base, false
	}
	file, err := f.tree.OpenFile(f.rel, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return base, false
	}
	defer file.Close()
	base.Data, err = io.ReadAll(io.LimitReader(file, diffpreview.MaxEdit))
	return base, err == nil
}
