package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/loomd/loomd/daemon/config"
	"github.com/loomd/loomd/daemon/place"
)

type configCmd struct {
	Show configShowCmd `cmd:"" default:"withargs" hidden:"" help:"Print what is in force (the default)."`
	Path configPathCmd `cmd:"" help:"Print where your configuration is, whether it exists or not."`
}

func (configCmd) Help() string {
	return `Prints each setting that is in force for the folder, and where it was set; --json has it for scripts. What is wrong in a file is told on stderr, and the exit code is then 1.

docs/configuration.md has all that can be set.`
}

type configShowCmd struct {
	Root []string `sep:"none" placeholder:"DIR" help:"Folder that is meant; may be given several times (default: the nearest one upwards that holds .git or .loom, else this one)."`
	JSON bool     `name:"json" help:"Print it as JSON, with the problems."`
}

// configuration reads what a daemon of these folders would.
func configuration(folders []string) (config.Config, []config.Problem, error) {
	roots, err := target{Root: folders}.roots()
	if err != nil {
		return config.Config{}, nil, err
	}
	p, err := place.For(roots)
	if err != nil {
		return config.Config{}, nil, err
	}
	path, err := config.UserPath()
	if err != nil {
		return config.Config{}, nil, err
	}
	c, problems := config.Load(path, p.Roots)
	return c, problems, nil
}

func (c *configShowCmd) Run(e *env) error {
	set, problems, err := configuration(c.Root)
	if err != nil {
		return err
	}
	if c.JSON {
		if problems == nil {
			problems = []config.Problem{}
		}
		err = e.json(struct {
			config.Config
			Problems []config.Problem `json:"problems"`
		}{set, problems})
	} else {
		err = e.configuration(set, problems)
	}
	if config.Broken(problems) {
		return errors.Join(err, errReported)
	}
	return err
}

func (e *env) configuration(c config.Config, problems []config.Problem) error {
	var out []string
	for _, f := range c.Files {
		state := "not there"
		if f.Exists {
			state = "read"
		}
		out = append(out, "# "+pathName(f.Path)+": "+state)
	}
	out = append(out, table([][]string{
		{"mode", string(c.Mode.Value), c.Mode.Source},
		{"wait_secs", strconv.Itoa(c.WaitSecs.Value), c.WaitSecs.Source},
		{"hold_defaults", strconv.FormatBool(c.HoldDefaults.Value), c.HoldDefaults.Source},
		{"index.memory", memoryName(c.Memory.Value), c.Memory.Source},
	})...)
	var secrets [][]string
	for _, one := range c.Secrets {
		uses := "only redacted"
		if len(one.Tools) > 0 {
			uses = "for " + strings.Join(one.Tools, ", ")
		}
		secrets = append(secrets, []string{"secret", one.Name, one.Provider, uses, one.Source})
	}
	out = append(out, table(secrets)...)
	rows := make([][]string, len(c.Rules))
	for i, r := range c.Rules {
		rows[i] = []string{r.Effect, r.Name, r.Source}
	}
	for i, line := range table(rows) {
		out = append(out, line)
		for _, condition := range conditions(c.Rules[i]) {
			out = append(out, "    "+oneLine(condition))
		}
	}
	for _, line := range out {
		if err := e.printf("%s\n", line); err != nil {
			return err
		}
	}
	for _, p := range problems {
		e.note("loomd: %s", oneLine(p.String()))
	}
	return nil
}

// memoryName is how much the index may keep.
func memoryName(bytes int64) string {
	if bytes == 0 {
		return "a quarter of the machine's, at most 2 GiB"
	}
	return config.Size(bytes)
}

// conditions are what a rule asks of a change, a line each.
func conditions(r config.Rule) []string {
	var out []string
	list := func(name string, values []string) {
		if len(values) > 0 {
			out = append(out, name+" "+strings.Join(values, " "))
		}
	}
	if r.Root != "" {
		list("in", []string{r.Root})
	}
	list("paths", r.Paths)
	list("kinds", r.Kinds)
	if r.MinLines > 0 {
		list("min_lines", []string{strconv.Itoa(r.MinLines)})
	}
	if r.MaxLines > 0 {
		list("max_lines", []string{strconv.Itoa(r.MaxLines)})
	}
	if r.MaxBytes > 0 {
		list("max_bytes", []string{strconv.Itoa(r.MaxBytes)})
	}
	list("sessions", r.Sessions)
	list("tools", r.Tools)
	return out
}

type configPathCmd struct {
	Root      []string `sep:"none" placeholder:"DIR" help:"Folder that is meant with --workspace; may be given several times."`
	Workspace bool     `help:"Print the workspace's, which can only tighten yours."`
}

func (c *configPathCmd) Run(e *env) error {
	if !c.Workspace {
		path, err := config.UserPath()
		if err != nil {
			return err
		}
		return e.printf("%s\n", path)
	}
	roots, err := target{Root: c.Root}.roots()
	if err != nil {
		return err
	}
	for _, root := range roots {
		if err := e.printf("%s\n", config.WorkspacePath(root)); err != nil {
			return err
		}
	}
	return nil
}
