package diffpreview

import (
	"fmt"
	"io/fs"
	"time"
)

// savedProposal is a [Proposal] in the journal. Texts that follow from others
// are not stored: the old text of an open or rejected hunk is the base's.
type savedProposal struct {
	ID      string       `json:"id"`
	Session string       `json:"session"`
	Root    osName       `json:"root"`
	Rel     osName       `json:"rel"`
	Via     string       `json:"via,omitempty"`
	Kind    HunkKind     `json:"kind"`
	Version int          `json:"version"`
	Exists  bool         `json:"exists"`
	Base    savedText    `json:"base"`
	Mode    fs.FileMode  `json:"mode,omitempty"`
	Form    lineForm     `json:"form"`
	NextID  int          `json:"nextId"`
	Created time.Time    `json:"created"`
	Steps   []StepRecord `json:"steps"`
	// StepCount is missing in journals that have all steps.
	StepCount int          `json:"stepCount,omitempty"`
	Hunks     []savedHunk  `json:"hunks"`
	Origin    *savedOrigin `json:"origin,omitempty"`
}

type savedOrigin struct {
	Exists bool        `json:"exists"`
	Base   savedText   `json:"base"`
	Mode   fs.FileMode `json:"mode,omitempty"`
	Form   lineForm    `json:"form"`
	Hunks  []savedHunk `json:"hunks"`
}

type savedHunk struct {
	ID       string      `json:"id"`
	Kind     HunkKind    `json:"kind"`
	State    HunkState   `json:"state"`
	Start    int         `json:"start"`
	Count    int         `json:"count"`
	Old      *savedText  `json:"old,omitempty"` // absent: the base's lines
	New      savedText   `json:"new"`
	Since    int         `json:"since"`
	Lost     bool        `json:"lost,omitempty"`
	Unsaved  bool        `json:"unsaved,omitempty"`
	Whole    bool        `json:"whole,omitempty"`
	Held     bool        `json:"held,omitempty"`
	Of       string      `json:"of,omitempty"`
	OldMode  fs.FileMode `json:"oldMode,omitempty"`
	NewMode  fs.FileMode `json:"newMode,omitempty"`
	From     osName      `json:"from,omitempty"` // below the proposal's root
	To       osName      `json:"to,omitempty"`
	Made     int         `json:"made,omitempty"`
	Parts    []savedHunk `json:"parts,omitempty"`
	Was      []savedHunk `json:"was,omitempty"`
	Decision *Decision   `json:"decision,omitempty"`
}

type savedReview struct {
	Session string `json:"session"`
	Review  Review `json:"review"`

	entry HistoryEntry // the same for the history
}

// saveProposal puts p's texts away and returns its record.
func (s *Store) saveProposal(in *hold, p *Proposal) (savedProposal, error) {
	base, err := in.save(p.Base.Data)
	if err != nil {
		return savedProposal{}, err
	}
	out := savedProposal{
		ID: p.ID, Session: p.Session, Root: osName(s.ws.roots[p.Path.index].path), Rel: osName(p.Path.rel), Via: p.Via,
		Kind: p.Kind, Version: p.Version, Exists: p.Base.Exists, Base: base, Mode: p.Base.Mode,
		Form: p.form, NextID: p.hunks, Created: p.Created, Steps: p.Steps, StepCount: p.StepCount,
	}
	if out.Hunks, err = s.saveHunks(in, p.Hunks, true); err != nil || p.origin == nil {
		return out, err
	}
	o := &savedOrigin{Exists: p.origin.Base.Exists, Mode: p.origin.Base.Mode, Form: p.origin.form}
	if o.Base, err = in.save(p.origin.Base.Data); err != nil {
		return out, err
	}
	o.Hunks, err = s.saveHunks(in, p.origin.Hunks, true)
	out.Origin = o
	return out, err
}

func (s *Store) saveHunks(in *hold, hunks []Hunk, onBase bool) ([]savedHunk, error) {
	var out []savedHunk
	for i := range hunks {
		h := &hunks[i]
		saved := savedHunk{
			ID: h.ID, Kind: h.Kind, State: h.State, Start: h.Start, Count: h.Count,
			Since: h.Since, Lost: h.Lost, Unsaved: h.Unsaved, Whole: h.Whole, Decision: h.Decision,
			Held: h.Held, Of: h.Of, OldMode: h.OldMode, NewMode: h.NewMode, From: osName(h.From.rel), To: osName(h.To.rel), Made: h.Made,
		}
		var err error
		if saved.New, err = in.save(h.New); err != nil {
			return nil, err
		}
		if !onBase || h.State != HunkOpen {
			old, err := in.save(h.Old)
			if err != nil {
				return nil, err
			}
			saved.Old = &old
		}
		if saved.Parts, err = s.saveHunks(in, h.Parts, false); err != nil {
			return nil, err
		}
		if saved.Was, err = s.saveHunks(in, h.Was, false); err != nil {
			return nil, err
		}
		out = append(out, saved)
	}
	return out, nil
}

