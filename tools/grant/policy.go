package grant

import (
	"fmt"
	"slices"
	"strings"
)

// Policy says which arguments a program may be given.
type Policy struct {
	// Words: an option is a whole word after one dash, or two, as go and find have
	// them. Else options are those of GNU: --long, --long=value, -s, and short ones
	// may stand together.
	Words    bool
	Options  []string  // before the sub-command; see [Command.Options]
	Commands []Command // what is not named is refused
}

// Command is a sub-command.
type Command struct {
	Name string // its words, as "stash list"; "" of a program that has no sub-commands
	// Options that are allowed, in this notation: "--name" and "-n" take no value,
	// "--name=CLASS" and "-n=CLASS" take one, "--name[=CLASS]" and "-n[=CLASS]" take
	// one that is attached or none, "-#" is a number after one dash. CLASS is one of
	// Classes, or values with "|" between them, or nothing for any value.
	Options  []string
	Any      bool     // all options but those of Refused are allowed
	Refused  []string // names of options; of a long one, what could be short for it, too
	Operands []string // classes of the operands in their order, the last one also of all further ones; nil: none are allowed
	Needs    []string // operands only with one of these options
	Rest     bool     // what follows the first operand is not the program's own, and is not looked at
	Tail     bool     // likewise, what follows "--"
	Add      []string // what loomd adds behind the sub-command's name
}

// value says whether an option has one.
type value int

const (
	none value = iota
	required
	optional
)

// option is one allowed option.
type option struct {
	value value
	class string
}

// parseOptions reads the notation of [Command.Options].
func parseOptions(list []string) map[string]option {
	options := map[string]option{}
	for _, text := range list {
		if name, class, ok := strings.Cut(text, "[="); ok {
			options[name] = option{optional, strings.TrimSuffix(class, "]")}
		} else if name, class, ok := strings.Cut(text, "="); ok {
			options[name] = option{required, class}
		} else {
			options[text] = option{}
		}
	}
	return options
}

// CheckOption reports whether text is in the notation of [Command.Options].
func CheckOption(text string) error {
	name, class, _ := strings.Cut(text, "=")
	name = strings.TrimSuffix(name, "[")
	class = strings.TrimSuffix(class, "]")
	switch {
	case !strings.HasPrefix(name, "-") || strings.Trim(name, "-") == "" || strings.ContainsAny(name, " []|"):
		return fmt.Errorf("%q is no option: write --name, --name=CLASS or --name[=CLASS]", text)
	case class != "" && !strings.Contains(class, "|") && classes[class] == nil:
		return fmt.Errorf("%q is no class of values: they are %s, or values with | between them", class, strings.Join(Classes(), ", "))
	}
	return nil
}

// walk is one look at a list of arguments.
type walk struct {
	policy  *Policy
	args    []string
	i       int // the argument that is looked at
	command *Command
	what    string // how the refusal calls the sub-command
	options map[string]option
	given   []string // names of the options so far
}

// check looks at arguments. at is where the words of the sub-command end.
func (p *Policy) check(args []string) (at int, command *Command, denied *Denied) {
	w := &walk{policy: p, args: args, what: "here", options: parseOptions(p.Options), command: &Command{}}
	plain := len(p.Commands) == 1 && p.Commands[0].Name == ""
	for !plain && w.i < len(args) && isOption(args[w.i]) {
		if denied := w.option(); denied != nil {
			return 0, nil, denied
		}
		w.i++
	}
	if w.command = p.find(args[w.i:]); w.command == nil {
		if w.i == len(args) && len(w.given) > 0 {
			return w.i, &Command{}, nil // git --version
		}
		why := "this sub-command is not allowed"
		if w.i == len(args) {
			why = "a sub-command is missing"
		}
		return 0, nil, deny(args, w.i, "allowed are "+p.names(), "%s", why)
	}
	if w.command.Name != "" {
		w.what = "with " + w.command.Name
		w.i += len(strings.Fields(w.command.Name))
	}
	at = w.i
	w.options = parseOptions(w.command.Options)
	return at, w.command, w.rest()
}

// find is the sub-command that has the most words of args.
func (p *Policy) find(args []string) *Command {
	var found *Command
	longest := -1
	for i := range p.Commands {
		c := &p.Commands[i]
		words := strings.Fields(c.Name)
		if len(words) > longest && len(words) <= len(args) && slices.Equal(words, args[:len(words)]) {
			found, longest = c, len(words)
		}
	}
	return found
}

