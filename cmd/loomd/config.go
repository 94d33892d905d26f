package main

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/loomd/loomd/daemon/config"
	"github.com/loomd/loomd/daemon/place"
)

type configCmd struct {
	Show   configShowCmd   `cmd:"" default:"withargs" hidden:"" help:"Print what is in force (the default)."`
	Path   configPathCmd   `cmd:"" help:"Print where your configuration is, whether it exists or not."`
	Schema configSchemaCmd `cmd:"" help:"Print the JSON schema of the file, for editors."`
}

func (configCmd) Help() string {
	return `Prints each setting that is in force for the folder, and where it was set; --json has it for scripts. What is wrong in a file is told on stderr, and the exit code is then 1.

docs/configuration.md has all that can be set.`
}

type configShowCmd struct {
	settings
	Root []string `sep:"none" placeholder:"DIR" help:"Folder that is meant; may be given several times (default: the nearest one upwards that holds .git or .loom, else this one)."`
	JSON bool     `name:"json" help:"Print it as JSON, with the problems."`
}

func placeOf(folders []string) (place.Place, error) {
	roots, err := target{Root: folders}.roots()
	if err != nil {
		return place.Place{}, err
	}
	return place.For(roots)
}

func (c *configShowCmd) Run(e *env) error {
	set, problems, err := c.configuration(c.Root)
	if err != nil {
		return err
	}
	p, err := placeOf(c.Root)
	if err != nil {
		return err
	}
	allowed, wrong := config.ReadAllowed(p.Allowed)
	if wrong != nil {
		problems = append(problems, config.Problem{File: p.Allowed, Text: wrong.Error()})
	}
	if c.JSON {
		if problems == nil {
			problems = []config.Problem{}
		}
		err = e.json(struct {
			config.Config
			Allowed  []config.Allowed `json:"allowed"` // for good, by loomd permissions
			Problems []config.Problem `json:"problems"`
		}{set, append([]config.Allowed{}, allowed...), problems})
	} else if err = e.configuration(set, problems); err == nil && len(allowed) > 0 {
		err = e.allowed(p.Allowed, allowed)
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
		switch {
		case f.Trust == config.TrustWaits:
			state = "read, a part of it waits for your trust: loomd trust"
		case f.Trust == config.TrustGiven:
			state = "read, trusted"
		case f.Exists:
			state = "read"
		}
		out = append(out, "# "+pathName(f.Path)+": "+state)
	}
	out = append(out, table([][]string{
		{"mode", string(c.Mode.Value), c.Mode.Source},
		{"wait_secs", strconv.Itoa(c.WaitSecs.Value), c.WaitSecs.Source},
		{"hold_defaults", strconv.FormatBool(c.HoldDefaults.Value), c.HoldDefaults.Source},
		{"index.memory", memoryName(c.Memory.Value), c.Memory.Source},
		{"log.level", c.LogLevel.Value, c.LogLevel.Source},
		{"log.format", c.LogFormat.Value, c.LogFormat.Source},
		{"permission.wait_secs", strconv.Itoa(c.AskWaitSecs.Value), c.AskWaitSecs.Source},
	})...)
	out = append(out, table(serviceRows(c))...) // whose values are long
	out = append(out, namedLines(c)...)
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
	for _, line := range slices.Concat(out, commandLines(c)) {
		if err := e.printf("%s\n", line); err != nil {
			return err
		}
	}
	for _, p := range problems {
		e.note("loomd: %s", oneLine(p.String()))
	}
	return nil
}

// namedLines are what has a name of its own: toolsets, tools, secrets.
func namedLines(c config.Config) []string {
	sets := make([][]string, len(c.Toolsets))
	for i, s := range c.Toolsets {
		sets[i] = []string{"toolset", s.Name, strings.Join(s.Tools, " "), s.Source}
	}
	own := make([][]string, len(c.Tools))
	for i, t := range c.Tools {
		own[i] = []string{"tool", t.Name, strings.Join(t.Command, " "), t.Source}
	}
	secrets := make([][]string, len(c.Secrets))
	for i, one := range c.Secrets {
		uses := "only redacted"
		if len(one.Tools) > 0 {
			uses = "for " + strings.Join(one.Tools, ", ")
		}
		secrets[i] = []string{"secret", one.Name, one.Provider, uses, one.Source}
	}
	return slices.Concat(table(sets), table(own), table(secrets))
}

// memoryName is how much the index may keep.
func memoryName(bytes int64) string {
	if bytes == 0 {
		return "a quarter of the machine's, at most 2 GiB"
	}
	return config.Size(bytes)
}

// serviceRows are the services that are configured, and where.
func serviceRows(c config.Config) [][]string {
	var rows [][]string
	if len(c.WebSearch.Providers) == 0 {
		rows = append(rows, []string{"web_search", "not configured", "default"})
	} else {
		rows = append(rows,
			[]string{"web_search.provider", c.WebSearch.Provider.Value, c.WebSearch.Provider.Source},
			[]string{"web_search.timeout_secs", strconv.Itoa(c.WebSearch.TimeoutSecs.Value), c.WebSearch.TimeoutSecs.Source})
	}
	for _, p := range c.WebSearch.Providers {
		engine := "engine"
		if p.Name == "google" {
			engine = "engine_id"
		}
		rows = append(rows, []string{"web_search." + p.Name, said("url", p.URL, engine, p.Engine, "key_env", p.KeyEnv, "key_secret", p.KeySecret), p.Source})
	}
	o := c.Oracle
	if o == nil {
		return append(rows, []string{"oracle", "not configured", "default"})
	}
	return append(rows, []string{"oracle", said(
		"model", o.Model, "models", strings.Join(o.Models, " "), "url", o.URL, "key_env", o.KeyEnv, "key_secret", o.KeySecret,
		"max_tokens", strconv.Itoa(o.MaxTokens), "token_param", o.TokenParam, "timeout_secs", strconv.Itoa(o.TimeoutSecs),
	), o.Source})
}

// said are names and values, those without a value left out.
func said(pairs ...string) string {
	var parts []string
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			parts = append(parts, pairs[i]+" "+pairs[i+1])
		}
	}
	return strings.Join(parts, ", ")
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

type configSchemaCmd struct{}

func (configSchemaCmd) Run(e *env) error {
	text, err := config.Schema()
	if err != nil {
		return err
	}
	return e.printf("%s", text)
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
