package main

import (
	"runtime"
	"runtime/debug"

	"github.com/alecthomas/kong"
)

// release is set by the linker for released binaries:
// -ldflags "-X main.release=v1.2.3".
var release string

type versionCmd struct{}

func (versionCmd) Run(e *env) error { return e.version() }

// versionFlag is --version, which does the same wherever it stands.
type versionFlag bool

func (versionFlag) BeforeReset(app *kong.Kong, e *env) error {
	if err := e.version(); err != nil {
		return err
	}
	app.Exit(exitDone)
	return nil
}

func (e *env) version() error {
	return e.printf("loomd %s (%s, %s/%s)\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// version names this build: the release, the module's version, or the commit it
// was built from. Client and daemon of one build give the same.
func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	return buildVersion(info)
}

func buildVersion(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	v := "devel"
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			v += "-" + s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			v += "+dirty"
		}
	}
	return v
}
