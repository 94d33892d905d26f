package grant

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// preset is a shipped policy, with what it takes that the program does no more
// than it says.
type preset struct {
	name        string
	program     string // looked up once, when the grant is configured
	description string
	policy      func() Policy
	prefix      []string
	env         []string
}

var presets = []preset{
	{
		"git-read", "git",
		"Runs git to look: log, show, diff, status, blame, grep, ls-files and the like. Nothing that changes the repository, names a program or leaves the workspace.",
		func() Policy { return gitPolicy(gitLooks()) },
		gitPrefix, append(slices.Clone(gitEnv), "GIT_OPTIONAL_LOCKS=0"),
	},
	{
		"git-write", "git",
		"Runs git to look, and to change the local repository: add, commit, switch, branch, merge, rebase, stash, tag, reset, fetch. No push, no interactive mode, no hooks, no signing.",
		func() Policy { return gitPolicy(append(gitChanges(), gitLooks()...)) },
		gitPrefix, gitEnv,
	},
	{
		"gh", "gh",
		"Runs GitHub's gh: lists and views pull requests, issues, runs, workflows, releases and repositories, opens and comments pull requests and issues. No gh api, no settings, no extensions.",
		func() Policy { return Policy{Options: []string{"--version"}, Commands: ghCommands()} },
		nil,
		[]string{
			"GH_PROMPT_DISABLED=1", "GH_PAGER=cat", "GH_EDITOR=false", "GH_BROWSER=false", "GH_NO_UPDATE_NOTIFIER=1",
			"GH_NO_EXTENSION_UPDATE_NOTIFIER=1", "GH_SPINNER_DISABLED=1", "GH_TELEMETRY=false", "NO_COLOR=1",
		},
	},
	{
		"go", "go",
		"Runs go: build, test, vet, list, doc, fmt, env, version, mod tidy and run of a program of the workspace. It runs the workspace's own code, and no other program that an argument names.",
		func() Policy { return Policy{Words: true, Commands: goCommands()} },
		nil, nil,
	},
	{
		"npm", "npm",
		"Runs npm: test and run of package.json's scripts, ci and install without the scripts of packages, ls, outdated, view. It runs the workspace's own scripts, and no other program that an argument names.",
		func() Policy { return Policy{Options: []string{"--version", "-v"}, Commands: npmCommands()} },
		nil,
		[]string{
			"npm_config_update_notifier=false", "npm_config_fund=false", "npm_config_audit=false", "npm_config_yes=false",
			"npm_config_browser=false", "npm_config_progress=false", "npm_config_color=false",
		},
	},
	{
		"find", "find",
		"Runs find to look for files by name, type, size and time, below the folder it runs in. It deletes nothing, writes nothing and runs nothing.",
		func() Policy {
			return Policy{Words: true, Commands: []Command{{Options: findTests, Operands: []string{"inside"}}}}
		},
		nil, nil,
	},
}

// Presets lists the names of the shipped policies.
func Presets() []string {
	var names []string
	for _, p := range presets {
		names = append(names, p.name)
	}
	return names
}

// Preset is a grant of a shipped policy, without a name, and the name of its
// program, for which the caller finds the path.
func Preset(name string) (g Grant, program string, err error) {
	for _, p := range presets {
		if p.name == name {
			return Grant{Description: p.description, Policy: p.policy(), Prefix: p.prefix, Env: p.env}, p.program, nil
		}
	}
	return Grant{}, "", fmt.Errorf("there is no preset %q: they are %s", name, strings.Join(Presets(), ", "))
}

// Narrow leaves of a policy only the sub-commands that are named, each with all
// that begin with it. The error names one that the policy does not allow.
func (p *Policy) Narrow(names []string) error {
	var left []Command
	for _, name := range names {
		name = strings.Join(strings.Fields(name), " ")
		found := false
		for _, c := range p.Commands {
			if c.Name == name || strings.HasPrefix(c.Name, name+" ") {
				left, found = append(left, c), true
			}
		}
		if !found {
			return fmt.Errorf("%q is not among %s", name, p.names())
		}
	}
	p.Commands = left
	return nil
}

// Refuse takes options away from every sub-command.
func (p *Policy) Refuse(options []string) {
	for i := range p.Commands {
		c := &p.Commands[i]
		c.Refused = slices.Concat(c.Refused, options)
		c.Options = slices.DeleteFunc(slices.Clone(c.Options), func(allowed string) bool {
			name := strings.TrimSuffix(strings.SplitN(allowed, "=", 2)[0], "[")
			return slices.Contains(options, name)
		})
	}
}

// gitEnv keeps git from asking, and from programs that its configuration names.
// Only transports are left that start no helper.
var gitEnv = []string{
	"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=false", "SSH_ASKPASS=false", "GIT_SSH_COMMAND=ssh -oBatchMode=yes",
	"GIT_EDITOR=false", "GIT_SEQUENCE_EDITOR=false", "GIT_PAGER=cat", "GIT_ALLOW_PROTOCOL=file:git:http:https:ssh",
}

// gitPrefix has a setting for each place where git's configuration, the user's or
// the repository's, names a program that runs by itself. Aliases need none: they
// cannot replace git's own commands, and no other is allowed.
var gitPrefix = settings(
	"core.hooksPath="+os.DevNull, "core.fsmonitor=false", "core.pager=cat", "core.askPass=false", "credential.helper=",
	"gpg.program=false", "gpg.ssh.program=false", "gpg.x509.program=false", "log.showSignature=false",
	"commit.gpgSign=false", "tag.gpgSign=false", "merge.verifySignatures=false", "gc.auto=0", "maintenance.auto=false",
	"safe.bareRepository=explicit", "protocol.ext.allow=never", "status.submoduleSummary=false", "diff.submodule=short",
	"submodule.recurse=false", "fetch.recurseSubmodules=false", "grep.fallbackToNoIndex=false", "color.ui=false",
)

func settings(list ...string) []string {
	args := []string{"--no-pager"}
	for _, s := range list {
		args = append(args, "-c", s)
	}
	return args
}
