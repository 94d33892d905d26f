// Package permission says whether a command may run: allow, ask or deny, by
// rules over the words of what it would run.
//
// A command is read as bash reads it, by the syntax tree of mvdan.cc/sh. What is
// known of it before it runs are its literal words; the rest is unknown, and
// never makes anything more allowed. It starts nothing and reads no file: what a
// program does that a command starts is not its business.
package permission

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of what is read. The parser goes as deep as the text nests, some
// kilobytes of stack per level, and a stack that overflows ends the daemon.
const (
	MaxCommand = 64 << 10 // bytes of a command
	maxNesting = 500
	maxDepth   = 8 // of texts in texts: sh -c 'sh -c "…"'
	maxWords   = 100_000
)

// certainty says what is known of a word before the command runs.
type certainty int

const (
	literal  certainty = iota // exactly this text
	home                      // this text, with the name of a home directory for the "~" at its beginning
	pattern                   // names of files that begin as the text does, and not with "-"
	unknowns                  // any number of words
)

// Word is one word of a command.
type Word struct {
	Text string // of a literal without its quotation, else as it is written
	is   certainty
}

// Command is one simple command, or what else a rule can be about:
//
//	[">", FILE], ["<", FILE]   a redirection to or from a file
//	["<<"]                     a text for its input
//	["NAME=VALUE"]             a variable that is set
//	["[["], ["(("]             an expression of the shell
type Command struct {
	Words []Word
	more  bool // other words follow that are not known
	// through: it runs the command after it and nothing else, as nohup does, so
	// that it needs no allowing.
	through bool
}

// Script is what a command would run, as far as it can be told.
type Script struct {
	Commands []Command
	Opaque   []string // what keeps it from being told, each in some words
}

// Text is the command for people, its words with blanks between them.
func (c Command) Text() string {
	var words []string
	for _, w := range c.Words {
		words = append(words, w.Text)
	}
	if c.more {
		words = append(words, "…")
	}
	return strings.Join(words, " ")
}

// Of is the script that runs one program with literal words.
func Of(argv []string) Script {
	c := Command{}
	for _, a := range argv {
		c.Words = append(c.Words, Word{Text: a})
	}
	return Script{Commands: []Command{c}}
}

// Parse reads a command. One that cannot be read is opaque, and holds what comes
// before the place where it is wrong: bash runs that.
func Parse(text string) (script Script) {
	r := &reader{}
	defer func() {
		if p := recover(); p != nil { // a defect of the parser
			r.opaque("it is not understood")
			script = r.script
		}
	}()
	r.text(text, 0)
	return r.script
}

// reader collects what a script runs.
type reader struct {
	script Script
	words  int
}

func (r *reader) opaque(why string) { r.script.Opaque = append(r.script.Opaque, why) }

// text reads a script; depth is how many scripts it stands in.
func (r *reader) text(text string, depth int) {
	switch {
	case len(text) > MaxCommand:
		r.opaque("it is longer than what is read")
		return
	case depth > maxDepth || nesting(text) > maxNesting:
		r.opaque("it nests too deep")
		return
	case strings.ContainsRune(text, 0):
		r.opaque("it holds a NUL byte")
	}
	p := syntax.NewParser(syntax.Variant(syntax.LangBash))
	file, err := p.Parse(strings.NewReader(text), "")
	if err != nil {
		r.opaque("it is no valid script for bash: " + firstLine(err))
		r.beginning(text, depth)
		return
	}
	r.walk(file, text, depth)
}

// beginning reads the statements of a broken script that are whole.
func (r *reader) beginning(text string, depth int) {
	p := syntax.NewParser(syntax.Variant(syntax.LangBash))
	for stmt, err := range p.StmtsSeq(strings.NewReader(text)) {
		if err != nil || stmt == nil {
			return
		}
		r.walk(stmt, text, depth)
	}
}

func firstLine(err error) string {
	var at syntax.ParseError
	if errors.As(err, &at) {
		return at.Text
	}
	return "not understood"
}

// nesting is how deep a text nests at most, quoted or not.
func nesting(text string) int {
	depth, deepest := 0, 0
	for _, b := range []byte(text) {
		switch b {
		case '(', '{':
			depth++
			deepest = max(deepest, depth)
		case ')', '}':
			depth = max(0, depth-1)
		}
	}
	return deepest
}

