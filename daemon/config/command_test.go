package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

const commandsText = `
[permission]
wait_secs = 5
[[permission.rule]]
name = "look"
effect = "allow"
command = ["git", "log", "**"]
tools = ["bash"]
sessions = ["claude*"]
[[permission.rule]]
effect = "deny"
command = ["curl", "**"]
[[permission.rule]]
effect = "ask"

[grants.git]
preset = "git-write"
commands = ["log", "stash"]
refuse = ["--all"]
host = true
env = { GIT_SSH_COMMAND = "ssh -i key", A = "b" }
secrets = ["GH_TOKEN"]
[grants.tf]
path = "/usr/bin/terraform"
description = "Plans."
commands = ["plan", "state list"]
options = ["--json", "-n=number", "--color[=always|never]"]
operands = "inside"
`

func TestCommands(t *testing.T) {
	c, problems := load(t, commandsText, "")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if c.AskWaitSecs.Value != 5 || !strings.HasSuffix(c.AskWaitSecs.Source, ":3") {
		t.Errorf("%+v", c.AskWaitSecs)
	}
	for i := range c.CommandRules {
		c.CommandRules[i].Source = ""
	}
	if want := []CommandRule{
		{Name: "look", Effect: "allow", Command: []string{"git", "log", "**"}, Tools: []string{"bash"}, Sessions: []string{"claude*"}},
		{Name: "rule 2", Effect: "deny", Command: []string{"curl", "**"}},
		{Name: "rule 3", Effect: "ask"},
	}; !reflect.DeepEqual(c.CommandRules, want) {
		t.Errorf("rules %+v", c.CommandRules)
	}
	for i := range c.Grants {
		c.Grants[i].Source = ""
	}
	if want := []Grant{
		{
			Name: "git", Preset: "git-write", Commands: []string{"log", "stash"}, Refuse: []string{"--all"}, Host: true,
			Env: []string{"A=b", "GIT_SSH_COMMAND=ssh -i key"}, Secrets: []string{"GH_TOKEN"},
		},
		{
			Name: "tf", Path: "/usr/bin/terraform", Description: "Plans.", Commands: []string{"plan", "state list"},
			Options: []string{"--json", "-n=number", "--color[=always|never]"}, Operands: "inside",
		},
	}; !reflect.DeepEqual(c.Grants, want) {
		t.Errorf("grants %+v", c.Grants)
	}
}

// A workspace's file denies and asks, and no more.
func TestWorkspaceCommandsOnlyTighten(t *testing.T) {
	c, problems := load(t, "", commandsText)
	var rules []string
	for _, r := range c.CommandRules {
		rules = append(rules, r.Effect+" "+r.Name)
	}
	if want := []string{"deny rule 2", "ask rule 3"}; !slices.Equal(rules, want) {
		t.Errorf("rules %q", rules)
	}
	if len(c.Grants) > 0 || c.AskWaitSecs.Source != sourceDefault {
		t.Errorf("grants %+v, wait %+v", c.Grants, c.AskWaitSecs)
	}
	for _, p := range problems {
		if !p.Ignored {
			t.Errorf("%s", p)
		}
	}
	if len(problems) != 4 {
		t.Errorf("%d problems: %v", len(problems), problems)
	}
}

// A file that is not understood allows and grants nothing, and all is asked about.
func TestBrokenCommandsLoosenNothing(t *testing.T) {
	c, problems := load(t, commandsText+"[permissions]\n", "")
	if len(c.Grants) > 0 || !Broken(problems) {
		t.Errorf("grants %+v, problems %v", c.Grants, problems)
	}
	var effects []string
	for _, r := range c.CommandRules {
		effects = append(effects, r.Effect+" "+r.Name)
	}
	if want := []string{"deny rule 2", "ask rule 3", "ask " + brokenTag}; !slices.Equal(effects, want) {
		t.Errorf("rules %q", effects)
	}
	c, _ = load(t, "", "[permission]\nrules = 1\n")
	if len(c.CommandRules) != 1 || c.CommandRules[0].Effect != EffectAsk {
		t.Errorf("rules %+v", c.CommandRules)
	}
}

func TestCommandProblems(t *testing.T) {
	const rule, grant = "[[permission.rule]]\n", "[grants.x]\n"
	for _, c := range []struct{ text, key, want string }{
		{rule + `command = ["a"]`, "permission.rule[0]", "has no effect"},
		{rule + `effect = "alow"`, "permission.rule[0].effect", "did you mean allow?"},
		{rule + "effect = \"deny\"\ncommand = [\"**\", \"a\"]", "permission.rule[0].command[0]", "it comes last"},
		{rule + "effect = \"deny\"\ncommand = [\"a**\"]", "permission.rule[0].command[0]", "for any text"},
		{rule + "effect = \"deny\"\ncommand = []", "permission.rule[0].command", "empty"},
		{rule + "effect = \"deny\"\ncomand = [\"a\"]", "permission.rule[0].comand", "did you mean command?"},
		{"[permission]\nwait_secs = 9999", "permission.wait_secs", "must be from 0 to 3600"},
		{grant, "grants.x", "neither a preset nor the path"},
		{grant + `preset = "git-raed"`, "grants.x.preset", "did you mean git-read?"},
		{grant + "path = \"bin/x\"\ndescription = \"d\"\nrefuse = [\"-o\"]", "grants.x.path", "not absolute"},
		{grant + "path = \"/bin/x\"\ndescription = \"d\"", "grants.x", "says nothing of options"},
		{grant + "path = \"/bin/x\"\ndescription = \"d\"\nrefuse = [\"-o\"]\noptions = [\"-a\"]", "grants.x.refuse", "refused already"},
		{grant + "path = \"/bin/x\"\nrefuse = [\"-o\"]", "grants.x", "has no description"},
		{grant + "preset = \"go\"\noptions = [\"-a\"]", "grants.x.options", "a preset has its own"},
		{grant + "preset = \"go\"\nrefuse = [\"a b\"]", "grants.x.refuse[0]", "not an option"},
		{grant + "preset = \"go\"\nenv = { \"A B\" = \"c\" }", "grants.x.env.A B", "not the name of a variable"},
		{grant + "preset = \"go\"\nenv = { A = 1 }", "grants.x.env.A", "not a text"},
		{grant + "preset = \"go\"\nhosts = true", "grants.x.hosts", "did you mean host?"},
		{"[grants.X]\npreset = \"go\"", "grants.X", "end of a tool's name"},
		{"[grants]\nx = 1", "grants.x", "write [grants.x]"},
	} {
		_, problems := load(t, c.text, "")
		if !slices.ContainsFunc(problems, func(p Problem) bool { return p.Key == c.key && strings.Contains(p.Text, c.want) && p.Line > 0 }) {
			t.Errorf("%s:\n got %v\nwant %s: …%s", c.text, problems, c.key, c.want)
		}
	}
}
