package config

import (
	"testing"

	"github.com/bmatcuk/doublestar/v4"
)

// Whatever a file says, it is read without a panic, and it only loosens what is
// there without it when it has no problem.
func FuzzConfig(f *testing.F) {
	for _, seed := range []string{
		"", "[review]\nmode = \"auto\"\nwait_secs = 5\nhold_defaults = false\n",
		"[[review.rule]]\nname = \"docs\"\neffect = \"accept\"\npaths = [\"docs/**\", \"*.md\"]\nkinds = [\"create\"]\nmax_lines = 5\nsessions = [\"c*\"]\ntools = [\"edit_file\"]\n",
		"review.rule = [{effect = \"hold\", paths = [\"{a,b}\"]}, {effect = \"accept\"}]\n", "review.mode = '''\nauto'''\n",
		"[review]\nrule = [[1]]\n", "[review.rule]\na.b.\"c d\" = 1979-05-27\n", "\xef\xbb\xbf[review]\n", "[[review]]\n", "a = [\n# c\n1, # d\n]\n", "x = inf\n",
		"[secrets.A]\nprovider = \"command\"\ncommand = [\"pass\", \"a b\"]\ntimeout_secs = 5\ntools = [\"x\"]\n[secrets.\"b c\"]\nprovider = \"op\"\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > maxFile {
			return
		}
		user := text{path: "user", data: data, stat: stat{exists: true}}
		c, problems := merge(user, nil, "/nowhere/config.toml", nil)
		broken := false
		for _, p := range problems {
			broken = broken || !p.Ignored
			if p.Text == "" || p.Line < 0 || len(p.String()) > 4<<10 {
				t.Errorf("problem %+v", p)
			}
		}
		if broken && (c.Mode.Value == ModeAuto || !c.HoldDefaults.Value || c.Rules[len(c.Rules)-1].Name != brokenTag) {
			t.Errorf("with problems %v: %+v", problems, c)
		}
		workspace := user
		c, _ = merge(text{}, []text{workspace}, "", []string{"/root"})
		if c.Mode.Value == ModeAuto || c.WaitSecs.Value != defWait || len(c.Secrets) > 0 || !c.HoldDefaults.Value {
			t.Errorf("a workspace says %+v", c)
		}
		for _, r := range c.Rules {
			if r.Effect != EffectHold {
				t.Errorf("a workspace accepts: %+v", r)
			}
			for _, p := range r.Paths {
				if _, err := doublestar.Match(p, "a/b/c.md"); err != nil {
					t.Errorf("pattern %q: %v", p, err)
				}
			}
		}
	})
}
