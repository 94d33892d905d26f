package permission

import (
	"fmt"
	"slices"
	"strings"
)

// Effect is what becomes of a command.
type Effect string

// The effects, the laxest first. Deny beats ask, ask beats allow.
const (
	Allow Effect = "allow"
	Ask   Effect = "ask"
	Deny  Effect = "deny"
)

// Rule is about the commands whose words fit Command, one pattern for each word.
// In a pattern "*" stands for any text; "**" as the last pattern stands for any
// further words, also for none. Of a deny and an ask, the first pattern fits the
// program wherever it lies; of an allow it fits the word as it is written.
type Rule struct {
	Name     string
	Effect   Effect
	Command  []string // none: every command
	Tools    []string // only of these tools; none: of all
	Sessions []string // only of sessions with such a label; "*" stands for any text
	Source   string
}

// Call is what shall run.
type Call struct {
	Tool   string
	Label  string // of the session
	Script Script
}

// Ruling is what rules say of a call.
type Ruling struct {
	Effect Effect
	Rule   string // that decided, "" when it was the default
	Source string // of the rule
	Why    string // for people: what is denied or asked about
}

// Decide rules on a call. normal is what becomes of it where no rule says
// anything; with Allow there every command may run that no rule denies or asks
// about, else every single one needs a rule that allows it.
func Decide(rules []Rule, call Call, normal Effect) Ruling {
	var asked *Ruling
	ask := func(r *Rule, format string, args ...any) {
		if asked == nil {
			asked = &Ruling{Effect: Ask, Rule: r.Name, Source: r.Source, Why: fmt.Sprintf(format, args...)}
		}
	}
	for i := range rules {
		r := &rules[i]
		if r.Effect == Allow || !r.applies(call) {
			continue
		}
		for _, c := range call.Script.Commands {
			switch how := r.fits(c); {
			case how == surely && r.Effect == Deny:
				return Ruling{Deny, r.Name, r.Source, "it would run " + short(c.Text())}
			case how == surely:
				ask(r, "it would run %s", short(c.Text()))
			case how == perhaps:
				ask(r, "%s could be what the rule is about", short(c.Text()))
			}
		}
		if len(r.Command) == 0 && r.Effect == Deny {
			return Ruling{Deny, r.Name, r.Source, "the rule is about every command"}
		}
		if len(call.Script.Opaque) > 0 {
			ask(r, "what it would run cannot be told: %s", call.Script.Opaque[0])
		}
		if len(r.Command) == 0 {
			ask(r, "the rule is about every command")
		}
	}
	switch {
	case asked != nil:
		return *asked
	case normal == Allow:
		return Ruling{Effect: Allow}
	}
	return allowed(rules, call, normal)
}

// allowed looks for a rule for each command.
func allowed(rules []Rule, call Call, normal Effect) Ruling {
	if len(call.Script.Opaque) > 0 {
		return Ruling{Effect: normal, Why: "what it would run cannot be told: " + call.Script.Opaque[0]}
	}
	var first Ruling
	for _, c := range call.Script.Commands {
		if c.through {
			continue
		}
		i := slices.IndexFunc(rules, func(r Rule) bool { return r.Effect == Allow && r.applies(call) && r.allows(c) })
		if i < 0 {
			return Ruling{Effect: normal, Why: "no rule allows " + short(c.Text())}
		}
		if first.Rule == "" {
			first = Ruling{Rule: rules[i].Name, Source: rules[i].Source}
		}
	}
	first.Effect = Allow
	return first
}

func (r *Rule) applies(call Call) bool {
	return (len(r.Tools) == 0 || slices.Contains(r.Tools, call.Tool)) &&
		(len(r.Sessions) == 0 || slices.ContainsFunc(r.Sessions, func(p string) bool { return fits(p, call.Label) }))
}

// match is how far a command fits a rule.
type match int

const (
	not     match = iota
	perhaps       // it depends on words that are not known
	surely
)

