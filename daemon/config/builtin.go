package config

import (
	"os"
	"path/filepath"
	"strings"
)

// builtIn are the holds that are on unless the user says hold_defaults = false.
//
// They are the places where a change runs, or decides what runs, without
// anybody calling it: on a push, on a git command, when a folder is entered or
// opened, when an agent or a shell starts, when a toolchain is used for
// something else. A person who lets an agent's changes to *.md or *.toml through
// has thought of documents, not of these. Code that runs because somebody runs
// it (a Makefile, a package.json) is not among them: it is what agents are for.
//
// All match at any depth, since any folder may be opened, and any may be a
// repository by itself. A look too many is cheap.
func builtIn() []Rule {
	var rules []Rule
	for _, hold := range []struct {
		name  string
		paths []string
	}{
		{"continuous integration", []string{
			"**/.github/**", "**/.gitlab/**", ".gitlab-ci.yml", "**/.circleci/**", "**/.buildkite/**", "**/.forgejo/**", "**/.gitea/**",
			"**/.woodpecker/**", ".woodpecker.{yml,yaml}", "**/.ci/**", "**/.teamcity/**", "**/.semaphore/**", "Jenkinsfile", ".travis.yml", ".drone.yml",
			".cirrus.{yml,star}", "{,.}appveyor.yml", "azure-pipelines.{yml,yaml}", "**/.azure-pipelines/**", "bitbucket-pipelines.yml",
		}},
		{"who must review", []string{"CODEOWNERS"}},
		{"git", []string{
			// Hooks run; attributes name filters that run; a submodule is somebody
			// else's tree.
			"**/.husky/**", "**/.githooks/**", ".gitattributes", ".gitmodules", ".lfsconfig", ".gitconfig", "**/.config/git/**",
			".pre-commit-config.yaml", "{,.}lefthook{,-local}.{yml,yaml,toml,json}",
		}},
		{"what opening a folder runs", []string{
			"**/.vscode/**", "*.code-workspace", "**/.idea/**", "**/.zed/**", "**/.devcontainer/**", ".devcontainer.json",
			".envrc", "{,.}mise{,.local}.toml", "**/.mise/**", ".exrc", ".nvimrc", ".nvim.lua", ".dir-locals.el",
		}},
		{"what agents obey", []string{
			// Hooks and MCP servers are started; the rest is believed by the next
			// agent.
			"**/.loom/**", "**/.claude/**", "**/.codex/**", "**/.cursor/**", "**/.gemini/**", "**/.windsurf/**", ".mcp.json", ".cursorrules", ".windsurfrules",
			"AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md",
		}},
		{"where a toolchain's parts come from", []string{
			"**/.cargo/**", ".npmrc", ".yarnrc", ".yarnrc.yml", "**/.yarn/**", ".pnpmfile.{cjs,mjs}",
		}},
		{"what a login runs", []string{
			".profile", ".{bash,zsh,k,c,tcsh}rc", ".bash_{profile,login,logout,aliases}", ".z{profile,login,logout,shenv}", ".login", "**/.ssh/**",
			"**/.config/{autostart,systemd,fish,environment.d}/**",
		}},
	} {
		rules = append(rules, Rule{Name: "built-in: " + hold.name, Effect: EffectHold, Paths: hold.paths, Source: sourceBuiltIn})
	}
	return rules
}

// ownFile holds changes of the user's own configuration when it lies in a root,
// as it does for somebody who serves their home: an agent whose change there
// were let through would write its own rules. No setting switches it off. A
// folder on the way to it is held, too: made a link, it leads elsewhere.
func ownFile(path string, roots []string) []Rule {
	if path == "" {
		return nil
	}
	var rules []Rule
	for _, root := range roots {
		var paths []string
		for _, name := range namesOf(path) {
			rel, err := filepath.Rel(realPath(root), name)
			if err != nil || !filepath.IsLocal(rel) || rel == "." {
				continue
			}
			rel = filepath.ToSlash(rel)
			for i, r := range rel {
				if r == '/' {
					paths = append(paths, literal(rel[:i]))
				}
			}
			paths = append(paths, literal(rel))
		}
		if len(paths) > 0 {
			rules = append(rules, Rule{Name: "built-in: loomd's configuration", Effect: EffectHold, Root: root, Paths: unique(paths), Source: sourceBuiltIn})
		}
	}
	return rules
}

// namesOf are the names of a file with the links on the way to it followed up
// to each of its folders: where a link is may be in a root, and where it leads.
func namesOf(path string) []string {
	names := []string{realPath(path)}
	rest := ""
	for dir := path; filepath.Dir(dir) != dir; {
		rest = filepath.Join(filepath.Base(dir), rest)
		dir = filepath.Dir(dir)
		names = append(names, filepath.Join(realPath(dir), rest))
	}
	return unique(names)
}

// literal is the pattern that matches one path; in the root of a workspace it
// has no "/" and so matches its namesakes further down, too.
func literal(rel string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`).Replace(rel)
}

func unique(list []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// realPath follows the links of a path as far as it exists.
func realPath(path string) string {
	rest := ""
	for at := path; ; {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		// A link to nowhere is where the file would be made.
		if target, err := os.Readlink(at); err == nil {
			if !filepath.IsAbs(target) {
				target = filepath.Join(filepath.Dir(at), target)
			}
			return filepath.Join(target, rest)
		}
		up := filepath.Dir(at)
		if up == at {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
		at = up
	}
}
