package diffpreview

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Effect is what a rule does with what it fits.
type Effect string

// Hold beats accept: what a hold rule fits waits for a person.
const (
	EffectAccept Effect = "accept"
	EffectHold   Effect = "hold"
)

// Rule decides proposals in a person's place, or sees to it that no other rule
// does. An empty member fits everything. Of a list, an accept rule wants every
// part of the proposal to fit, a hold rule one.
type Rule struct {
	ID       string   `json:"id,omitempty"` // of a rule that a person added to the daemon
	Name     string   `json:"name"`
	Effect   Effect   `json:"effect"`
	Root     string   `json:"root,omitempty"`     // only paths in this root: absolute, links resolved
	Paths    []string `json:"paths,omitempty"`    // doublestar's globs, relative to the root; without "/" at any depth
	Kinds    []string `json:"kinds,omitempty"`    // create modify delete rename mode link binary
	MinLines int      `json:"minLines,omitempty"` // lines added and removed: at least
	MaxLines int      `json:"maxLines,omitempty"` // at most
	MaxBytes int      `json:"maxBytes,omitempty"` // of the hunks, old and new
	Sessions []string `json:"sessions,omitempty"` // globs of labels
	Tools    []string `json:"tools,omitempty"`    // that made the steps
	// Session is the id of the session that the rule ends with, "" for one that
	// stays.
	Session string `json:"session,omitempty"`
	Source  string `json:"source,omitempty"` // where it was read
}

// autoRule is what the review mode auto amounts to.
var autoRule = Rule{Name: "review mode auto", Effect: EffectAccept}

// SetRules replaces the rules from configuration.
func (s *Store) SetRules(rules []Rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.configured = slices.Clone(rules)
}

// ForbidAuto makes sessions of the review mode auto staged ones, or lets them be.
func (s *Store) ForbidAuto(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noAuto = on
}

// Rules lists all rules: those from configuration, then those that persons added.
func (s *Store) Rules() []Rule {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(slices.Clone(s.configured), s.added...)
}

// AddRule adds a rule that a person gave, durably, and returns it with its id. It
// is for proposals that come from now on. It fails with invalid_arguments for an
// effect, a glob or a session that makes no sense.
func (s *Store) AddRule(r Rule) (Rule, error) {
	if err := r.check(); err != nil {
		return Rule{}, err
	}
	if sess, ok := s.Session(r.Session); r.Session != "" && (!ok || !sess.Open) {
		return Rule{}, failf(CodeInvalidArguments, "", "no open session %s", r.Session)
	}
	s.ruling.Lock()
	defer s.ruling.Unlock()
	s.mu.Lock()
	s.counters.Rules++
	r.ID = fmt.Sprintf("r%d", s.counters.Rules)
	rules := append(slices.Clone(s.added), r)
	s.mu.Unlock()
	if r.Name == "" {
		r.Name = r.ID
		rules[len(rules)-1].Name = r.ID
	}
	return r, s.setAdded(rules)
}

// RemoveRule takes away a rule that a person added.
func (s *Store) RemoveRule(id string) error {
	s.ruling.Lock()
	defer s.ruling.Unlock()
	s.mu.Lock()
	rules := slices.DeleteFunc(slices.Clone(s.added), func(r Rule) bool { return r.ID == id })
	gone := len(rules) < len(s.added)
	s.mu.Unlock()
	if !gone {
		return failf(CodeInvalidArguments, "", "no rule %s: those from configuration are changed there", id)
	}
	return s.setAdded(rules)
}

// endRules takes away the rules that end with a session.
func (s *Store) endRules(session string) {
	s.ruling.Lock()
	defer s.ruling.Unlock()
	s.mu.Lock()
	rules := slices.DeleteFunc(slices.Clone(s.added), func(r Rule) bool { return r.Session == session })
	none := len(rules) == len(s.added)
	s.mu.Unlock()
	if none {
		return
	}
	if err := s.setAdded(rules); err != nil {
		s.logger.Warn("The rules of a closed session stay", "session", session, "error", err)
	}
}

func (s *Store) setAdded(rules []Rule) error {
	return s.log(record{Rules: &rules}, true, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.added = rules
	})
}

func (r *Rule) check() error {
	if r.Effect != EffectAccept && r.Effect != EffectHold {
		return failf(CodeInvalidArguments, "", "effect is %q: it is accept or hold", string(r.Effect))
	}
	for _, glob := range slices.Concat(r.Paths, r.Sessions) {
		if !doublestar.ValidatePattern(glob) {
			return failf(CodeInvalidArguments, "", "%q is no valid glob", glob)
		}
	}
	for _, kind := range r.Kinds {
		if !slices.Contains(ruleKinds, kind) {
			return failf(CodeInvalidArguments, "", "kind %q: the kinds are %s", kind, strings.Join(ruleKinds, " "))
		}
	}
	return nil
}

