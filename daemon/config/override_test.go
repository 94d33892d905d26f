package config

import (
	"path/filepath"
	"strings"
	"testing"
)

// Every setting that is one value has a variable, and reads it as the file would.
func TestEnvironment(t *testing.T) {
	overrides, problems := Environment([]string{
		"LOOMD_REVIEW_MODE=auto", "LOOMD_REVIEW_WAIT_SECS=5", "LOOMD_REVIEW_HOLD_DEFAULTS=false", "LOOMD_INDEX_MEMORY=64MiB",
		"LOOMD_LOG_LEVEL=warn", "LOOMD_LOG_FORMAT=", "LOOMD_READY_FD=3", "HOME=/x", "LOOMD_REVEIW_MODE=auto", "LOOMD_TOOLSETS_A_TOOLS=grep",
	})
	if len(problems) != 2 || !strings.Contains(problems[0].String(), "LOOMD_REVEIW_MODE: an environment variable that sets nothing; did you mean LOOMD_REVIEW_MODE?") || !problems[1].Ignored {
		t.Errorf("%v", problems)
	}
	c, problems := Origin{Overrides: overrides}.Load()
	if len(problems) > 0 || c.Mode != (Setting[Mode]{ModeAuto, "LOOMD_REVIEW_MODE"}) || c.WaitSecs != (Setting[int]{5, "LOOMD_REVIEW_WAIT_SECS"}) ||
		c.HoldDefaults != (Setting[bool]{false, "LOOMD_REVIEW_HOLD_DEFAULTS"}) || c.Memory.Value != 64<<20 || c.LogLevel.Value != "warn" || c.LogFormat.Source != "default" {
		t.Errorf("%+v, %v", c, problems)
	}
}

// The later of two counts, a file that is not understood loosens nothing, and what
// is wrong above the file holds everything.
func TestOverrides(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	write(t, path, "[review]\nmode = \"blocking\"\nwait_secs = 5\n")
	auto, staged := Override{"review.mode", "auto", "A"}, Override{"review.mode", "staged", "B"}
	c, problems := Origin{User: path, Overrides: []Override{staged, auto}}.Load()
	if c.Mode != (Setting[Mode]{ModeAuto, "A"}) || c.WaitSecs.Value != 5 || len(problems) > 0 {
		t.Errorf("%+v, %v", c.Mode, problems)
	}
	for _, broken := range []string{"review = 1\n", "[review]\nx = 1\n", "["} {
		write(t, path, broken)
		if c, problems = (Origin{User: path, Overrides: []Override{auto}}).Load(); c.Mode.Value == ModeAuto || !Broken(problems) {
			t.Errorf("%q: %+v, %v", broken, c.Mode, problems)
		}
	}
	write(t, path, "")
	c, problems = Origin{User: path, Overrides: []Override{{"review.wait_secs", "soon", "V"}}}.Load()
	if last := c.Rules[len(c.Rules)-1]; len(problems) != 1 || problems[0].String() != "V: review.wait_secs: a text, not a whole number" || last.Name != brokenTag || last.Source != "V" {
		t.Errorf("%v, %+v", problems, last)
	}
}

func TestParseOverride(t *testing.T) {
	o, err := ParseOverride("review.wait_secs=5", "--set")
	if err != nil || o != (Override{"review.wait_secs", "5", "--set review.wait_secs"}) {
		t.Errorf("%+v, %v", o, err)
	}
	for text, want := range map[string]string{
		"review.mode": "write KEY=VALUE", "reviewmode=auto": "did you mean review.mode?", "review.mode=lax": "is not one of",
		"review.wait_secs=0": "must be from", "review.rule=x": "no such setting", "toolsets.NAME.tools=x": "no such setting",
	} {
		if _, err := ParseOverride(text, "--set"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
