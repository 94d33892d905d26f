package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// load reads a user's and a workspace's configuration of these texts; "" is no
// file.
func load(t *testing.T, user, workspace string) (Config, []Problem) {
	t.Helper()
	home, root := t.TempDir(), t.TempDir()
	path := filepath.Join(home, "config.toml")
	if user != "" {
		write(t, path, user)
	}
	if workspace != "" {
		write(t, WorkspacePath(root), workspace)
	}
	c, problems := Load(path, []string{root})
	for i := range problems {
		problems[i].File = filepath.Base(filepath.Dir(problems[i].File)) + "/" + filepath.Base(problems[i].File)
	}
	return c, problems
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// written are the rules that nobody built in, by name.
func written(c Config) []string {
	var out []string
	for _, r := range c.Rules {
		if r.Source != sourceBuiltIn {
			out = append(out, r.Effect+" "+r.Name)
		}
	}
	return out
}

func TestNothingConfigured(t *testing.T) {
	c, problems := load(t, "", "")
	if len(problems) > 0 {
		t.Errorf("problems: %v", problems)
	}
	if c.Mode != (Setting[Mode]{ModeStaged, "default"}) || c.WaitSecs.Value != 30 || !c.HoldDefaults.Value {
		t.Errorf("%+v", c)
	}
	if len(c.Files) != 2 || c.Files[0].Exists || c.Files[1].Exists {
		t.Errorf("files: %+v", c.Files)
	}
	for _, r := range c.Rules {
		if r.Effect != EffectHold || r.Source != sourceBuiltIn || !strings.HasPrefix(r.Name, "built-in: ") {
			t.Errorf("%+v", r)
		}
	}
}

func TestEverySetting(t *testing.T) {
	c, problems := load(t, `
[review]
mode = "auto"
wait_secs = 60
hold_defaults = false

[[review.rule]]
name = "docs"
effect = "accept"
paths = ["docs/**", "*.md"]
kinds = ["create", "modify"]
max_lines = 50
max_bytes = 65536
sessions = ["claude*"]
tools = ["edit_file"]

[[review.rule]]
effect = "hold"
paths = [
  "secret/**", # both
  "*.key",
]
min_lines = 2
`, "")
	if len(problems) > 0 {
		t.Fatalf("problems: %v", problems)
	}
	if c.Mode.Value != ModeAuto || !strings.HasSuffix(c.Mode.Source, "config.toml:3") || c.WaitSecs.Value != 60 || c.HoldDefaults.Value {
		t.Errorf("%+v %+v %+v", c.Mode, c.WaitSecs, c.HoldDefaults)
	}
	if len(c.Rules) != 2 {
		t.Fatalf("%d rules: %+v", len(c.Rules), c.Rules)
	}
	docs := c.Rules[0]
	if docs.Name != "docs" || docs.Effect != EffectAccept || docs.MaxLines != 50 || docs.MaxBytes != 65536 || docs.Root != "" ||
		!slices.Equal(docs.Paths, []string{"docs/**", "*.md"}) || !slices.Equal(docs.Kinds, []string{"create", "modify"}) ||
		!slices.Equal(docs.Sessions, []string{"claude*"}) || !slices.Equal(docs.Tools, []string{"edit_file"}) || !strings.HasSuffix(docs.Source, "config.toml:7") {
		t.Errorf("%+v", docs)
	}
	if hold := c.Rules[1]; hold.Name != "rule 2" || hold.MinLines != 2 || !slices.Equal(hold.Paths, []string{"secret/**", "*.key"}) {
		t.Errorf("%+v", hold)
	}
}

// A workspace's file counts where it tightens, and is told where it does not.
func TestWorkspaceOnlyTightens(t *testing.T) {
	const rules = "[[review.rule]]\nname = \"mine\"\neffect = \"accept\"\n[[review.rule]]\nname = \"theirs\"\neffect = \"hold\"\n"
	for _, c := range []struct {
		user, workspace string
		mode            Mode
		from            string
	}{
		{"", "auto", ModeStaged, "default"},
		{"", "staged", ModeStaged, "default"},
		{"", "blocking", ModeBlocking, ".loom"},
		{"auto", "", ModeAuto, "user"},
		{"auto", "auto", ModeAuto, "user"},
		{"auto", "staged", ModeStaged, ".loom"},
		{"auto", "blocking", ModeBlocking, ".loom"},
		{"blocking", "auto", ModeBlocking, "user"},
		{"blocking", "staged", ModeBlocking, "user"},
	} {
		file := func(mode string) string {
			if mode == "" {
				return ""
			}
			return "[review]\nmode = \"" + mode + "\"\n"
		}
		got, problems := load(t, file(c.user), file(c.workspace))
		if got.Mode.Value != c.mode || len(problems) > 0 {
			t.Errorf("user %q, workspace %q: %+v %v, want %s", c.user, c.workspace, got.Mode, problems, c.mode)
		}
		from := "user"
		switch {
		case got.Mode.Source == sourceDefault:
			from = sourceDefault
		case strings.Contains(got.Mode.Source, ".loom"):
			from = ".loom"
		}
		if from != c.from {
			t.Errorf("user %q, workspace %q: the mode is from %s", c.user, c.workspace, got.Mode.Source)
		}
	}
	c, problems := load(t, "", "[review]\nwait_secs = 3600\nhold_defaults = false\n"+rules)
	if got := written(c); !slices.Equal(got, []string{"hold theirs"}) {
		t.Errorf("rules: %v", got)
	}
	if c.WaitSecs.Value != 30 || !c.HoldDefaults.Value {
		t.Errorf("%+v %+v", c.WaitSecs, c.HoldDefaults)
	}
	wantProblems(t, problems,
		".loom/config.toml:2: review.wait_secs: ignored", ".loom/config.toml:3: review.hold_defaults: ignored",
		".loom/config.toml:4: review.rule[0]: ignored: a workspace's own configuration cannot accept")
	for _, r := range c.Rules {
		if r.Name == "theirs" && r.Root == "" {
			t.Error("a workspace's rule counts in every root")
		}
	}
}

func wantProblems(t *testing.T, problems []Problem, want ...string) {
	t.Helper()
	ok := len(problems) == len(want)
	var got []string
	for i, p := range problems {
		got = append(got, p.String())
		ok = ok && strings.Contains(p.String(), want[i])
	}
	if !ok {
		t.Errorf("problems:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// What is wrong is named with its line, and nothing is accepted by a rule.
func TestBrokenUserConfiguration(t *testing.T) {
	const good = "[[review.rule]]\nname = \"all\"\neffect = \"accept\"\n[[review.rule]]\nname = \"keys\"\neffect = \"hold\"\npaths = [\"*.key\"]\n"
	for _, c := range []struct{ text, want string }{
		{"[review\n", ":1: "},
		{"[review]\nmode = \"auto\"\nmode = \"auto\"\n", ":3: "},
		{"a = \xff\n", ":1: "},
		{"[review]\nmode = \"auto\"\nwait_sec = 3\n", ":3: review.wait_sec: there is no such setting; did you mean wait_secs?"},
		{"[reveiw]\nmode = \"auto\"\n", ":1: reveiw: there is no such setting; did you mean review?"},
		{"review = 3\n", ":1: review: a whole number: write [review]"},
		{"[review]\nmode = \"autoo\"\n", `:2: review.mode: "autoo" is not one of auto, staged, blocking; did you mean auto?`},
		{"[review]\nmode = true\n", ":2: review.mode: true or false, not a text"},
		{"[review]\nwait_secs = 0\n", ":2: review.wait_secs: 0: must be from 1 to 3600"},
		{"[review]\nwait_secs = 3601\n", ":2: review.wait_secs: 3601"},
		{"[review]\nwait_secs = 1.0\n", ":2: review.wait_secs: a fraction, not a whole number"},
		{"[review]\nhold_defaults = \"no\"\n", ":2: review.hold_defaults: a text, not true or false"},
		{"[review]\nrule = [{effect = \"hold\", paht = [\"a\"]}]\n", ":2: review.rule[0].paht: there is no such setting; did you mean paths?"},
		{"[review]\nrule = \"a\"\n", ":2: review.rule: a text: write [[review.rule]]"},
		{"[review]\nrule = [1]\n", ":2: review.rule[0]: a whole number: write [[review.rule]]"},
		{"[[review.rule]]\nname = \"a\"\n", ":1: review.rule[0]: has no effect"},
		{"[[review.rule]]\neffect = \"acept\"\n", ":2: review.rule[0].effect: \"acept\" is not one of accept, hold; did you mean accept?"},
		{"[[review.rule]]\neffect = \"hold\"\n[[review.rule]]\neffect = \"hold\"\npath = \"a\"\n", ":5: review.rule[1].path: there is no such setting; did you mean paths?"},
		{"[[review.rule]]\neffect = \"hold\"\npaths = \"a\"\n", ":3: review.rule[0].paths: a text, not a list"},
		{"[[review.rule]]\neffect = \"hold\"\npaths = []\n", ":3: review.rule[0].paths: empty"},
		{"[[review.rule]]\neffect = \"hold\"\npaths = [\n  \"a\",\n  # two\n  3]\n", ":6: review.rule[0].paths[1]: a whole number, not a text"},
		{"[[review.rule]]\neffect = \"hold\"\npaths = [\n  \"a\",\n  \"[\"]\n", `:5: review.rule[0].paths[1]: "[": not a pattern`},
		{"[[review.rule]]\neffect = \"hold\"\nkinds = [\"modfiy\"]\n", `:3: review.rule[0].kinds[0]: "modfiy": not one of create, modify, delete, rename, mode, link, binary; did you mean modify?`},
		{"[[review.rule]]\neffect = \"hold\"\ntools = [\"edit file\"]\n", `:3: review.rule[0].tools[0]: "edit file": not the name of a tool`},
		{"[[review.rule]]\neffect = \"accept\"\nmax_lines = 0\n", ":3: review.rule[0].max_lines: 0: must be from 1"},
		{"[[review.rule]]\neffect = \"hold\"\nmax_lines = 50\n", ":3: review.rule[0].max_lines: a hold with it would hold the small changes"},
		{"[[review.rule]]\neffect = \"hold\"\nmax_bytes = 50\n", ":3: review.rule[0].max_bytes: a hold with it would hold the small changes"},
		{"[[review.rule]]\neffect = \"accept\"\nmin_lines = 50\n", ":3: review.rule[0].min_lines: an accept with it would let the large changes through"},
		{"[[review.rule]]\neffect = \"hold\"\nname = \"built-in: mine\"\n", ":3: review.rule[0].name: "},
		{"[[review.rule]]\neffect = \"hold\"\nname = \"two\\nlines\"\n", ":3: review.rule[0].name: longer than 200 bytes, or with control characters"},
		{"[[review.rule]]\neffect = \"hold\"\nname = \"a\"\n[[review.rule]]\neffect = \"hold\"\nname = \"a\"\n", `:6: review.rule[1].name: "a" is the name of the rule in line 1, too`},
		{strings.Repeat("[[review.rule]]\neffect = \"accept\"\n", maxRules+1), ":401: review.rule[200]: more than 200 rules"},
		{strings.Repeat("#", maxFile+1), "config.toml: cannot be read: 65537 bytes"},
	} {
		got, problems := load(t, c.text, "")
		wantProblems(t, problems, c.want)
		if got.Mode.Value == ModeAuto || !got.HoldDefaults.Value {
			t.Errorf("%q: mode %+v, built-in holds %+v", c.text, got.Mode, got.HoldDefaults)
		}
		if !slices.Contains(written(got), "hold "+brokenTag) {
			t.Errorf("%q: not everything is held: %v", c.text, written(got))
		}
	}
	got, problems := load(t, "[review]\nmode = \"auto\"\nholddefaults = false\n"+good, "")
	wantProblems(t, problems, ":3: review.holddefaults: there is no such setting; did you mean hold_defaults?")
	if want := []string{"accept all", "hold keys", "hold " + brokenTag}; !slices.Equal(written(got), want) || got.Mode.Value != ModeStaged {
		t.Errorf("%v %v, want %v", got.Mode, written(got), want)
	}
	got, problems = load(t, "[review]\nhold_defaults = false\n[[review.rule]]\nname = \"small\"\neffect = \"accept\"\nmax_line = 5\n", "")
	wantProblems(t, problems, ":6: review.rule[0].max_line: there is no such setting; did you mean max_lines?")
	if want := []string{"hold " + brokenTag}; !slices.Equal(written(got), want) || !got.HoldDefaults.Value {
		t.Errorf("%v %v, want %v", got.HoldDefaults, written(got), want)
	}
	if got, _ := load(t, "[review]\nmode = \"blocking\"\nx = 1\n", ""); got.Mode.Value != ModeBlocking {
		t.Errorf("a mode that is stricter than the default: %v", got.Mode)
	}
}

// A workspace's file that is not understood holds everything there, and only
// there.
func TestBrokenWorkspaceConfiguration(t *testing.T) {
	home, one, two := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, WorkspacePath(one), "[review]\nmoode = \"blocking\"\n")
	write(t, WorkspacePath(two), "[[review.rule]]\nname = \"a\"\neffect = \"hold\"\npaths = [\"a\"]\n")
	user := filepath.Join(home, "config.toml")
	write(t, user, "[review]\nmode = \"auto\"\n")
	c, problems := Load(user, []string{one, two})
	wantProblems(t, problems, "did you mean mode?")
	if c.Mode.Value != ModeAuto {
		t.Errorf("the other root's mode: %v", c.Mode)
	}
	for _, r := range c.Rules {
		want := ""
		switch r.Name {
		case brokenTag:
			want = one
		case "a":
			want = two
		}
		if r.Root != want {
			t.Errorf("%s counts in %q, want %q", r.Name, r.Root, want)
		}
	}
	if len(written(c)) != 2 {
		t.Errorf("rules: %v", written(c))
	}
}

// A hold of which a condition is not understood holds more, never less.
func TestHoldsAreWidened(t *testing.T) {
	for _, c := range []struct{ condition, left string }{
		{`paths = ["a", "["]`, ""},
		{`paths = "a"`, ""},
		{"paths = [\"a\"]\nkinds = [\"creat\", \"modify\"]", "a"},
		{"paths = [\"a\"]\nnever = 1", "a"},
		{"paths = [\"a\"]\nmax_bytes = 1", "a"},
	} {
		got, problems := load(t, "", "[[review.rule]]\nname = \"h\"\neffect = \"hold\"\n"+c.condition+"\n")
		if len(problems) == 0 {
			t.Errorf("%s: no problem", c.condition)
		}
		for _, r := range got.Rules {
			if r.Name == "h" && (strings.Join(r.Paths, " ") != c.left || len(r.Kinds) > 0 || r.MaxBytes > 0) {
				t.Errorf("%s: %+v", c.condition, r)
			}
		}
		if !slices.Contains(written(got), "hold h") {
			t.Errorf("%s: the hold is gone", c.condition)
		}
	}
}

func TestStricter(t *testing.T) {
	for _, c := range []struct{ a, b, want Mode }{
		{ModeAuto, ModeStaged, ModeStaged},
		{ModeStaged, ModeAuto, ModeStaged},
		{ModeBlocking, ModeStaged, ModeBlocking},
		{ModeAuto, ModeAuto, ModeAuto},
		{ModeBlocking, "never heard of", "never heard of"},
	} {
		if got := Stricter(c.a, c.b); got != c.want {
			t.Errorf("%s, %s: %s", c.a, c.b, got)
		}
	}
}

func TestUserPath(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(t.TempDir(), "c"))
	t.Setenv("HOME", t.TempDir())
	path, err := UserPath()
	if err != nil || !strings.HasSuffix(filepath.ToSlash(path), "/loomd/config.toml") {
		t.Error(path, err)
	}
}