var ruleKinds = []string{"create", "modify", "delete", "rename", "mode", "link", "binary"}

// ruleFor is the rule that accepts p, if one does and none holds it.
func (s *Store) ruleFor(p *Proposal) (Rule, bool) {
	sess, _ := s.Session(p.Session)
	rules := s.Rules()
	s.mu.Lock()
	auto := sess.ReviewMode == "auto" && !s.noAuto
	s.mu.Unlock()
	if auto {
		rules = append(rules, autoRule)
	}
	var accepts *Rule
	for i := range rules {
		r := &rules[i]
		switch {
		case !s.fits(r, p, sess):
		case r.Effect != EffectAccept: // what is not understood holds
			return Rule{}, false
		case accepts == nil:
			accepts = r
		}
	}
	if accepts == nil {
		return Rule{}, false
	}
	return *accepts, true
}

// fits reports whether a rule is about p.
func (s *Store) fits(r *Rule, p *Proposal, sess Session) bool {
	if r.Session != "" && r.Session != p.Session || !r.fitsSize(p) {
		return false
	}
	var places, kinds, tools []string
	all := p.paths()
	for _, at := range all {
		if r.Root == "" || r.Root == s.ws.roots[at.index].path {
			places = append(places, at.rel)
		}
	}
	if len(places) == 0 || len(places) < len(all) && r.Effect == EffectAccept {
		return false
	}
	for i := range p.Hunks {
		if h := &p.Hunks[i]; !h.decided() {
			kinds = append(kinds, h.ruleKind())
		}
	}
	for _, step := range p.Steps {
		tools = append(tools, step.Call.Tool)
	}
	if p.StepCount > len(p.Steps) {
		tools = append(tools, "") // nobody remembers which: it may be one that is held
	}
	equal := func(a, b string) bool { return a == b }
	within := globMatch
	if r.Effect != EffectAccept {
		within = globHolds
	}
	return r.all(r.Paths, places, within) && r.all(r.Kinds, kinds, equal) && r.all(r.Tools, tools, equal) &&
		r.all(r.Sessions, []string{sess.Label}, globMatch)
}

// all reports whether parts fit a list of r: every one for an accept, any for a
// hold.
func (r *Rule) all(list, parts []string, match func(pattern, part string) bool) bool {
	if len(list) == 0 {
		return true
	}
	fits := func(part string) bool {
		return slices.ContainsFunc(list, func(pattern string) bool { return match(pattern, part) })
	}
	if r.Effect != EffectAccept {
		return slices.ContainsFunc(parts, func(part string) bool { return part == "" || fits(part) })
	}
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(part string) bool { return !fits(part) })
}

func (r *Rule) fitsSize(p *Proposal) bool {
	if r.MinLines == 0 && r.MaxLines == 0 && r.MaxBytes == 0 {
		return true
	}
	size := 0
	for i := range p.Hunks {
		if h := &p.Hunks[i]; !h.decided() {
			size += len(h.Old) + len(h.New)
		}
	}
	added, removed, _ := p.Counts()
	lines := added + removed
	return lines >= r.MinLines && (r.MaxLines == 0 || lines <= r.MaxLines) && (r.MaxBytes == 0 || size <= r.MaxBytes)
}

func globMatch(pattern, name string) bool {
	if !strings.Contains(pattern, "/") {
		name = name[strings.LastIndexByte(name, '/')+1:]
	}
	ok, _ := doublestar.Match(strings.TrimPrefix(pattern, "/"), name)
	return ok
}

// globHolds is globMatch for holds: it knows a path in whatever spelling a file
// system takes for the same, as [protect] does.
func globHolds(pattern, name string) bool {
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = plainName(parts[i])
	}
	return globMatch(pattern, name) || globMatch(strings.ToLower(pattern), strings.Join(parts, "/"))
}

// ruleKind is what a rule calls h's kind.
func (h *Hunk) ruleKind() string {
	switch {
	case (h.NewMode|h.OldMode)&fs.ModeSymlink != 0:
		return string(KindLink)
	case h.Kind == KindText:
		return "modify"
	}
	return string(h.Kind)
}

// applyRules carries out the rule that accepts what a step proposes. When it
// cannot be written the proposal waits for a person like any other.
func (s *Store) applyRules(ctx context.Context, step Step) Step {
	p := step.Proposal
	held := slices.ContainsFunc(p.Hunks, func(h Hunk) bool { return !h.decided() && h.Held })
	if p.State() != StateOpen || held {
		return step
	}
	r, ok := s.ruleFor(p)
	if !ok {
		return step
	}
	after, _, err := s.Decide(ctx, DecideFile{ID: p.ID, Version: p.Version, Accept: true, By: "rule " + r.Name, Rule: r.Name})
	if err != nil {
		s.logger.Info("A rule could not accept", "proposal", p.ID, "rule", r.Name, "code", CodeOf(err))
		return step
	}
	step.Proposal, step.Rule = after, r.Name
	return step
}
