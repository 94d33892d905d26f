// Package grant says with which arguments an agent may call a program.
//
// A [Grant] is one executable at a fixed path and a [Policy] over its
// arguments. The policies that are shipped ([Preset]) are allow lists: a
// sub-command or an option that is not named is refused, an abbreviated option
// is not the option, and a value that looks like an option is refused where a
// program could take it for one. So a mistake about what a program does with an
// argument refuses too much rather than too little.
//
// It starts nothing and reads no file.
package grant

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Grant is one program that agents may call.
type Grant struct {
	Name        string   // of the tool: command_<name>
	Description string   // what the model is told of it
	Path        string   // of the executable, absolute
	Policy      Policy   // which arguments are allowed
	Prefix      []string // arguments that loomd puts before those of the call
	Env         []string // "NAME=value", over the environment of commands
	Secrets     []string // names of the secrets that the program gets
	Host        bool     // it runs on the host, not in the session's sandbox
}

// Denied says which argument is refused and why.
type Denied struct {
	Index int    // of the argument, from 0; the number of arguments when one is missing
	Arg   string // the argument, cut to what a message can hold
	Why   string
	Hint  string // what is allowed in its place, "" when nothing is
}

func (d *Denied) Error() string {
	if d.Arg == "" {
		return d.Why
	}
	return fmt.Sprintf("argument %d, %q: %s", d.Index+1, d.Arg, d.Why)
}

// maxQuoted is how many bytes of an argument a refusal repeats.
const maxQuoted = 80

func deny(args []string, i int, hint, format string, values ...any) *Denied {
	d := &Denied{Index: i, Why: fmt.Sprintf(format, values...), Hint: hint}
	if i < len(args) {
		d.Arg = args[i]
		if len(d.Arg) > maxQuoted {
			d.Arg = strings.ToValidUTF8(d.Arg[:maxQuoted], "") + "…"
		}
		d.Arg = strings.ToValidUTF8(d.Arg, "\uFFFD")
	}
	return d
}

// Check reports nil when the program may be called with args, else a *Denied.
func (g *Grant) Check(args []string) error {
	_, err := g.Argv(args)
	return err
}

// Argv is what the program is called with, without its own name: the arguments
// of the call and those that loomd adds. The error is a *Denied.
func (g *Grant) Argv(args []string) ([]string, error) {
	for i, a := range args {
		switch {
		case strings.ContainsRune(a, 0):
			return nil, deny(args, i, "", "no argument holds a NUL byte")
		case !utf8.ValidString(a):
			return nil, deny(args, i, "", "not UTF-8")
		}
	}
	at, command, denied := g.Policy.check(args)
	if denied != nil {
		return nil, denied
	}
	return slices.Concat(g.Prefix, args[:at], command.Add, args[at:]), nil
}
