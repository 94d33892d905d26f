package permission

import "strings"

// wrapper is a program that runs another one, which its arguments name.
type wrapper struct {
	flags    string // letters of the options without a value
	values   string // letters of those with one, attached or in the next word
	longs    string // long options with a value, with blanks around them
	operands int    // words of its own before the other program's
	sets     bool   // NAME=VALUE may stand before the other program
	more     bool   // it adds words to the other program's
	through  bool   // it needs no allowing itself
}

var wrappers = map[string]wrapper{
	"env":     {flags: "i0v", values: "uC", longs: " --unset --chdir ", sets: true, through: true},
	"nohup":   {through: true},
	"setsid":  {flags: "cfw", through: true},
	"nice":    {values: "n", longs: " --adjustment ", through: true},
	"ionice":  {flags: "t", values: "cn", longs: " --class --classdata ", through: true},
	"timeout": {flags: "vfp", values: "sk", longs: " --signal --kill-after ", operands: 1, through: true},
	"stdbuf":  {values: "ioe", longs: " --input --output --error ", through: true},
	"time":    {flags: "pvaq", values: "fo", longs: " --format --output "},
	"command": {flags: "p", through: true},
	"builtin": {through: true},
	"exec":    {flags: "cl", values: "a"},
	"sudo":    {flags: "ABbEHnPSkKsi", values: "CDghpRrTtUu", longs: " --user --group --chdir --host --prompt --close-from --chroot ", sets: true},
	"doas":    {flags: "nLs", values: "uC"},
	"xargs":   {flags: "0rtpxo", values: "adEILnPs", longs: " --arg-file --delimiter --max-args --max-chars --max-lines --max-procs --replace --eof ", more: true},
	"flock":   {flags: "nexsuoF", values: "wE", longs: " --wait --conflict-exit-code ", operands: 1},
	"chroot":  {longs: " --userspec --groups ", operands: 1},
	"busybox": {}, "toybox": {},
	"strace": {flags: "fFqvtTcCyrwnkiD", values: "oesSpuPaEX", sets: true},
	"watch":  {flags: "bcdegtxp", values: "nq", longs: " --interval "},
}

// shells run a text that comes after -c, and else a file or their input.
var shells = map[string]bool{
	"sh": true, "bash": true, "dash": true, "ash": true, "ksh": true, "mksh": true, "zsh": true, "rbash": true, "fish": true, "csh": true, "tcsh": true, "su": true,
}

// command keeps a command, and what it runs by its words.
func (r *reader) command(words []Word, more bool, depth int) {
	c := Command{Words: words, more: more}
	name := ""
	if len(words) > 0 && words[0].is == literal {
		name = base(words[0].Text)
	}
	w, known := wrappers[name]
	if !known {
		r.add(c)
		r.inner(name, words, more, depth)
		return
	}
	if depth > maxDepth {
		r.add(c)
		r.opaque("it nests too deep")
		return
	}
	at, ok := w.skip(r, words)
	c.through = w.through && ok && at < len(words) && words[0].Text == name // not ./env, and not env alone
	r.add(c)
	switch {
	case !ok:
		r.opaque(name + " has options that are not known here")
		for i := 1; i < len(words); i++ {
			r.command(words[i:], true, maxDepth+1)
		}
	case at < len(words):
		r.command(words[at:], more || w.more, depth+1)
	}
}

// skip finds where the other program's words begin, len(words) when there are
// none. ok is false when that cannot be told.
func (w wrapper) skip(r *reader, words []Word) (at int, ok bool) {
	operands := w.operands
	for at = 1; at < len(words); at++ {
		word := words[at]
		switch {
		case word.is == unknowns:
			return 0, false
		case word.Text == "--":
			continue
		case len(word.Text) > 1 && word.Text[0] == '-' && word.is == literal:
			if words[0].Text == "command" && strings.ContainsAny(word.Text, "vV") && word.Text[1] != '-' {
				return len(words), true // says what it would run
			}
			separate, ok := w.option(word.Text)
			if !ok {
				return 0, false
			}
			if separate {
				at++
			}
		case word.Text == "-" && w.sets:
		case w.sets && isAssignment(word.Text):
			r.add(Command{Words: []Word{word}})
		case operands > 0:
			operands--
		default:
			return at, true
		}
	}
	return len(words), true
}

