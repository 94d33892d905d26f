package diffpreview

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
)

// This file and its neighbours apply*.go are the only code that changes a
// workspace. A transaction goes through these stages, and a crash may come
// between any two of them:
//
//	check    every file is what its write stands on; a method is chosen
//	log      "prepare": the temporary names, so that no crash leaves an orphan
//	prepare  new texts are written to temporary files beside the old, and synced
//	recheck  nothing moved meanwhile
//	log      "commit": from here on recovery looks at the files
//	commit   deletes, exchanges, creates, then in-place writes, each by path
//	settle   what was displaced is still what was checked; else all is undone
//	finish   displaced files are unlinked, directories synced
//
// The first log is left out when no temporary file is needed. Nothing visible
// changes before the second. Without a crash a failure at any stage undoes what
// was done; with one, [Workspace.recover] does.

// write replaces one file's content if it is what base says.
type write struct {
	path Path
	from Path    // where the file is now, when it shall move to path
	base Content // what must be there: Exists and Data
	want Content // what shall be there; Mode is used when the file is created, 0 meaning 0666 less the umask
}

// method is how a change reaches its name.
type method string

const (
	methodExchange method = "exchange" // a new file is exchanged with the old one
	methodCreate   method = "create"   // a new file is moved to a free name
	methodDelete   method = "delete"   // the old file is moved away
	methodInPlace  method = "inplace"  // the old file's bytes are overwritten
)

// order is the sequence of methods in a commit. A deleted file may stand where
// a created one needs a directory. In-place writes come last because undoing
// one is the only undo that is not a rename.
var order = map[method]int{methodDelete: 0, methodExchange: 1, methodCreate: 2, methodInPlace: 3}

// errHalfDone marks a failure after which some files could not be put back. The
// transaction's intent must stay open, and be recovered later.
var errHalfDone = errors.New("some files could not be put back")

// tempPrefix and tempSuffix enclose a random part in every temporary name.
const (
	tempPrefix = ".loomd-"
	tempSuffix = ".tmp"
)

// fileChange is one write on its way.
type fileChange struct {
	write
	name    string   // as the wire has it
	leaf    string   // base name
	missing []string // directories to be made below home, outermost first
	home    *folder  // holds the temporary file
	folder  *folder  // holds the file; nil while missing
	temp    string   // base name of the temporary file
	method  method
	before  fs.FileInfo // of the file when it was checked; nil when absent
	moved   fs.FileInfo // of the displaced file when it was checked
	ours    fingerprint // of the new file
	staged  bool        // there may be something under temp
	placed  bool        // the visible name was changed
	written bool        // a program had the file open for writing when it was checked
	hashes  [2]string   // of base and want; see hash
}

// transaction is one call of apply, or its recovery.
type transaction struct {
	w       *Workspace
	changes []*fileChange
	folders map[Path]*folder
	touched map[*folder]bool // to be synced
	made    []Path           // directories made, outermost first
	lacks   lacks
}

// lacks names what a file system cannot do. Tests set it to walk the fallbacks;
// otherwise the kernel's answers decide.
type lacks struct{ exchange, noReplace, link bool }

// apply makes all of writes or none. It fails with a [*Error]: stale (a file is
// not its base, or was changed during the write; then the other's bytes are
// there), permission_denied, no_space, is_directory, not_regular_file,
// path_outside_workspace, io. After a failure the tree is as it was found, but
// for what others did; when that could not be achieved the error is also
// errHalfDone. A failure of log ends the transaction and is returned wrapped.
//
// log is called up to twice, with the phases "prepare" and "commit"; the later
// intent replaces the earlier. What it was given must be durable when it
// returns, and with it the bytes of every hash that [intent.bodies] names. When
// apply has returned, without errHalfDone, the intent is over and must not be
// recovered.
//
// Two calls at the same time must not share a path. ctx is not looked at any
// more once the commit is logged.
func (w *Workspace) apply(ctx context.Context, writes []write, log func(intent) error) error {
	t, err := w.begin(writes)
	if err != nil {
		return err
	}
	defer t.close()
	return t.run(ctx, log)
}

