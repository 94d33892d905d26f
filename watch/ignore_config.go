package watch

import (
	"path/filepath"
	"strings"
)

// maxConfigDepth bounds include.path in git's configuration; it is git's own
// bound.
const maxConfigDepth = 10

// gitConfig collects the two settings of git's configuration that ignore rules
// depend on. Files are read in git's order, and the last value counts.
type gitConfig struct {
	getenv     func(string) string
	files      outsideFiles
	repo       repository // that the conditions of includes ask about
	excludes   string
	named      bool // core.excludesFile was set, perhaps to ""
	ignoreCase bool
}

func newGitConfig(getenv func(string) string, files outsideFiles) *gitConfig {
	return &gitConfig{getenv: getenv, files: files}
}

// readUser reads the machine's and the user's configuration.
func (c *gitConfig) readUser() {
	if name := c.getenv("GIT_CONFIG_SYSTEM"); name != "" {
		c.read(name, 0)
	} else if !gitTrue(c.getenv("GIT_CONFIG_NOSYSTEM")) {
		c.read(filepath.FromSlash("/etc/gitconfig"), 0)
	}
	if name := c.getenv("GIT_CONFIG_GLOBAL"); name != "" {
		c.read(name, 0)
		return
	}
	if dir := c.userDir(); dir != "" {
		c.read(filepath.Join(dir, "config"), 0)
	}
	if home := c.home(); home != "" {
		c.read(filepath.Join(home, ".gitconfig"), 0)
	}
}

func (c *gitConfig) home() string {
	if home := c.getenv("HOME"); home != "" {
		return home
	}
	return c.getenv("USERPROFILE") // Windows; git sets HOME from it
}

// userDir is git's directory among the user's configuration.
func (c *gitConfig) userDir() string {
	if dir := c.getenv("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "git")
	}
	if home := c.home(); home != "" {
		return filepath.Join(home, ".config", "git")
	}
	return ""
}

// excludesFile names the user's excludes file, "" when there is none. A relative
// name counts from the repository's top.
func (c *gitConfig) excludesFile(top string) string {
	if !c.named {
		if dir := c.userDir(); dir != "" {
			return filepath.Join(dir, "ignore")
		}
		return ""
	}
	if c.excludes == "" {
		return ""
	}
	return c.resolve(c.excludes, top)
}

// resolve expands "~/" and makes name absolute below dir.
func (c *gitConfig) resolve(name, dir string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return filepath.Join(c.home(), filepath.FromSlash(rest))
	}
	name = filepath.FromSlash(name)
	if !filepath.IsAbs(name) {
		return filepath.Join(dir, name)
	}
	return name
}

// read takes over the settings of one file and of those it includes.
func (c *gitConfig) read(file string, depth int) {
	data, err := c.files.following(file)
	if err != nil || depth > maxConfigDepth {
		return
	}
	parseGitConfig(string(data), func(section, key, value string, bare bool) {
		switch section + "." + key {
		case "core.excludesfile":
			c.excludes, c.named = value, true
		case "core.ignorecase":
			c.ignoreCase = bare || gitTrue(value)
		case "include.path":
			c.read(c.resolve(value, filepath.Dir(file)), depth+1)
		}
		condition, ok := strings.CutPrefix(section, "includeif.")
		if ok && key == "path" && c.includes(condition, file) {
			c.read(c.resolve(value, filepath.Dir(file)), depth+1)
		}
	})
}

func gitTrue(value string) bool {
	switch strings.ToLower(value) {
	case "true", "yes", "on", "1":
		return true
	}
	return false
}

// parseGitConfig calls set for every variable of a configuration file, with
// lower case section and key. A section with a subsection is named
// "section.subsection". bare is a variable without "=", which means true. It
// stops at the first line that git would refuse.
func parseGitConfig(text string, set func(section, key, value string, bare bool)) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\xef\xbb\xbf"), "\r\n", "\n")
	section := ""
	for {
		text = strings.TrimLeft(text, " \t\n")
		switch {
		case text == "":
			return
		case text[0] == '#' || text[0] == ';':
			_, text, _ = strings.Cut(text, "\n")
		case text[0] == '[':
			name, rest, ok := configSection(text[1:])
			if !ok {
				return
			}
			section, text = name, rest
		default:
			end := strings.IndexAny(text, "=\n#; \t")
			if end < 0 {
				end = len(text)
			}
			key := strings.ToLower(text[:end])
			text = strings.TrimLeft(text[end:], " \t")
			bare := !strings.HasPrefix(text, "=")
			var value string
			if !bare {
				var ok bool
				if value, text, ok = configValue(text[1:]); !ok {
					return
				}
			}
			if key == "" {
				return
			}
			set(section, key, value, bare)
		}
	}
}

// configSection reads a section's head behind its "[".
func configSection(text string) (name, rest string, ok bool) {
	end := strings.IndexAny(text, "]\"\n")
	if end < 0 || text[end] == '\n' {
		return "", "", false
	}
	name = strings.ToLower(strings.TrimSpace(text[:end]))
	if text[end] == ']' {
		return name, text[end+1:], true
	}
	sub := []byte{}
	for i := end + 1; i < len(text); i++ {
		switch text[i] {
		case '\n':
			return "", "", false
		case '\\':
			if i++; i == len(text) {
				return "", "", false
			}
			sub = append(sub, text[i])
		case '"':
			rest, ok := strings.CutPrefix(text[i+1:], "]")
			return name + "." + string(sub), rest, ok
		default:
			sub = append(sub, text[i])
		}
	}
	return "", "", false
}

// configValue reads a value behind its "=" to the end of its last line: quotes
// group, a backslash quotes or continues the line, "#" and ";" start a comment,
// and white space around the value does not count.
func configValue(text string) (value, rest string, ok bool) {
	var out []byte
	quoted := false
	solid := 0 // length up to which white space counts
	text = strings.TrimLeft(text, " \t")
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\n':
			return string(out[:solid]), text[i:], !quoted
		case c == '\\':
			if i++; i == len(text) {
				return "", "", false
			}
			if text[i] == '\n' {
				continue
			}
			escaped, known := map[byte]byte{'"': '"', '\\': '\\', 'n': '\n', 't': '\t', 'b': '\b'}[text[i]]
			if !known {
				return "", "", false
			}
			out = append(out, escaped)
			solid = len(out)
		case c == '"':
			quoted = !quoted
			solid = len(out)
		case !quoted && (c == '#' || c == ';'):
			_, rest, found := strings.Cut(text[i:], "\n")
			if found {
				rest = "\n" + rest
			}
			return string(out[:solid]), rest, true
		default:
			out = append(out, c)
			if quoted || c != ' ' && c != '\t' {
				solid = len(out)
			}
		}
	}
	return string(out[:solid]), "", !quoted
}