// option reports whether a wrapper's option has its value in the next word.
func (w wrapper) option(text string) (separate, ok bool) {
	if strings.HasPrefix(text, "--") {
		name, _, attached := strings.Cut(text, "=")
		if strings.Contains(w.longs, " "+name+" ") {
			return !attached, true
		}
		return false, !attached && longFlags[name]
	}
	if strings.Trim(text[1:], "0123456789") == "" {
		return false, strings.Contains(w.values, "n") // nice -10
	}
	for i := 1; i < len(text); i++ {
		switch {
		case strings.IndexByte(w.flags, text[i]) >= 0:
		case strings.IndexByte(w.values, text[i]) >= 0:
			return i+1 == len(text), true
		default:
			return false, false
		}
	}
	return false, true
}

// longFlags are long options of wrappers without a value.
var longFlags = map[string]bool{
	"--ignore-environment": true, "--null": true, "--no-run-if-empty": true, "--verbose": true, "--preserve-status": true, "--foreground": true,
	"--non-interactive": true, "--wait": true, "--fork": true, "--nonblock": true, "--portability": true,
}

func isAssignment(text string) bool {
	name, _, ok := strings.Cut(text, "=")
	return ok && name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// inner reads what a command runs that takes a text, or other commands, in its
// words.
func (r *reader) inner(name string, words []Word, more bool, depth int) {
	switch {
	case shells[name]:
		r.shell(name, words, more, depth)
	case name == "eval":
		r.join(words[1:], more, depth)
	case name == "trap" && len(words) > 1:
		if words[1].is == literal && strings.HasPrefix(words[1].Text, "-") && len(words) > 2 {
			words = words[1:]
		}
		r.join(words[1:2], false, depth)
	case name == "alias":
		for _, w := range words[1:] {
			if _, value, ok := strings.Cut(w.Text, "="); ok && w.is == literal {
				r.text(value, depth+1)
			} else if w.is != literal {
				r.opaque("an alias is not known before it runs")
			}
		}
	case name == "find":
		r.find(words, depth)
	case name == "parallel" || name == "script" || name == "unshare" || name == "nsenter" || name == "systemd-run":
		r.opaque(name + " runs what is not looked into")
	}
}

// join reads words as one text.
func (r *reader) join(words []Word, more bool, depth int) {
	var texts []string
	for _, w := range words {
		if w.is != literal {
			more = true
			break
		}
		texts = append(texts, w.Text)
	}
	if more {
		r.opaque("a text that is run is not known before")
	}
	r.text(strings.Join(texts, " "), depth+1)
}

// shell reads the text after -c. Without one and without a file, the input is
// run, which nobody knows.
func (r *reader) shell(name string, words []Word, more bool, depth int) {
	code := false
	for i := 1; i < len(words); i++ {
		w := words[i]
		switch {
		case w.is == unknowns:
			r.opaque("what " + name + " runs is not known before")
			return
		case len(w.Text) > 1 && (w.Text[0] == '-' || w.Text[0] == '+'):
			long := strings.HasPrefix(w.Text, "--")
			code = code || !long && w.Text[0] == '-' && strings.ContainsRune(w.Text, 'c') || w.Text == "--command"
			if value, ok := strings.CutPrefix(w.Text, "--command="); ok {
				r.text(value, depth+1)
				return
			}
			if w.Text == "--rcfile" || w.Text == "--init-file" || !long && strings.HasSuffix(w.Text, "o") {
				i++
			}
		case code:
			r.join(words[i:i+1], false, depth)
			return
		case name != "su":
			return // a file
		}
	}
	if name != "su" || code || more {
		r.opaque("what " + name + " runs comes from its input")
	}
}

// find reads the commands of find's actions.
func (r *reader) find(words []Word, depth int) {
	for i := 1; i < len(words); i++ {
		switch words[i].Text {
		case "-exec", "-execdir", "-ok", "-okdir":
		default:
			if words[i].is == unknowns {
				r.opaque("an action of find is not known before it runs")
			}
			continue
		}
		var inner []Word
		for i++; i < len(words) && words[i].Text != ";" && words[i].Text != "+"; i++ {
			w := words[i]
			if strings.Contains(w.Text, "{}") {
				w.is = unknowns
			}
			inner = append(inner, w)
		}
		if len(inner) > 0 {
			r.command(inner, false, depth+1)
		}
	}
}
