package diffpreview

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"time"
)

// maxRetries is how often a decision is carried over to a tree that moved
// between check and write. Each retry lost a race against a save; more than a
// few in a row is a program rewriting the file without pause.
const maxRetries = 8

// editorWait bounds how long a decision waits for an editor to take an edit.
// An editor answers in milliseconds; this is for one that hangs, which holds up
// who else works on that file.
const editorWait = 3 * time.Second

// DecideFile decides hunks of one proposal: those in Verdicts, or with none
// all that are undecided. Version is what the reviewer saw; 0 means the
// present one.
type DecideFile struct {
	ID       string
	Version  int
	Verdicts []Verdict
	Accept   bool    // of a whole file
	Text     *string // of a whole file that is accepted: UTF-8, what it shall be in place of what is proposed
	Comment  string  // of a whole file
	By       string
	Rule     string // the rule that decides in a person's place
}

// rejects reports whether nothing is accepted.
func (d *DecideFile) rejects() bool {
	if len(d.Verdicts) == 0 {
		return !d.Accept
	}
	return !slices.ContainsFunc(d.Verdicts, func(v Verdict) bool { return v.Accept })
}

// Written is a file that a decision changed. Hash is "" when it was deleted.
// Document is set when the change is in an editor's unsaved buffer, and on disk
// once the person saves.
type Written struct {
	Path     string
	Hash     string
	Document bool
	From     string // its name before, when that changed
}

// ruling is a proposal before and after a decision.
type ruling struct {
	before, after *Proposal
	hunks         []Hunk // whose agent is told
	why           EditReason
}

func (c *ruling) moves() bool {
	return c.before.Path != c.after.Path || !sameFile(c.before.Base, c.after.Base)
}

// written is what c changed in the tree, nil for nothing.
func (c *ruling) written() *Written {
	if !c.moves() {
		return nil
	}
	w := &Written{Path: c.after.Name, Hash: c.after.Base.Hash(), Document: c.after.Base.Document}
	if c.before.Path != c.after.Path {
		w.From = c.before.Name
	}
	return w
}

// lockProposal locks the places that a decision about a proposal may change, and
// returns it as it then is.
func (s *Store) lockProposal(id string) (*Proposal, func(), error) {
	for {
		p, err := s.find(id)
		if err != nil {
			return nil, nil, err
		}
		paths := p.paths()
		unlock := s.paths.lock(paths...)
		now, err := s.find(id)
		if err == nil && !slices.ContainsFunc(now.paths(), func(at Path) bool { return !slices.Contains(paths, at) }) {
			return now, unlock, nil
		}
		unlock() // its agent gave it another name meanwhile
		if err != nil {
			return nil, nil, err
		}
	}
}

// Decide carries out what a reviewer says of one proposal. What is accepted is
// in the tree and in the journal when it returns. Every failure leaves tree
// and proposal as they were: unknown_proposal, unknown_hunk, already_decided,
// changed_since, conflict (these carry the present proposal), and those of a
// write.
func (s *Store) Decide(ctx context.Context, d DecideFile) (*Proposal, *Written, error) {
	p, unlock, err := s.lockProposal(d.ID)
	if err != nil {
		return nil, nil, err
	}
	defer unlock()
	changes, err := s.retry(ctx, p.paths(), d.rejects(), func() ([]ruling, error) {
		p, err := s.find(d.ID)
		if err != nil {
			return nil, err
		}
		if d.Version == 0 { // a tree that moves now must not change what was meant
			d.Version = p.Version
		}
		c, err := s.rule(p, d)
		if err != nil {
			return nil, err
		}
		return []ruling{c}, nil
	})
	if err != nil {
		return nil, nil, err
	}
	return changes[0].after, changes[0].written(), nil
}

