package config

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Secret is a [secrets.NAME]: where a value comes from and what may use it, never
// the value. Of what is for one provider alone the others have nothing.
type Secret struct {
	Name        string   `json:"name"`
	Provider    string   `json:"provider"` // one of Providers
	Env         string   `json:"-"`        // of env: the variable
	File        string   `json:"-"`        // of file: its absolute path
	Ref         string   `json:"-"`        // of op: op://vault/item/field
	Account     string   `json:"-"`        // of op; "": op's default
	Command     []string `json:"-"`        // of command: what is run, and its arguments
	TimeoutSecs int      `json:"-"`        // of op and command; 0: the default
	Tools       []string `json:"tools"`    // that may use it; none: it is only redacted
	Source      string   `json:"source"`   // file:line
}

// Providers are where values can come from.
var Providers = []string{"env", "file", "op", "command"}

// Bounds of what a file says of secrets.
const (
	maxSecrets    = 100
	maxSecretWait = 300 // seconds: a person may have to find a key
)

// secretName is that of a variable: tools get secrets so.
var secretName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,99}$`)

func (f *file) readSecrets(s *section) {
	if f.workspace {
		for key := range s.table {
			s.get(key)
		}
		s.ignore("", "ignored: only your own configuration names secrets")
		return
	}
	for i, name := range slices.Sorted(maps.Keys(s.table)) {
		if i == maxSecrets {
			s.problem(name, "more than %d secrets", maxSecrets)
			return
		}
		one := s.sub(name)
		switch {
		case one == nil:
		case !secretName.MatchString(name):
			s.problem(name, "the name of a secret has letters, digits and _, begins with no digit, and at most 100 bytes")
		default:
			f.secret(one, name)
		}
	}
}

// secret reads one. It counts only when all of it is understood.
func (f *file) secret(s *section, name string) {
	before := len(f.problems)
	out := Secret{Name: name, Source: s.source("")}
	provider, ok := s.choice("provider", Providers)
	if !ok && s.table["provider"] == nil {
		s.problem("", "has no provider: say where it comes from, one of %s", strings.Join(Providers, ", "))
	}
	out.Provider = provider
	of := func(key string, providers ...string) bool {
		if _, there := s.get(key); !there {
			return false
		}
		if provider != "" && !slices.Contains(providers, provider) {
			s.problem(key, "is of provider %s, not of %s", strings.Join(providers, " and "), provider)
			return false
		}
		return true
	}
	if out.Env = name; of("env", "env") {
		out.Env, _ = s.text("env")
	}
	if of("file", "file") {
		out.File = s.path("file")
	}
	if of("ref", "op") {
		if out.Ref, ok = s.text("ref"); ok && !strings.HasPrefix(out.Ref, "op://") {
			s.problem("ref", "must begin with op://, as in op://vault/item/field")
		}
	}
	if of("account", "op") {
		out.Account, _ = s.text("account")
	}
	if of("command", "command") {
		out.Command, _ = s.list("command", checkSecretWord)
	}
	if of("timeout_secs", "op", "command") {
		out.TimeoutSecs, _ = s.number("timeout_secs", 1, maxSecretWait)
	}
	if out.Tools = []string{}; s.has("tools") {
		out.Tools, _ = s.list("tools", checkTool)
	}
	s.done()
	missing := map[string]string{"file": "file", "op": "ref", "command": "command"}[provider]
	if missing != "" && s.table[missing] == nil {
		s.problem("", "has no %s, which provider %s needs", missing, provider)
	}
	if len(f.problems) == before {
		f.secrets = append(f.secrets, out)
	}
}

func (s *section) has(key string) bool {
	_, there := s.get(key)
	return there
}

// path reads the absolute path of a file; ~/ is the user's home.
func (s *section) path(key string) string {
	value, ok := s.text(key)
	if !ok {
		return ""
	}
	if rest, home := strings.CutPrefix(value, "~/"); home {
		dir, err := os.UserHomeDir()
		if err != nil {
			s.problem(key, "%v", err)
			return ""
		}
		value = filepath.Join(dir, rest)
	}
	if !filepath.IsAbs(value) {
		s.problem(key, "%q: must be an absolute path, or begin with ~/", cut(value))
	}
	return value
}

func checkSecretWord(word string) error {
	if len(word) > maxText || strings.ContainsRune(word, 0) {
		return errors.New("longer than 200 bytes, or with NUL")
	}
	return nil
}
