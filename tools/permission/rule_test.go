package permission

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func rule(effect Effect, words string) Rule {
	return Rule{Name: string(effect) + " " + words, Effect: effect, Command: strings.Fields(words)}
}

func TestDecide(t *testing.T) {
	rules := []Rule{
		rule(Allow, "git status **"), rule(Allow, "git log **"), rule(Allow, "echo **"), rule(Allow, "go test ./..."), rule(Allow, "ls *"),
		rule(Allow, "> build/*"), rule(Allow, "CGO_ENABLED=*"), rule(Allow, "cat src/*"), rule(Allow, "make"), rule(Allow, "wc **"),
		rule(Ask, "git commit **"), rule(Ask, "npm publish **"),
		rule(Deny, "rm -rf **"), rule(Deny, "curl **"), rule(Deny, "git push **"), rule(Deny, "> */.ssh/*"), rule(Deny, "sudo **"),
	}
	for _, c := range []struct {
		script string
		local  Effect // where everything is asked about that no rule allows
		staged Effect // where everything is allowed
	}{
		{"git status", Allow, Allow},
		{"git status -sb && git log -1", Allow, Allow},
		{"git statusx", Ask, Allow},
		{"git", Ask, Allow},
		{"./git status", Ask, Allow},
		{"/usr/bin/git status", Ask, Allow},
		{"git -C / status", Ask, Allow},
		{"git status; make; unheard-of", Ask, Allow},
		{"git status $X", Ask, Allow},
		{"git status *", Ask, Allow},
		{"ls src", Allow, Allow},
		{"ls ./*.go", Allow, Allow},
		{"ls src/*.go", Allow, Allow},
		{"ls *.go", Ask, Allow},
		{"ls -l src", Ask, Allow},
		{"cat src/a", Allow, Allow},
		{"cat src/../../secret", Ask, Allow},
		{"cat src/$F", Ask, Allow},
		{"echo x", Allow, Allow},
		{"echo x > ~/.bashrc", Ask, Allow},
		{"echo x > build/log", Allow, Allow},
		{"echo x > build/../../log", Ask, Allow},
		{"echo x >/dev/null 2>&1", Allow, Allow},
		{"echo $(git status)", Ask, Allow},
		{"wc <<E\nx\nE", Ask, Allow},
		{"wc < /etc/passwd", Ask, Allow},
		{"CGO_ENABLED=0 go test ./...", Allow, Allow},
		{"PATH=/tmp go test ./...", Ask, Allow},
		{"env CGO_ENABLED=0 nice timeout 10 git status", Allow, Allow},
		{"env PATH=/tmp git status", Ask, Allow},
		{"./env git status", Ask, Allow},
		{"env", Ask, Allow},
		{"git() { unheard-of; }; git status", Ask, Allow},
		{"git status | unheard-of", Ask, Allow},
		{"if git status; then make; fi", Allow, Allow},
		{"# nothing", Allow, Allow},
		{"[[ a ]]", Ask, Allow},

		{"git commit -m x", Ask, Ask},
		{"git $X -m y", Ask, Ask}, // could be commit, or push
		{"$X", Ask, Ask},
		{"$(echo curl) x", Ask, Ask},
		{"eval \"$X\"", Ask, Ask},
		{"echo x | sh", Ask, Ask},
		{"a; b )", Ask, Ask},
		{"npm publish", Ask, Ask},

		{"rm -rf x", Deny, Deny},
		{"rm -rf $X", Deny, Deny},
		{"rm -r x", Ask, Allow},
		{"rm $X", Ask, Ask},
		{"rm *", Ask, Ask}, // a file may be called -rf
		{"rm ./*", Ask, Allow},
		{"echo k >> ~/.ssh/authorized_keys", Deny, Deny},
		{"/bin/rm -rf x", Deny, Deny},
		{"\\rm -rf x", Deny, Deny},
		{"'r'm -rf x", Deny, Deny},
		{"RM -rf x", Deny, Deny},
		{"X=1 curl y", Deny, Deny},
		{"git status && curl x", Deny, Deny},
		{"git status; (echo; { echo $(curl x); })", Deny, Deny},
		{"f() { curl x; }", Deny, Deny},
		{"nohup nice curl x", Deny, Deny},
		{"xargs curl < urls", Deny, Deny},
		{"sh -c 'curl x'", Deny, Deny},
		{"bash -ec \"env A=b curl x\"", Deny, Deny},
		{"eval curl x", Deny, Deny},
		{"find . -exec curl {} +", Deny, Deny},
		{"sudo ls", Deny, Deny},
		{"trap 'curl x' EXIT", Deny, Deny},
		{"git push origin main", Deny, Deny},
		{"git push", Deny, Deny},
		{"curl x\na )", Deny, Deny},
		{"!(curl x)", Deny, Deny},
		{"echo k >> /home/a/.ssh/authorized_keys", Deny, Deny},
		{"echo k >> $HOME/.ssh/authorized_keys", Ask, Ask},
	} {
		call := Call{Tool: "bash", Script: Parse(c.script)}
		if got := Decide(rules, call, Ask); got.Effect != c.local {
			t.Errorf("%q where it is asked: %+v, want %s", c.script, got, c.local)
		}
		if got := Decide(rules, call, Allow); got.Effect != c.staged {
			t.Errorf("%q where it is allowed: %+v, want %s", c.script, got, c.staged)
		}
		if got := Decide(nil, call, Allow); got.Effect != Allow {
			t.Errorf("%q without rules: %+v", c.script, got)
		}
	}
}