// rule is what d makes of p.
func (s *Store) rule(p *Proposal, d DecideFile) (ruling, error) {
	by := Decision{By: d.By, Time: s.now().UTC(), Rule: d.Rule}
	verdicts := d.Verdicts
	if len(verdicts) == 0 {
		var err error
		if verdicts, err = p.all(d.Accept, d.Comment); err != nil {
			return ruling{}, err
		}
	}
	if d.Text != nil {
		by.Comment = d.Comment
		return s.ruleText(p, d.Version, verdicts, *d.Text, by)
	}
	if err := p.check(d.Version, verdicts); err != nil {
		return ruling{}, err
	}
	q, decided, err := p.decide(verdicts, by)
	if err != nil {
		return ruling{}, err
	}
	q.Name = s.ws.Name(q.Path)
	return ruling{p, q, decided, d.reason()}, nil
}

// reason is what an editor is told that a decision's edit is.
func (d *DecideFile) reason() EditReason {
	if d.Rule != "" {
		return EditRule
	}
	return EditAccept
}

// all is one verdict for every undecided hunk.
func (p *Proposal) all(accept bool, comment string) ([]Verdict, error) {
	var verdicts []Verdict
	for i := range p.Hunks {
		if h := &p.Hunks[i]; !h.decided() {
			verdicts = append(verdicts, Verdict{Hunk: h.ID, Accept: accept, Comment: comment})
		}
	}
	if len(verdicts) == 0 {
		return nil, p.refuse(CodeAlreadyDecided, "proposal %s is %s%s: nothing is left to decide", p.ID, p.State(), p.lastBy())
	}
	return verdicts, nil
}

// lastBy says who decided p last.
func (p *Proposal) lastBy() string {
	var last *Decision
	for i := range p.Hunks {
		if d := p.Hunks[i].Decision; d != nil && (last == nil || !d.Time.Before(last.Time)) {
			last = d
		}
	}
	if last == nil {
		return ""
	}
	return " by " + last.By
}

// Undo opens decided hunks again, one or all of a proposal, taking accepted
// text out of the tree. It fails with code conflict, changing nothing, when
// that text was changed since or the agent has another proposal on the file.
func (s *Store) Undo(ctx context.Context, id, hunk, by string) (*Proposal, *Written, error) {
	p, unlock, err := s.lockProposal(id)
	if err != nil {
		return nil, nil, err
	}
	defer unlock()
	changes, err := s.retry(ctx, p.paths(), false, func() ([]ruling, error) {
		p, err := s.find(id)
		if err != nil {
			return nil, err
		}
		for _, other := range s.at(p.Path, p.Session) { // a view shows one
			if other.ID != p.ID {
				return nil, p.refuse(CodeConflict, "proposal %s of the same session is open on this file: decide it first", other.ID)
			}
		}
		c, err := s.undone(p, hunk, by)
		if err != nil {
			return nil, err
		}
		return []ruling{c}, nil
	})
	if err != nil {
		return nil, nil, err
	}
	s.logger.Info("Decision undone", "proposal", id, "hunk", hunk, "by", by)
	return changes[0].after, changes[0].written(), nil
}

// undone is p with decided hunks open again. p goes along with the tree, or else
// all of it is decided: then it is looked for in the tree as it is now.
func (s *Store) undone(p *Proposal, hunk, by string) (ruling, error) {
	if !p.moving() {
		now, err := s.tree(p.Path)
		if err != nil {
			return ruling{}, err
		}
		decided := *p
		decided.origin = nil // what the tree had stays decided, whatever became of it since
		p, _ = decided.rebase(now, true)
	}
	q, reopened, err := p.undo(hunk)
	if err != nil {
		return ruling{}, err
	}
	q.Name = s.ws.Name(q.Path)
	for i := range reopened {
		reopened[i].Decision = &Decision{By: by, Time: s.now().UTC()} // who the agent is told of
	}
	return ruling{p, q, reopened, EditUndo}, nil
}

func writtenBy(changes []ruling) []Written {
	var out []Written
	for i := range changes {
		if w := changes[i].written(); w != nil {
			out = append(out, *w)
		}
	}
	return out
}