// loadProposal reads a record back. A root that is served no longer gives nil.
func (s *Store) loadProposal(saved *savedProposal) (*Proposal, error) {
	at, ok := s.savedPath(saved.Root, saved.Rel)
	if !ok {
		return nil, nil
	}
	base, err := s.journal.load(saved.Base)
	if err != nil {
		return nil, fmt.Errorf("proposal %s: %w", saved.ID, err)
	}
	p := &Proposal{
		ID: saved.ID, Session: saved.Session, Path: at, Via: saved.Via, Kind: saved.Kind,
		Version: saved.Version, Base: Content{Exists: saved.Exists, Data: base, Mode: saved.Mode},
		Created: saved.Created, Steps: saved.Steps, form: saved.Form, hunks: saved.NextID,
	}
	p.Name = s.ws.Name(p.Path)
	p.StepCount = max(saved.StepCount, len(saved.Steps))
	p.Steps = boundedSteps(p.Steps)
	p.Hunks, err = s.loadHunks(saved.Hunks, at.index, p.form.split(base))
	if err == nil && saved.Origin != nil {
		p.origin, err = s.loadOrigin(saved.Origin, at.index)
		p.restless = true // looked at again, whatever it was in the middle of
	}
	if err != nil {
		return nil, fmt.Errorf("proposal %s: %w", saved.ID, err)
	}
	return p, nil
}

func (s *Store) loadOrigin(saved *savedOrigin, root int) (*Proposal, error) {
	base, err := s.journal.load(saved.Base)
	if err != nil {
		return nil, err
	}
	o := &Proposal{Base: Content{Exists: saved.Exists, Data: base, Mode: saved.Mode}, form: saved.Form}
	o.Hunks, err = s.loadHunks(saved.Hunks, root, o.form.split(base))
	return o, err
}

func (s *Store) loadHunks(saved []savedHunk, root int, lines [][]byte) ([]Hunk, error) {
	var out []Hunk
	for i := range saved {
		sh := &saved[i]
		h := Hunk{
			ID: sh.ID, Kind: sh.Kind, State: sh.State, Start: sh.Start, Count: sh.Count,
			Since: sh.Since, Lost: sh.Lost, Unsaved: sh.Unsaved, Whole: sh.Whole, Decision: sh.Decision,
			Held: sh.Held, Of: sh.Of, OldMode: sh.OldMode, NewMode: sh.NewMode, Made: sh.Made,
		}
		if h.Kind == KindRename {
			h.From, h.To = Path{root, string(sh.From)}, Path{root, string(sh.To)}
		}
		var err error
		if h.New, err = s.journal.load(sh.New); err != nil {
			return nil, err
		}
		switch {
		case sh.Old != nil:
			h.Old, err = s.journal.load(*sh.Old)
		case sh.Start < 0 || sh.Count < 0 || sh.Start+sh.Count > len(lines):
			err = fmt.Errorf("hunk %s lies outside its base", sh.ID)
		default:
			h.Old = joinLines(lines[sh.Start : sh.Start+sh.Count])
		}
		if err != nil {
			return nil, err
		}
		if h.Parts, err = s.loadHunks(sh.Parts, root, nil); err != nil {
			return nil, err
		}
		if h.Was, err = s.loadHunks(sh.Was, root, nil); err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, nil
}

// texts names the bodies that a record needs.
func (saved *savedProposal) texts(add func(body string)) {
	add(saved.Base.Body)
	var walk func(hunks []savedHunk)
	walk = func(hunks []savedHunk) {
		for i := range hunks {
			add(hunks[i].New.Body)
			if hunks[i].Old != nil {
				add(hunks[i].Old.Body)
			}
			walk(hunks[i].Parts)
			walk(hunks[i].Was)
		}
	}
	walk(saved.Hunks)
	if o := saved.Origin; o != nil {
		add(o.Base.Body)
		walk(o.Hunks)
	}
}