// fits reports whether a deny or an ask is about a command.
func (r *Rule) fits(c Command) match {
	if len(r.Command) == 0 {
		return surely
	}
	words, patterns := slices.Clone(c.Words), slices.Clone(r.Command)
	if !strings.Contains(patterns[0], "=") {
		patterns[0] = strings.ToLower(patterns[0])
	}
	if len(words) > 0 && words[0].is == literal && !isAssignment(words[0].Text) {
		if strings.Contains(patterns[0], "/") {
			words[0].Text = strings.ToLower(words[0].Text)
		} else {
			words[0].Text = base(words[0].Text)
		}
	}
	switch {
	case fitsSurely(patterns, words, c.more):
		return surely
	case fitsPerhaps(patterns, words, c.more):
		return perhaps
	}
	return not
}

// fitsSurely reports whether the words fit whatever the unknown ones are.
func fitsSurely(patterns []string, words []Word, more bool) bool {
	for i, p := range patterns {
		if p == "**" {
			return true
		}
		if i >= len(words) || words[i].is == unknowns || !fits(p, words[i].Text) {
			return false
		}
	}
	return len(words) == len(patterns) && !more
}

// fitsPerhaps reports whether the words can fit, whatever those that are not
// literal turn out to be.
func fitsPerhaps(patterns []string, words []Word, more bool) bool {
	// can[i]: the patterns from i on can fit the words from the present one on.
	can := make([]bool, len(patterns)+1)
	for i := len(patterns); i >= 0; i-- {
		can[i] = i == len(patterns) || more || patterns[i] == "**" && can[i+1]
	}
	for j := len(words) - 1; j >= 0; j-- {
		next := can
		can = make([]bool, len(patterns)+1)
		for i := len(patterns); i >= 0; i-- {
			switch w := words[j]; {
			case w.is == unknowns:
				can[i] = next[i] || i < len(patterns) && can[i+1]
			case i == len(patterns):
				can[i] = false
			case patterns[i] == "**":
				can[i] = can[i+1] || next[i]
			default:
				can[i] = w.canFit(patterns[i]) && (next[i+1] || w.is == pattern && can[i+1])
			}
		}
	}
	return can[0]
}

// canFit reports whether what a word turns out to be can fit a pattern.
func (w Word) canFit(p string) bool {
	if fits(p, w.Text) {
		return true
	}
	begin, _, _ := strings.Cut(p, "*")
	switch w.is {
	case home:
		return strings.HasPrefix(p, "/")
	case pattern:
		fixed := w.Text[:strings.IndexAny(w.Text, "*?[")]
		return strings.HasPrefix(fixed, begin) || strings.HasPrefix(begin, fixed) || strings.ContainsAny(fixed, "'\"")
	}
	return false
}

// allows reports whether an allow is about a command. A word that is not known
// is about nothing; the name of a file that a pattern stands for only about "*".
func (r *Rule) allows(c Command) bool {
	if c.more || slices.ContainsFunc(c.Words, func(w Word) bool { return w.is == unknowns }) {
		return false
	}
	if len(r.Command) == 0 {
		return true
	}
	for i, p := range r.Command {
		if p == "**" && i == len(r.Command)-1 {
			return true
		}
		if i >= len(c.Words) {
			return false
		}
		w := c.Words[i]
		switch {
		case w.is != literal && (p != "*" || i == 0):
			return false
		case !fits(p, w.Text):
			return false
		case p != "*" && strings.Contains(p, "*") && climbs(w.Text):
			return false // build/../../x is not in build
		}
	}
	return len(c.Words) == len(r.Command)
}

func climbs(text string) bool {
	return slices.Contains(strings.FieldsFunc(text, func(r rune) bool { return r == '/' || r == '=' || r == '\\' }), "..")
}

// fits reports whether a text fits a pattern, in which "*" stands for any text.
func fits(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	rest, ok := strings.CutPrefix(text, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}

// maxShown is how many bytes of a command a reason repeats.
const maxShown = 200

func short(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) > maxShown {
		return strings.ToValidUTF8(text[:maxShown], "") + "…"
	}
	return text
}