// retry makes changes on the tree as it is now and commits them; when the tree
// moved in between, again. With unread a tree that cannot be read is no reason
// to fail: nothing will be written. The caller holds the paths' locks.
func (s *Store) retry(ctx context.Context, paths []Path, unread bool, changes func() ([]ruling, error)) ([]ruling, error) {
	for try := 0; ; try++ {
		for _, path := range paths {
			if err := s.refresh(path, false); err != nil && !unread {
				return nil, err
			}
		}
		made, err := changes()
		if err != nil {
			return nil, err
		}
		err = s.commit(ctx, made)
		if CodeOf(err) == CodeStale && !errors.Is(err, errHalfDone) && try < maxRetries && ctx.Err() == nil {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			if err := s.refresh(path, false); err != nil {
				s.logger.Warn("Tree could not be read", "path", s.ws.Name(path), "error", err)
			}
		}
		return made, nil
	}
}

// commit writes what the changes accepted, documents first, and journals the
// new states: all of it, or nothing.
func (s *Store) commit(ctx context.Context, changes []ruling) error {
	var writes []write
	var documents []ruling
	var after []*Proposal
	var reviews []savedReview
	for _, c := range changes {
		after = append(after, c.after)
		reviews = append(reviews, s.reviewsOf(c.before, c.after, c.hunks)...)
		switch {
		case !c.moves():
		case c.before.Base.Document && (c.before.Path != c.after.Path || sameContent(c.before.Base, c.after.Base)):
			return &Error{
				Code: CodeConflict, Path: c.before.Name, Message: "has unsaved changes in an editor, so its name and mode stay as they are",
				Hint: "save it, then accept", Proposal: c.before,
			}
		case c.before.Base.Document:
			documents = append(documents, c)
		default:
			writes = append(writes, s.writeOf(&c))
		}
	}
	for i := range documents {
		if err := s.editBuffer(ctx, &documents[i], false); err != nil {
			return s.takeBack(ctx, documents[:i], err)
		}
	}
	var err error
	if len(writes) == 0 {
		err = s.keep(after, reviews)
	} else {
		err = s.write(ctx, writes, after, reviews)
	}
	if err != nil {
		return s.takeBack(ctx, documents, err)
	}
	for _, w := range writes {
		if w.from != w.path {
			s.tellWritten(w.from, "")
		}
		s.tellWritten(w.path, w.want.Hash())
	}
	return nil
}

// writeOf is the change of the disk that c amounts to. It notes in c.after the
// directories that are going to be made for a new file or name, so that an undo
// can take them away again.
func (s *Store) writeOf(c *ruling) write {
	w := write{path: c.after.Path, from: c.before.Path, base: c.before.Base, want: c.after.Base}
	missing := 0
	if !w.base.Exists || w.from != w.path {
		missing = s.ws.missingAbove(w.path)
	}
	for i := range c.after.Hunks {
		h := &c.after.Hunks[i]
		if h.Kind != KindCreate && h.Kind != KindRename {
			continue
		}
		was, _ := c.before.Hunk(h.ID)
		switch {
		case h.State == HunkAccepted && was.State != HunkAccepted:
			h.Made = missing
		case h.State != HunkAccepted && was.State == HunkAccepted:
			at := c.before.Path
			for range h.Made {
				at.rel = path.Dir(at.rel)
				w.unmake = append(w.unmake, at)
			}
			h.Made = 0
		}
	}
	return w
}

func (s *Store) editBuffer(ctx context.Context, c *ruling, back bool) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), editorWait)
	defer cancel()
	from, to, why := c.before.Base, c.after.Base, c.why
	if back {
		from, to, why = to, from, EditTakeBack
	}
	return s.editDocument(ctx, c.after.Path, c.after.form, from, to, why)
}

// takeBack undoes edits of buffers, last first, after a failure, which it
// returns: with the names of the buffers that moved on and keep their edit.
func (s *Store) takeBack(ctx context.Context, done []ruling, cause error) error {
	var kept []string
	for i := range slices.Backward(done) {
		if err := s.editBuffer(ctx, &done[i], true); err != nil {
			s.logger.Error("An edit of a buffer could not be taken back", "path", done[i].after.Name, "error", err)
			kept = append(kept, done[i].after.Name)
		}
	}
	if len(kept) == 0 {
		return cause
	}
	return &Error{
		Code: CodeUnavailable, Message: cause.Error() + "; already in the editor and not taken back: " + strings.Join(kept, ", "),
		Hint: "undo it in the editor, or save it", Err: cause,
	}
}
