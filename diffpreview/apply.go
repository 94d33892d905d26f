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
//	commit   deletes, moves, exchanges, creates, new modes, then in-place writes,
//	         each by path; see order
//	settle   what was displaced is still what was checked; else all is undone
//	log      "over": where a deleted file is about to be gone for good
//	finish   displaced files are unlinked, directories synced
//
// A symbolic link goes the way of a file: its target is compared as bytes are,
// and the directory is synced in place of the file. The first log is left out when no temporary file is needed. Nothing visible
// changes before the second. Without a crash a failure at any stage undoes what
// was done; with one, [Workspace.recover] does.

// write replaces one file, or symbolic link, if it is what base says.
type write struct {
	path Path
	// from is where the file is now when it shall move to path, which must be
	// free. The zero Path, and path itself, stand for no move.
	from Path
	// base is what must be there: existence, bytes and whether it is a link.
	base Content
	// want is what shall be there. Permissions are compared and changed only
	// where those of base and want differ and want has some; without any a new
	// file gets 0666 less the umask.
	want Content
	// unmake are directories to be removed when the write leaves them empty:
	// those that were made for a file which is deleted again.
	unmake []Path
}

// method is how a change reaches its name.
type method string

const (
	methodExchange method = "exchange" // a new file is exchanged with the old one
	methodCreate   method = "create"   // a new file is moved to a free name
	methodDelete   method = "delete"   // the old file is moved away
	methodInPlace  method = "inplace"  // the old file's bytes are overwritten
	methodMove     method = "move"     // the old file itself goes to a free name
	methodMode     method = "mode"     // the old file gets other permissions
)

// order is the sequence of methods in a commit. A deleted or moved file may
// stand where a created one needs a directory. Methods whose undo is not a
// rename come last.
var order = map[method]int{methodDelete: 0, methodMove: 1, methodExchange: 2, methodCreate: 3, methodMode: 4, methodInPlace: 5}

// errHalfDone marks a failure after which some files could not be put back. The
// transaction's intent must stay open, and be recovered later.
var errHalfDone = errors.New("some files could not be put back")

// tempPrefix and tempSuffix enclose a random part in every temporary name.
const (
	tempPrefix = ".loomd-"
	tempSuffix = ".tmp"
)

// fileChange is one write on its way. A move is two: its file leaves path, and
// arrives at the path of to. Of these the second is carried out by itself only
// when it changes more than the name.
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
	ours    fingerprint // of the new file, or of the one that moves
	staged  bool        // there may be something under temp
	placed  bool        // the visible name was changed
	written bool        // a program had the file open for writing when it was checked
	fixed   bool        // another file cannot take the place of this one
	freed   bool        // what has the name now is on its way elsewhere
	hashes  [2]string   // of base and want; see hash

	to     *fileChange // of a move: the change at the new name
	origin *fileChange // of a change at a new name: the move
	via    bool        // a move that goes through the temporary name
	aside  bool        // a move's file is under the temporary name
	came   bool        // from the new name
}

// transaction is one call of apply, or its recovery.
type transaction struct {
	w       *Workspace
	changes []*fileChange
	leaving map[Path]bool // where there is a file: whether it is deleted or moves away
	placing map[Path]bool // where there shall be something
	folders map[Path]*folder
	closed  []*folder        // of directories that were removed
	touched map[*folder]bool // to be synced
	made    []Path           // directories made, outermost first
	emptied []emptied        // directories that make room for files, deepest first
	unmake  []Path           // deepest first
	again   bool             // this is a recovery
	lacks   lacks
}

// lacks names what a file system cannot do. Tests set it to walk the fallbacks;
// otherwise the kernel's answers decide.
type lacks struct{ exchange, noReplace, link bool }