// walk collects all commands below a node, those in substitutions and function
// bodies among them.
func (r *reader) walk(node syntax.Node, text string, depth int) {
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			r.assignments(n.Assigns, text)
			if len(n.Args) > 0 {
				r.command(r.read(n.Args, text), false, depth)
			}
		case *syntax.DeclClause:
			r.declaration(n, text)
		case *syntax.Redirect:
			r.redirect(n, text)
		case *syntax.TestClause:
			r.add(Command{Words: []Word{{Text: "[["}}, more: true})
		case *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
			r.add(Command{Words: []Word{{Text: "(("}}, more: true})
		case *syntax.ExtGlob:
			// Without shopt -s extglob bash takes !(a) for a subshell.
			r.opaque("it holds an extended pattern: " + n.Op.String() + "…)")
			r.text(n.Pattern.Value, depth+1)
		}
		return true
	})
}

// add keeps a command, unless there are too many.
func (r *reader) add(c Command) {
	if r.words += 1 + len(c.Words); r.words > maxWords {
		if len(r.script.Opaque) == 0 || r.words-len(c.Words) <= maxWords {
			r.opaque("it has too many words")
		}
		return
	}
	r.script.Commands = append(r.script.Commands, c)
}

func (r *reader) read(list []*syntax.Word, text string) []Word {
	words := make([]Word, len(list))
	for i, w := range list {
		words[i] = readWord(w, text)
	}
	return words
}

func (r *reader) assignments(list []*syntax.Assign, text string) {
	for _, a := range list {
		if a.Name != nil && !a.Naked {
			r.add(Command{Words: []Word{assignment(a, text)}})
		}
	}
}

// assignment is NAME=VALUE as a word.
func assignment(a *syntax.Assign, text string) Word {
	name := a.Name.Value + "="
	if a.Append {
		name = a.Name.Value + "+="
	}
	switch {
	case a.Index != nil || a.Array != nil:
		return Word{name + "…", unknowns}
	case a.Value == nil:
		return Word{name, literal}
	}
	w := readWord(a.Value, text)
	if w.is == pattern || w.is == home {
		w.is = literal // names of files are not looked for in an assignment
	}
	return Word{name + w.Text, w.is}
}

func (r *reader) declaration(n *syntax.DeclClause, text string) {
	words := []Word{{Text: n.Variant.Value}}
	for _, a := range n.Args {
		switch {
		case a.Name == nil:
			words = append(words, readWord(a.Value, text))
		case a.Naked:
			words = append(words, Word{Text: a.Name.Value})
		default:
			words = append(words, assignment(a, text))
		}
	}
	r.assignments(n.Args, text)
	r.add(Command{Words: words})
}

// harmless are what a redirection may lead to without writing or reading a file.
var harmless = map[string]bool{"/dev/null": true, "/dev/stdout": true, "/dev/stderr": true, "-": true}

func (r *reader) redirect(n *syntax.Redirect, text string) {
	target := Word{"", unknowns}
	if n.Word != nil {
		target = readWord(n.Word, text)
	}
	op := ">"
	switch n.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		r.add(Command{Words: []Word{{Text: "<<"}}})
		return
	case syntax.RdrIn:
		op = "<"
	case syntax.DplIn, syntax.DplOut:
		if target.is == literal && strings.Trim(target.Text, "0123456789-") == "" {
			return
		}
		if n.Op == syntax.DplIn {
			op = "<"
		}
	}
	if target.is == literal && harmless[target.Text] && target.Text != "-" {
		return
	}
	r.add(Command{Words: []Word{{Text: op}, target}})
}

// base is the name of a program as rules call it.
func base(name string) string {
	name = strings.ToLower(path.Base(strings.ReplaceAll(name, `\`, "/")))
	return strings.TrimSuffix(name, ".exe")
}

// Quote is an argument list as a shell would be told it.
func Quote(argv []string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		quoted, err := syntax.Quote(a, syntax.LangBash)
		if err != nil {
			quoted = fmt.Sprintf("%q", a) // a NUL byte, with which nothing runs
		}
		words[i] = quoted
	}
	return strings.Join(words, " ")
}

// Runs lists what a script runs, each command as a text.
func (s Script) Runs() []string {
	list := []string{}
	for _, c := range s.Commands {
		list = append(list, short(c.Text()))
	}
	return list
}
