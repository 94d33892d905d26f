package config

import (
	"slices"
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
		commandsText, "[[permission.rule]]\neffect = \"allow\"\n[grants.a]\npreset = \"go\"\nhost = true\n", "grants = 1\npermission.rule = [1]\n",
		"[web_search]\nprovider = \"google\"\n[web_search.google]\nengine_id = \"e\"\nkey_env = \"K\"\n[web_search.proxy]\nurl = \"https://a.example\"\n",
		"[oracle]\nmodel = \"m\"\nurl = \"http://localhost:1/\"\nmodels = [\"n\"]\nkey_secret = \"s\"\n",
		"[secrets.A]\nprovider = \"command\"\ncommand = [\"pass\", \"a b\"]\ntimeout_secs = 5\ntools = [\"x\"]\n[secrets.\"b c\"]\nprovider = \"op\"\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > maxFile {
			return
		}
		user := text{path: "user", data: data, stat: stat{exists: true}}
		c, problems := Origin{User: "/nowhere/config.toml"}.merge(texts{user: user})
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
		if broken && (len(c.Grants) > 0 || slices.ContainsFunc(c.CommandRules, allows) || c.CommandRules[len(c.CommandRules)-1].Effect != EffectAsk) {
			t.Errorf("with problems %v: %+v, %+v", problems, c.Grants, c.CommandRules)
		}
		workspace := user
		c, _ = Origin{Roots: []string{"/root"}}.merge(texts{workspaces: []text{workspace}})
		if c.Mode.Value == ModeAuto || c.WaitSecs.Value != defWait || len(c.Secrets) > 0 || !c.HoldDefaults.Value {
			t.Errorf("a workspace says %+v", c)
		}
		if len(c.Grants) > 0 || slices.ContainsFunc(c.CommandRules, allows) || c.AskWaitSecs.Source != sourceDefault {
			t.Errorf("a workspace grants %+v, %+v", c.Grants, c.CommandRules)
		}
		if len(c.WebSearch.Providers) > 0 || c.Oracle != nil {
			t.Errorf("a workspace says whom to ask: %+v %+v", c.WebSearch, c.Oracle)
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

func allows(r CommandRule) bool { return r.Effect == EffectAllow }