// apply makes all of writes or none, and returns which directories it made for
// them, outermost first. It fails with a [*Error]: stale (a file is
// not its base, or was changed during the write; then the other's bytes are
// there), permission_denied, no_space, is_directory, not_regular_file,
// path_outside_workspace, io, unavailable (a root is not where its path says); and invalid_arguments for a move to another root, or
// to another file system when the file has several names. After a failure the tree is as it was found, but
// for what others did; when that could not be achieved the error is also
// errHalfDone. A failure of log ends the transaction and is returned wrapped.
//
// log is called up to three times, with the phases "prepare", "commit" and
// "over"; a later intent replaces the earlier. What it was given must be durable when it
// returns, and with it the bytes of every hash that [intent.bodies] names. When
// apply has returned, without errHalfDone, the intent is over and must not be
// recovered.
//
// Two calls at the same time must not share a path. ctx is not looked at any
// more once the commit is logged.
func (w *Workspace) apply(ctx context.Context, writes []write, log func(intent) error) (made []Path, err error) {
	t, err := w.begin(writes)
	if err != nil {
		return nil, err
	}
	defer t.close()
	if err := t.run(ctx, log); err != nil {
		return nil, err
	}
	return t.made, nil
}

func (w *Workspace) newTransaction() *transaction {
	return &transaction{
		w: w, leaving: map[Path]bool{}, placing: map[Path]bool{},
		folders: map[Path]*folder{}, touched: map[*folder]bool{},
	}
}

func (w *Workspace) begin(writes []write) (*transaction, error) {
	t := w.newTransaction()
	for _, wr := range writes {
		if _, err := w.gone(wr.path.index); err != nil {
			return nil, err // what was opened is elsewhere now, or is being removed
		}
		if err := t.add(wr); err != nil {
			return nil, err
		}
	}
	for _, c := range t.changes {
		if err := t.nested(c); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// add makes the changes of one write. Up to two writes may name a path: one by
// which a file goes from there, and one by which another comes.
func (t *transaction) add(wr write) error {
	name := t.w.Name(wr.path)
	moves := wr.from.rel != "" && wr.from != wr.path
	from := wr.path
	if moves {
		from = wr.from
	}
	_, known := t.leaving[from]
	switch {
	case wr.path.rel == "." || wr.path.rel == "" || from.rel == ".":
		return failf(CodeIsDirectory, name, "is a directory")
	case from.index != wr.path.index:
		return failf(CodeInvalidArguments, name, "a file of %s cannot move to another root", t.w.Name(from))
	case moves && (!wr.base.Exists || !wr.want.Exists):
		return failf(CodeInternal, name, "a move of no file")
	case wr.base.Exists && known, wr.want.Exists && t.placing[wr.path]:
		return failf(CodeInternal, name, "written twice in one transaction")
	}
	if wr.base.Exists {
		t.leaving[from] = moves || !wr.want.Exists
	}
	if wr.want.Exists {
		t.placing[wr.path] = true
	}
	if moves {
		to := t.newChange(write{path: wr.path, want: wr.want})
		c := t.newChange(write{path: from, base: wr.base})
		c.to, to.origin = to, c
		t.changes = append(t.changes, c)
	} else {
		t.changes = append(t.changes, t.newChange(wr))
	}
	t.unmake = append(t.unmake, wr.unmake...)
	return nil
}

func (t *transaction) newChange(wr write) *fileChange {
	return &fileChange{write: wr, name: t.w.Name(wr.path), leaf: path.Base(wr.path.rel), temp: newTempName()}
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
	err := t.arrange()
	if err == nil {
		err = t.prepare(ctx, log)
	}
	if err == nil {
		err = t.logCommit(ctx, log)
	}
	if err == nil {
		err = t.commit(log)
	}
	if err != nil {
		return t.rollBack(err)
	}
	return t.finish()
}

// hash returns the marks of base and want. They are computed once, and only of
// what is going to be written.
func (c *fileChange) hash() (base, want string) {
	if c.hashes == [2]string{} {
		c.hashes = [2]string{mark(c.base), mark(c.want)}
	}
	return c.hashes[0], c.hashes[1]
}

// idle reports whether there is nothing to write.
func (c *fileChange) idle() bool {
	return c.to == nil && c.origin == nil && sameContent(c.base, c.want) && !c.remodes()
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
