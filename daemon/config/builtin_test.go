package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
)

// matches is how rules match paths.
func matches(r Rule, path string) bool {
	return slices.ContainsFunc(r.Paths, func(p string) bool {
		if !strings.Contains(p, "/") {
			p = "**/" + p
		}
		ok, err := doublestar.Match(p, path)
		return ok && err == nil
	})
}

func TestBuiltInHolds(t *testing.T) {
	c, _ := load(t, "", "")
	held := func(path string) bool {
		return slices.ContainsFunc(c.Rules, func(r Rule) bool { return matches(r, path) })
	}
	for _, path := range []string{
		".github/workflows/ci.yml", ".github", "sub/.github/actions/a/action.yml", ".gitlab-ci.yml", ".circleci/config.yml", ".ci/run", "Jenkinsfile",
		".loom/config.toml", ".vscode/tasks.json", "web/.vscode/settings.json", "a.code-workspace", ".devcontainer/devcontainer.json", ".husky/pre-commit",
		".envrc", "sub/.envrc", ".gitattributes", "sub/.gitattributes", ".gitmodules", ".pre-commit-config.yaml", "lefthook.yml", ".lefthook-local.toml",
		"CODEOWNERS", "docs/CODEOWNERS", "AGENTS.md", "sub/CLAUDE.md", ".claude/settings.json", ".mcp.json", ".cargo/config.toml", ".npmrc", ".pnpmfile.cjs",
		".bashrc", ".zshenv", ".ssh/authorized_keys", ".config/systemd/user/a.service", "mise.toml", ".mise.local.toml",
	} {
		if !held(path) {
			t.Errorf("%s is not held", path)
		}
	}
	for _, path := range []string{
		"main.go", "README.md", "docs/guide.md", "github/a", ".gitignore", ".editorconfig", "package.json", "Makefile", "src/vscode/a.ts", "config.toml", ".config/nextest.toml",
	} {
		if held(path) {
			t.Errorf("%s is held", path)
		}
	}
	for _, r := range c.Rules {
		for _, p := range r.Paths {
			if err := checkPattern(p); err != nil {
				t.Errorf("%s: %s: %v", r.Name, p, err)
			}
		}
	}
}

// Somebody who serves their home has the configuration itself in the root.
func TestOwnConfigurationIsHeld(t *testing.T) {
	home := realPath(t.TempDir())
	user := filepath.Join(home, ".config", "loomd", "config.toml")
	held := func(path string) bool {
		c, problems := Load(user, []string{home})
		if len(problems) > 0 {
			t.Errorf("problems: %v", problems)
		}
		return slices.ContainsFunc(c.Rules, func(r Rule) bool { return matches(r, path) })
	}
	check := func(paths ...string) {
		t.Helper()
		for _, path := range paths {
			if !held(path) {
				t.Errorf("%s is not held", path)
			}
		}
	}
	check(".config/loomd/config.toml", ".config/loomd", ".config") // nothing of it is there
	write(t, user, "[review]\nhold_defaults = false\n")
	check(".config/loomd/config.toml", ".config/loomd", ".config")
	if held("other/config.toml") {
		t.Error("what lies elsewhere is held")
	}

	// The folder is a link into a repository of such files, which has odd names.
	if err := os.Rename(filepath.Join(home, ".config"), filepath.Join(home, "dot[s]")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("dot[s]", filepath.Join(home, ".config")); err != nil {
		t.Skip(err)
	}
	check(".config/loomd/config.toml", ".config", "dot[s]", "dot[s]/loomd", "dot[s]/loomd/config.toml")
}

func TestPatterns(t *testing.T) {
	for pattern, want := range map[string]string{
		"*.md": "", "docs/**": "", "**/a": "", "a[!b]c": "", "{a,b}.go": "", "ü/*": "", `\[x\]`: "", "a b": "",
		"":                             "empty",
		" ":                            "empty",
		"/etc":                         "relative",
		"docs/":                        "docs/**",
		"../a":                         "above",
		"a/../b":                       "above",
		"./a":                          "write a",
		"a//b":                         "write a/b",
		"!a":                           "negation",
		"[a":                           "not a pattern",
		"{a":                           "not a pattern",
		"a\\":                          "not a pattern",
		"a\x00b":                       "NUL",
		strings.Repeat("a", 201):       "201 bytes",
		strings.Repeat("{a,b}", 9):     "more than 256",
		strings.Repeat("{a,{b,c}}", 5): "more than 256",
		"{" + strings.Repeat("{a,b}{a,b},", 9) + "}": "more than 256",
	} {
		err := checkPattern(pattern)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", pattern, err, want)
		}
	}
}