func TestRuleConditions(t *testing.T) {
	r := Rule{Effect: Deny, Command: []string{"git", "push", "**"}, Tools: []string{"command_git"}, Sessions: []string{"claude*"}}
	script := Of([]string{"git", "push", "-f"})
	for _, c := range []struct {
		tool, label string
		want        Effect
	}{{"command_git", "claude 2", Deny}, {"command_git", "codex", Allow}, {"bash", "claude", Allow}} {
		if got := Decide([]Rule{r}, Call{Tool: c.tool, Label: c.label, Script: script}, Allow); got.Effect != c.want {
			t.Errorf("%+v: %+v", c, got)
		}
	}
	for effect, want := range map[Effect]Effect{Deny: Deny, Ask: Ask, Allow: Allow} {
		if got := Decide([]Rule{{Effect: effect}}, Call{Script: Parse("x")}, Ask); got.Effect != want {
			t.Errorf("a rule %s for everything: %+v", effect, got)
		}
	}
}

var strictness = map[Effect]int{Allow: 0, Ask: 1, Deny: 2}

func anyRule(t *rapid.T, effects ...Effect) Rule {
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"git", "push", "*", "-f", "rm", "x", "a/*", ">", "X=*"}), 0, 3).Draw(t, "words")
	if len(words) > 0 && rapid.Bool().Draw(t, "rest") {
		words = append(words, "**")
	}
	return Rule{Effect: rapid.SampledFrom(effects).Draw(t, "effect"), Command: words}
}

// A rule more that denies or asks never lets anything through that was not let
// through before, and a rule that allows never overrules one that does not.
func TestPropertyRulesOnlyTighten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{
			"git", "push", " ", " ", "-f", "rm", "$X", "'x'", "a/b", ";", "|", "$(", ")", "> f", "X=1", "sh -c 'rm x'", "env", "xargs", "*", "eval", "\n", "{", "}",
		}), 1, 12).Draw(t, "script")
		call := Call{Tool: "bash", Script: Parse(strings.Join(parts, " "))}
		normal := rapid.SampledFrom([]Effect{Allow, Ask}).Draw(t, "normal")
		rules := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Rule { return anyRule(t, Allow, Ask, Deny) }), 0, 5).Draw(t, "rules")
		before := Decide(rules, call, normal).Effect
		at := rapid.IntRange(0, len(rules)).Draw(t, "at")
		with := func(r Rule) Effect {
			list := append(append(append([]Rule{}, rules[:at]...), r), rules[at:]...)
			return Decide(list, call, normal).Effect
		}
		if after := with(anyRule(t, Deny, Ask)); strictness[after] < strictness[before] {
			t.Errorf("%s became %s", before, after)
		}
		if after := with(anyRule(t, Allow)); before == Deny && after != Deny {
			t.Errorf("an allow made %s of a deny", after)
		}
	})
}

// FuzzParse: nothing breaks it, and a deny of everything denies everything.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"a", "$(a)", "a )", "!(a)", "sh -c 'a", "cat <<E\n$(b)\nE", "env -S", "xargs", "a{b,c}", "trap", "eval", "${x@P}", "`a`", "alias a=", "find -exec", "\x00", "$'\\"} {
		f.Add(s, "curl x")
	}
	deny := []Rule{rule(Deny, "curl **")}
	f.Fuzz(func(t *testing.T, text, other string) {
		script := Parse(text)
		Decide(deny, Call{Script: script}, Ask)
		if Decide([]Rule{{Effect: Deny}}, Call{Script: script}, Allow).Effect != Deny {
			t.Errorf("%q is not denied", text)
		}
		// What comes first is seen whatever comes after it.
		if got := Decide(deny, Call{Script: Parse("curl x\n" + text)}, Allow); got.Effect == Allow {
			t.Errorf("curl x and %q: %+v", text, got)
		}
	})
}
