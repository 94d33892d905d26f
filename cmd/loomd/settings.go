package main

import (
	"io"
	"log/slog"
	"os"

	"github.com/loomd/loomd/daemon"
	"github.com/loomd/loomd/daemon/config"
	"github.com/loomd/loomd/daemon/place"
)

// settings are the flags that stand above the environment and the user's file.
type settings struct {
	Set []string `sep:"none" placeholder:"KEY=VALUE" help:"Set what is one value in the configuration, above LOOMD_ variables and your file, as in review.mode=blocking; may be given several times."`
}

// overrides are what stands above the user's file, and what is wrong in the
// environment.
func (s settings) overrides() ([]config.Override, []config.Problem, error) {
	out, problems := config.Environment(os.Environ())
	for _, text := range s.Set {
		o, err := config.ParseOverride(text, "--set")
		if err != nil {
			return nil, nil, usagef("--set %v", err)
		}
		out = append(out, o)
	}
	return out, problems, nil
}

// origin is where the configuration of these folders comes from.
func (s settings) origin(p place.Place, user string) (config.Origin, error) {
	known, err := daemon.Known()
	if err != nil {
		return config.Origin{}, err
	}
	overrides, problems, err := s.overrides()
	return config.Origin{User: user, Roots: p.Roots, Overrides: overrides, Trust: p.Trust, Known: known, Problems: problems}, err
}

// configuration reads what a daemon of these folders would that is started now
// without a flag.
func configuration(folders []string) (config.Config, []config.Problem, error) {
	return settings{}.configuration(folders)
}

func (s settings) configuration(folders []string) (config.Config, []config.Problem, error) {
	p, err := placeOf(folders)
	if err != nil {
		return config.Config{}, nil, err
	}
	user, err := config.UserPath()
	if err != nil {
		return config.Config{}, nil, err
	}
	origin, err := s.origin(p, user)
	if err != nil {
		return config.Config{}, nil, err
	}
	c, problems := origin.Load()
	return c, problems, nil
}

// newLogger logs to w as it is configured.
func newLogger(w io.Writer, c config.Config) *slog.Logger {
	var opts slog.HandlerOptions
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.LogLevel.Value)); err == nil {
		opts.Level = level
	}
	if c.LogFormat.Value == "json" {
		return slog.New(slog.NewJSONHandler(w, &opts))
	}
	return slog.New(slog.NewTextHandler(w, &opts))
}