func (w *Workspace) begin(writes []write) (*transaction, error) {
	t := &transaction{w: w, folders: map[Path]*folder{}, touched: map[*folder]bool{}}
	seen := map[Path]bool{}
	for _, wr := range writes {
		name := w.Name(wr.path)
		switch {
		case seen[wr.path]:
			return nil, failf(CodeInternal, name, "written twice in one transaction")
		case wr.path.rel == "." || wr.path.rel == "":
			return nil, failf(CodeIsDirectory, name, "is a directory")
		}
		seen[wr.path] = true
		t.changes = append(t.changes, &fileChange{write: wr, name: name, leaf: path.Base(wr.path.rel), temp: newTempName()})
	}
	return t, nil
}

func newTempName() string {
	var random [8]byte
	rand.Read(random[:]) // never fails
	return tempPrefix + hex.EncodeToString(random[:]) + tempSuffix
}

func (t *transaction) run(ctx context.Context, log func(intent) error) error {
	for _, c := range t.changes {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("applying: %w", err)
		}
		if err := t.check(c); err != nil {
			return err
		}
	}
	t.changes = slices.DeleteFunc(t.changes, (*fileChange).idle)
	if len(t.changes) == 0 {
		return nil
	}
	t.sort()
	err := t.prepare(ctx, log)
	if err == nil {
		err = t.logCommit(ctx, log)
	}
	if err == nil {
		err = t.commit()
	}
	if err != nil {
		return t.rollBack(err)
	}
	return t.finish()
}

// hash returns the hashes of base and want. They are computed once, and only of
// what is going to be written.
func (c *fileChange) hash() (base, want string) {
	if c.hashes == [2]string{} {
		c.hashes = [2]string{c.base.Hash(), c.want.Hash()}
	}
	return c.hashes[0], c.hashes[1]
}

// idle reports whether there is nothing to write.
func (c *fileChange) idle() bool {
	return c.base.Exists == c.want.Exists && string(c.base.Data) == string(c.want.Data)
}

func (t *transaction) sort() {
	slices.SortFunc(t.changes, func(a, b *fileChange) int {
		return cmp.Or(
			cmp.Compare(order[a.method], order[b.method]),
			cmp.Compare(a.path.index, b.path.index),
			strings.Compare(a.path.rel, b.path.rel),
		)
	})
}

func (t *transaction) logCommit(ctx context.Context, log func(intent) error) error {
	for _, c := range t.changes {
		if err := t.recheck(c); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("applying: %w", err)
	}
	t.sort() // preparing may have changed methods
	t.w.step("rechecked")
	if err := log(t.intent(phaseCommit)); err != nil {
		return fmt.Errorf("recording the write: %w", err)
	}
	t.w.step("commit logged")
	return nil
}

// stale says that c's file is not what its write stands on.
func (c *fileChange) stale(what string) error {
	return &Error{
		Code: CodeStale, Path: c.name, Message: what,
		Hint: "somebody else changed the file; nothing was written",
	}
}

// fail gives an operating system's error its code. A name that came or went
// since it was checked makes the write stale.
func (c *fileChange) fail(doing string, err error) error {
	var known *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		named := *known
		named.Path = c.name
		return &named
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ELOOP):
		return c.stale("a directory above it is no directory any more")
	case errors.Is(err, fs.ErrNotExist):
		return c.stale("disappeared while it was being written")
	case errors.Is(err, fs.ErrExist):
		return c.stale("appeared while it was being written")
	case isNoSpace(err):
		return &Error{Code: CodeNoSpace, Path: c.name, Message: "no space left on the file system", Err: err}
	}
	return ioError(c.name, fmt.Errorf("%s: %w", doing, err))
}
