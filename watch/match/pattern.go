package match

import (
	"fmt"
	"sync"
)

// Options is what to look for.
type Options struct {
	Pattern    string
	Fixed      bool // Pattern is a literal text
	Word       bool // no word character (ASCII) stands on either side of a match
	IgnoreCase bool // of ASCII letters
	Multiline  bool // a match may span lines
	Invert     bool // Find and Count are of the lines that do not match
}

// SyntaxError says why a pattern means nothing.
type SyntaxError struct {
	Pattern string
	Offset  int    // bytes into Pattern where it went wrong
	Reason  string // in RE2's words where it has some
	Instead string // what to write in its place
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("pattern %q, byte %d: %s; %s", e.Pattern, e.Offset, e.Reason, e.Instead)
}

// UnsupportedError names a part of other dialects that a pattern uses.
type UnsupportedError struct {
	Pattern string
	Offset  int    // bytes into Pattern where the feature stands
	Feature string // what it is, such as "look-ahead"
	Instead string // what to write in its place
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("pattern %q, byte %d: %s is not supported; %s", e.Pattern, e.Offset, e.Feature, e.Instead)
}

// Pattern is a compiled pattern. It may be used by many goroutines at once.
type Pattern struct {
	multiline bool
	invert    bool
	need      *Need
	plan      plan
	exists    *program // tells whether a line matches, and not where
	spans     *program // tells where
	caches    sync.Pool
}

// Compile makes a Pattern. Its errors are *SyntaxError and *UnsupportedError.
func Compile(o Options) (*Pattern, error) {
	tree, err := parse(o)
	if err != nil {
		return nil, err
	}
	if o.Multiline && staysInLine(tree) {
		o.Multiline = false
		if tree, err = parse(o); err != nil {
			return nil, err
		}
	}
	p := &Pattern{multiline: o.Multiline, invert: o.Invert}
	slim := tree
	if !o.Multiline {
		slim = trimEnds(tree)
	}
	if p.spans, err = compile(tree, o); err != nil {
		return nil, err
	}
	p.exists = p.spans
	if slim != tree {
		if p.exists, err = compile(slim, o); err != nil {
			return nil, err
		}
	}
	wants := analyse(slim)
	p.need = wants.need
	p.plan = newPlan(wants)
	p.caches.New = func() any { return &cache{p: p} }
	if o.Invert {
		p.need = nil
	}
	return p, nil
}

// Need tells what a text must hold to have a match: a literal, all of some needs
// or any of some. Exactly one of its fields beside Fold is set. A text that does
// not hold it has no match; one that does may have none.
type Need struct {
	Literal []byte
	Fold    bool // Literal is in lower case and its ASCII letters match in either
	All     []*Need
	Any     []*Need
}

// Need returns nil when a text without a certain literal can match, or when all
// lines that do not match are asked for.
func (p *Pattern) Need() *Need { return p.need }

// Multiline reports whether matches may span lines. Find wants the whole text then,
// where otherwise a block of whole lines does.
func (p *Pattern) Multiline() bool { return p.multiline }
