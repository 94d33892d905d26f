package config

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestSecrets(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	c, problems := load(t, `
[secrets.GH_TOKEN]
provider = "env"
tools = ["command_gh", "oracle"]
[secrets.B]
provider = "env"
env = "OTHER"
[secrets.C]
provider = "file"
file = "~/.keys/c"
[secrets.D]
provider = "op"
ref = "op://Work/GitHub/token"
account = "me"
timeout_secs = 60
[secrets.E]
provider = "command"
command = ["pass", "show", "a b", ""]
`, "")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want := []Secret{
		{Name: "B", Provider: "env", Env: "OTHER", Tools: []string{}},
		{Name: "C", Provider: "file", Env: "C", File: filepath.Join(home, ".keys", "c"), Tools: []string{}},
		{Name: "D", Provider: "op", Env: "D", Ref: "op://Work/GitHub/token", Account: "me", TimeoutSecs: 60, Tools: []string{}},
		{Name: "E", Provider: "command", Env: "E", Command: []string{"pass", "show", "a b", ""}, Tools: []string{}},
		{Name: "GH_TOKEN", Provider: "env", Env: "GH_TOKEN", Tools: []string{"command_gh", "oracle"}},
	}
	for i := range c.Secrets {
		if !strings.Contains(c.Secrets[i].Source, "config.toml:") {
			t.Errorf("%s is from %q", c.Secrets[i].Name, c.Secrets[i].Source)
		}
		c.Secrets[i].Source = ""
	}
	if !reflect.DeepEqual(c.Secrets, want) {
		t.Errorf("the secrets are %+v, want %+v", c.Secrets, want)
	}
}

func TestSecretsThatAreNotUnderstood(t *testing.T) {
	for text, want := range map[string]string{
		"[secrets]\nA = \"sk-1\"":                                            "secrets.A: a text: write [secrets.A]",
		"[secrets.\"A-B\"]\nprovider = \"env\"":                              "the name of a secret",
		"[secrets.A]\nenv = \"B\"":                                           "has no provider",
		"[secrets.A]\nprovider = \"vault\"":                                  "is not one of env, file, op, command",
		"[secrets.A]\nprovider = \"env\"\nfile = \"/a\"":                     "secrets.A.file: is of provider file, not of env",
		"[secrets.A]\nprovider = \"env\"\ntimeout_secs = 5":                  "is of provider op and command, not of env",
		"[secrets.A]\nprovider = \"file\"":                                   "has no file",
		"[secrets.A]\nprovider = \"file\"\nfile = \"keys/a\"":                "must be an absolute path",
		"[secrets.A]\nprovider = \"op\"\nref = \"Work/a\"":                   "must begin with op://",
		"[secrets.A]\nprovider = \"command\"\ncommand = []":                  "empty",
		"[secrets.A]\nprovider = \"command\"\ncommand = \"pass\"":            "not a list",
		"[secrets.A]\nprovider = \"env\"\nvalue = \"sk-1\"":                  "there is no such setting",
		"[secrets.A]\nprovider = \"env\"\ntools = [\"a b\"]":                 "not the name of a tool",
		"[secrets.A]\nprovider = \"op\"\nref = \"op://a\"\ntimeout_secs = 0": "must be from 1 to 300",
	} {
		c, problems := load(t, text+"\n[secrets.Z]\nprovider = \"env\"\n", "")
		if len(problems) != 1 || problems[0].Ignored || problems[0].Line == 0 || !strings.Contains(problems[0].String(), want) {
			t.Errorf("%q: %v, want %q", text, problems, want)
		}
		if strings.Contains(problems[0].String(), "sk-1") {
			t.Errorf("%q: the problem %v repeats the value", text, problems)
		}
		if len(c.Secrets) != 1 || c.Secrets[0].Name != "Z" {
			t.Errorf("%q: the secrets are %+v", text, c.Secrets)
		}
	}
	c, problems := load(t, "", "[secrets.A]\nprovider = \"command\"\ncommand = [\"sh\"]\n")
	if len(c.Secrets) > 0 || len(problems) != 1 || !problems[0].Ignored || !strings.Contains(problems[0].String(), "only your own configuration") {
		t.Errorf("of a workspace: %+v %v", c.Secrets, problems)
	}
}
