package permission

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func texts(s Script) []string {
	var out []string
	for _, c := range s.Commands {
		out = append(out, c.Text())
	}
	return out
}

// What a command would run, wherever it is written.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		script string
		opaque bool
		want   []string
	}{
		{"git status", false, []string{"git status"}},
		{"# nothing", false, nil},
		{"a | b && c || d; e & f\ng", false, []string{"a", "b", "c", "d", "e", "f", "g"}},
		{"(a; { b; }); if c; then d; else e; fi; while f; do g; done; for x in 1; do h; done; case i in j) k;; esac", false, []string{"a", "b", "c", "d", "e", "f", "g", "h", "k"}},
		{"f() { rm x; }; f", false, []string{"rm x", "f"}},
		{"echo $(a \"$(b)\") `c` <(d) >(e)", false, []string{"echo $(a \"$(b)\") `c` <(d) >(e)", "a \"$(b)\"", "b", "c", "d", "e"}},
		{"cat <<E\n$(a)\nE", false, []string{"cat", "<<", "a"}},
		{"! a", false, []string{"a"}},
		{"time a; coproc b", false, []string{"a", "b"}},
		{"r\\m 'a b'\"c\\\"d\"", false, []string{"rm a bc\"d"}},
		{"$'\\x72m' a", false, []string{"$'\\x72m' a"}},
		{"X=1 Y=$Z a", false, []string{"X=1", "Y=$Z", "a"}},
		{"PATH=/x; export A=b c", false, []string{"PATH=/x", "A=b", "export A=b c"}},
		{"a > f 2>&1 < /dev/null >> g 2>/dev/null &> h", false, []string{"a", "> f", "> g", "> h"}},
		{"a < f <<< x", false, []string{"a", "< f", "<<"}},
		{"> f", false, []string{"> f"}},
		{"[[ a -eq b ]]; (( x++ )); let y=1", false, []string{"[[ …", "(( …", "(( …"}},

		{"sudo -u root X=1 rm -rf /", false, []string{"X=1", "sudo -u root X=1 rm -rf /", "rm -rf /"}},
		{"env -i -u A B=1 nice -n 5 timeout -k 1 10 git push", false, []string{"B=1", "env -i -u A B=1 nice -n 5 timeout -k 1 10 git push", "nice -n 5 timeout -k 1 10 git push", "timeout -k 1 10 git push", "git push"}},
		{"nohup nice -10 command -p a", false, []string{"nohup nice -10 command -p a", "nice -10 command -p a", "command -p a", "a"}},
		{"command -v rm", false, []string{"command -v rm"}},
		{"a | xargs -0 -n 1 rm -f", false, []string{"a", "xargs -0 -n 1 rm -f", "rm -f …"}},
		{"env -S 'rm x'", true, []string{"env -S rm x", "-S rm x …", "rm x …"}},
		{"sudo --strange rm x", true, []string{"sudo --strange rm x", "--strange rm x …", "rm x …", "x …"}},
		{"sh -c 'rm x; y'", false, []string{"sh -c rm x; y", "rm x", "y"}},
		{"bash -lc 'sh -c \"rm x\"' arg", false, []string{"bash -lc sh -c \"rm x\" arg", "sh -c rm x", "rm x"}},
		{"bash -o pipefail -c 'rm x'", false, []string{"bash -o pipefail -c rm x", "rm x"}},
		{"su -c 'rm x' root", false, []string{"su -c rm x root", "rm x"}},
		{"bash script.sh", false, []string{"bash script.sh"}},
		{"bash -c \"$X\"", true, []string{"bash -c \"$X\""}},
		{"curl x | sh", true, []string{"curl x", "sh"}},
		{"eval 'rm x' y", false, []string{"eval rm x y", "rm x y"}},
		{"eval $X", true, []string{"eval $X"}},
		{"trap 'rm x' EXIT", false, []string{"trap rm x EXIT", "rm x"}},
		{"alias ll='rm x'", false, []string{"alias ll=rm x", "rm x"}},
		{"find . -name '*.o' -exec rm {} \\; -execdir sh -c 'y' +", false, []string{"find . -name *.o -exec rm {} ; -execdir sh -c y +", "rm {}", "sh -c y", "y"}},
		{"busybox rm x", false, []string{"busybox rm x", "rm x"}},

		{"a; b )", true, []string{"a"}},
		{"!(rm x)", true, []string{"!(rm x)", "rm x"}},
		{strings.Repeat("(", 600) + "rm" + strings.Repeat(")", 600), true, nil},
		{strings.Repeat("a ", 40000), true, nil},
	} {
		got := Parse(c.script)
		if !slices.Equal(texts(got), c.want) || (len(got.Opaque) > 0) != c.opaque {
			t.Errorf("%.80q:\n got %q, opaque %q\nwant %q, opaque %v", c.script, texts(got), got.Opaque, c.want, c.opaque)
		}
	}
}

// Literal words are what bash makes of them.
func TestWordsAreBashs(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	for _, words := range []string{
		`a b`, `'a b' "c d"`, `a\ b\"c`, `"a\$b\q\\"`, `'\n' \n`, `a"b"'c'd`, `"" ''`, "a\\\nb", "\"a\\\nb\"", `$'plain'`, `-x=y --z=`, `\-x`, `a#b`, `@{1} stash@{0} {} {a}`,
		`\{a,b\}`, `"{a,b}"`, `'{'a,b'}'`, `a=b`, `\~/x "~"`, `"*" \? '[a]'`, `a!b`, `,`, `é "ü"`, "a\tb",
	} {
		script := Parse("f " + words)
		if len(script.Commands) != 1 {
			t.Fatalf("%q: %q", words, texts(script))
		}
		var ours strings.Builder
		for _, w := range script.Commands[0].Words[1:] {
			if w.is != literal {
				t.Errorf("%q: %q is not literal", words, w.Text)
			}
			ours.WriteString("<" + w.Text + ">")
		}
		theirs, err := exec.Command(bash, "-c", "f() { printf '<%s>' \"$@\"; }; f "+words).Output()
		if err != nil || string(theirs) != ours.String() {
			t.Errorf("%q: bash has %s (%v), we %s", words, theirs, err, ours.String())
		}
	}
	for _, words := range []string{`{a,b}`, `{1..3}`, `{"a",b}`, `a{b,c}`, `*`, `*.go`, `-*`, `"$x"`, `$x`, `$(a)`, `$((1))`, `$'\x41'`, `$"a"`, `\a*`, `?(a)`} {
		script := Parse("f " + words)
		if w := script.Commands[0].Words[1]; w.is != unknowns {
			t.Errorf("%s is taken for %q", words, w.Text)
		}
	}
	for words, is := range map[string]certainty{`a*`: pattern, `./*.go`: pattern, `src/[ab]`: pattern, `~/x`: home, `~/x*`: pattern} {
		if w := Parse("f " + words).Commands[0].Words[1]; w.is != is || w.Text != words {
			t.Errorf("%s is taken for %q", words, w.Text)
		}
	}
}

// Bash runs what is in !(…) unless it was told otherwise, and what comes before a
// mistake.
func TestBashRunsWhatWeSay(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	for script, want := range map[string]string{"!(echo ran)": "ran\n", "echo ran\na )": "ran\n", "X=1; echo ran; (": ""} {
		out, _ := exec.Command(bash, "-c", script).Output()
		if string(out) != want {
			t.Errorf("%q prints %q", script, out)
		}
	}
	if s := Parse("echo ran\na )"); len(s.Commands) == 0 {
		t.Error("what comes before a mistake is not seen")
	}
}
