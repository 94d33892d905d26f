package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

func TestPlatformChecks(t *testing.T) {
	for goos, want := range map[string]string{
		"linux": "ok ok", "darwin": "ok ok", "windows": "warn fail", "plan9": "warn fail",
	} {
		var grades []string
		for _, c := range platformChecks(goos) {
			grades = append(grades, c.Grade)
			if c.Detail == "" {
				t.Errorf("%s: %s says nothing", goos, c.Name)
			}
		}
		if got := strings.Join(grades, " "); got != want {
			t.Errorf("%s: %s, want %s", goos, got, want)
		}
	}
}

func TestWatchCheck(t *testing.T) {
	file := filepath.Join(t.TempDir(), "max_user_watches")
	for text, want := range map[string]string{
		"8192\n": gradeWarn, "65536\n": gradeOK, "524288\n": gradeOK, "many": gradeWarn,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c := watchCheck(file)
		if c.Grade != want {
			t.Errorf("%q: %+v, want %s", text, c, want)
		}
		if text == "8192\n" && !strings.Contains(c.Detail, "sysctl fs.inotify.max_user_watches=") {
			t.Errorf("no remedy: %s", c.Detail)
		}
	}
	if c := watchCheck(filepath.Join(t.TempDir(), "absent")); c.Grade != gradeWarn {
		t.Errorf("without the file: %+v", c)
	}
}

func TestGitCheckWithoutGit(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if c := gitCheck(context.Background()); c.Grade != gradeWarn {
		t.Errorf("%+v", c)
	}
}

func TestBuildVersion(t *testing.T) {
	commit := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123"}
	for _, c := range []struct {
		info debug.BuildInfo
		want string
	}{
		{debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, "v1.2.3"},
		{debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "devel"},
		{debug.BuildInfo{Settings: []debug.BuildSetting{commit, {Key: "vcs.modified", Value: "false"}}}, "devel-0123456789ab"},
		{debug.BuildInfo{Settings: []debug.BuildSetting{commit, {Key: "vcs.modified", Value: "true"}}}, "devel-0123456789ab+dirty"},
	} {
		if got := buildVersion(&c.info); got != c.want {
			t.Errorf("buildVersion(%+v) = %s, want %s", c.info, got, c.want)
		}
	}
	defer func() { release = "" }()
	if release = "v9"; version() != "v9" {
		t.Errorf("version() = %s of the release v9", version())
	}
}