// names lists the sub-commands for a hint.
func (p *Policy) names() string {
	var names []string
	for _, c := range p.Commands {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}

// rest looks at what follows the sub-command.
func (w *walk) rest() *Denied {
	operands, first := 0, 0
	for ended := false; w.i < len(w.args); w.i++ {
		arg := w.args[w.i]
		if !ended && arg == "--" {
			if w.command.Tail {
				break
			}
			ended = true
			continue
		}
		if !ended && isOption(arg) {
			if denied := w.option(); denied != nil {
				return denied
			}
			continue
		}
		if isOption(arg) {
			return deny(w.args, w.i, "write ./"+arg, "what begins with - could be taken for an option")
		}
		if operands == 0 {
			first = w.i
		}
		if denied := w.operand(operands); denied != nil {
			return denied
		}
		if operands++; w.command.Rest {
			break
		}
	}
	if operands > 0 && len(w.command.Needs) > 0 && !slices.ContainsFunc(w.command.Needs, func(n string) bool { return slices.Contains(w.given, n) }) {
		return deny(w.args, first, "add one of "+strings.Join(w.command.Needs, ", "), "not allowed %s without an option that says that it only looks", w.what)
	}
	return nil
}

// isOption reports whether a program may take an argument for an option.
func isOption(arg string) bool { return len(arg) > 1 && arg[0] == '-' }

func (w *walk) operand(n int) *Denied {
	list := w.command.Operands
	if len(list) == 0 {
		return deny(w.args, w.i, "", "no argument of this kind is allowed %s", w.what)
	}
	if err := checkValue(list[min(n, len(list)-1)], w.args[w.i]); err != nil {
		return deny(w.args, w.i, "", "%v", err)
	}
	return nil
}

// option looks at the option at w.i, and its value, which can be the next
// argument: then w.i is there.
func (w *walk) option() *Denied {
	arg := w.args[w.i]
	switch {
	case w.command.Any:
		return w.unrefused(arg)
	case w.policy.Words:
		name, value, attached := strings.Cut(arg, "=")
		return w.known("-"+strings.TrimLeft(name, "-"), value, attached)
	case strings.HasPrefix(arg, "--"):
		name, value, attached := strings.Cut(arg, "=")
		return w.known(name, value, attached)
	}
	return w.short(arg)
}

// known looks at one whole option.
func (w *walk) known(name, value string, attached bool) *Denied {
	o, ok := w.options[name]
	if !ok {
		return w.unknown(name)
	}
	w.given = append(w.given, name)
	switch {
	case o.value == none && attached && !(w.policy.Words && slices.Contains([]string{"true", "false", "1", "0"}, value)):
		return deny(w.args, w.i, "", "%s takes no value", name)
	case o.value == required && !attached:
		return w.next(name, o.class)
	case attached && o.value != none:
		if err := checkValue(o.class, value); err != nil {
			return deny(w.args, w.i, "", "%s: %v", name, err)
		}
	}
	return nil
}

// next looks at the argument that is an option's value. A value that is missing
// is for the program to complain of.
func (w *walk) next(name, class string) *Denied {
	if w.i+1 == len(w.args) {
		return nil
	}
	w.i++
	arg := w.args[w.i]
	if isOption(arg) && class != "signed" {
		return deny(w.args, w.i, "attach it to "+name, "a value that begins with - could be taken for an option")
	}
	if err := checkValue(class, arg); err != nil {
		return deny(w.args, w.i, "", "%s: %v", name, err)
	}
	return nil
}

// short looks at short options that stand together.
func (w *walk) short(arg string) *Denied {
	if _, ok := w.options["-#"]; ok && checkNumber(arg[1:]) == nil {
		return nil
	}
	for k, letter := range arg[1:] {
		name := "-" + string(letter)
		o, ok := w.options[name]
		if !ok {
			return w.unknown(name)
		}
		w.given = append(w.given, name)
		value := arg[1+k+len(string(letter)):]
		switch {
		case o.value == none:
			continue
		case value != "":
			if err := checkValue(o.class, value); err != nil {
				return deny(w.args, w.i, "", "%s: %v", name, err)
			}
		case o.value == required:
			return w.next(name, o.class)
		}
		return nil
	}
	return nil
}

// unknown refuses an option that is not on the list.
func (w *walk) unknown(name string) *Denied {
	hint := ""
	for known := range w.options {
		if len(name) > 3 && strings.HasPrefix(known, name) && (hint == "" || known < hint) {
			hint = known
		}
	}
	if hint != "" {
		hint = "write it in full: " + hint
	}
	return deny(w.args, w.i, hint, "the option %s is not allowed %s", name, w.what)
}

// unrefused looks at an option where all are allowed but some. What could be
// short for a refused one is refused, and a letter of it among others, too.
func (w *walk) unrefused(arg string) *Denied {
	name, _, _ := strings.Cut(arg, "=")
	bare := strings.TrimLeft(name, "-")
	for _, refused := range w.command.Refused {
		long := strings.TrimLeft(refused, "-")
		letter := len(long) == 1 && !strings.HasPrefix(arg, "--") && strings.Contains(arg[1:], long)
		whole := name == refused || len(long) > 1 && bare == long
		abbreviated := strings.HasPrefix(refused, "--") && strings.HasPrefix(name, "--") && strings.HasPrefix(long, bare)
		attached := len(long) > 1 && strings.HasPrefix(bare, long) && !strings.HasPrefix(refused, "--")
		if letter || whole || abbreviated || attached {
			return deny(w.args, w.i, "", "the option %s is refused", refused)
		}
	}
	return nil
}
