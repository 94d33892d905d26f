package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/loomd/loomd/daemon/config"
	"github.com/loomd/loomd/daemon/place"
)

type trustCmd struct {
	Dir    string `arg:"" optional:"" help:"The folder whose .loom/config.toml is meant (default: the nearest one upwards that holds .git or .loom, else this one)."`
	Remove bool   `xor:"what" help:"Trust its file no more."`
	List   bool   `xor:"what" help:"List what you trust."`
	JSON   bool   `name:"json" help:"Print the list as JSON."`
}

func (trustCmd) Help() string {
	return `What a workspace's .loom/config.toml makes stricter counts always. What it adds, toolsets and tools, counts when you trust the file, and as long as no byte of it changes. Look at the file first: a tool in it is a command that agents may run.`
}

func (c *trustCmd) Run(e *env) error {
	switch {
	case c.JSON && !c.List:
		return usagef("--json: only of --list")
	case c.List && c.Dir != "":
		return usagef("--list: lists all folders, and takes none")
	}
	record, err := trustRecord()
	if err != nil {
		return err
	}
	trust, err := config.ReadTrust(record)
	if err != nil {
		return fmt.Errorf("%s: %w", record, err)
	}
	switch {
	case c.List:
		return c.list(e, trust)
	case c.Remove:
		return c.remove(e, trust)
	}
	return c.add(e, trust)
}

// trustRecord is where it is kept what is trusted; it is the same for all folders.
func trustRecord() (string, error) {
	p, err := place.For([]string{string(os.PathSeparator)})
	return p.Trust, err
}

func (c *trustCmd) folder() (string, error) {
	var t target
	if c.Dir != "" {
		t.Root = []string{c.Dir}
	}
	roots, err := t.roots()
	if err != nil {
		return "", err
	}
	return roots[0], nil
}

func (c *trustCmd) add(e *env, trust config.Trust) error {
	root, err := c.folder()
	if err != nil {
		return err
	}
	path := config.WorkspacePath(root)
	content, exists, err := config.WorkspaceText(root)
	switch {
	case err != nil:
		return err
	case !exists:
		return fmt.Errorf("there is no %s", path)
	}
	waits, err := waiting(root)
	if err != nil {
		return err
	}
	if len(waits) == 0 {
		return e.printf("nothing in %s waits for your trust\n", pathName(path))
	}
	if err := trust.Add(path, content, time.Now()); err != nil {
		return err
	}
	if err := saveTrust(trust); err != nil {
		return err
	}
	for _, p := range waits {
		if err := e.printf("trusted: %s, line %d: %s\n", pathName(p.File), p.Line, oneLine(p.Key)); err != nil {
			return err
		}
	}
	_, problems, err := configuration([]string{root})
	for _, p := range problems {
		e.note("loomd: %s", oneLine(p.String()))
	}
	if config.Broken(problems) {
		return errors.Join(err, errReported)
	}
	return err
}

// waiting is what in the file of a folder does not count before it is trusted.
func waiting(root string) ([]config.Problem, error) {
	_, problems, err := configuration([]string{root})
	var out []config.Problem
	for _, p := range problems {
		if p.Waits {
			out = append(out, p)
		}
	}
	return out, err
}

func (c *trustCmd) remove(e *env, trust config.Trust) error {
	root := c.Dir // which need not be there any more
	if root == "" {
		var err error
		if root, err = c.folder(); err != nil {
			return err
		}
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	path := config.WorkspacePath(root)
	if !trust.Remove(path) {
		return fmt.Errorf("%s is not trusted", path)
	}
	if err := saveTrust(trust); err != nil {
		return err
	}
	return e.printf("trusted no more: %s\n", pathName(path))
}

func saveTrust(trust config.Trust) error {
	text, err := json.MarshalIndent(trust, "", "  ")
	if err != nil {
		return fmt.Errorf("what you trust: %w", err)
	}
	record, err := trustRecord()
	if err != nil {
		return err
	}
	return place.WritePrivate(record, append(text, '\n'))
}

// trustState is a trusted file as it is now.
type trustState struct {
	config.TrustedFile
	State string `json:"state"` // trusted, changed or gone
}

func (c *trustCmd) list(e *env, trust config.Trust) error {
	states := []trustState{}
	for _, f := range trust.Files {
		content, exists, err := config.WorkspaceText(filepath.Dir(filepath.Dir(f.Path)))
		state := "changed"
		switch {
		case !exists:
			state = "gone"
		case err == nil && trust.Has(f.Path, content):
			state = "trusted"
		}
		states = append(states, trustState{f, state})
	}
	if c.JSON {
		return e.json(struct {
			Files []trustState `json:"files"`
		}{states})
	}
	var rows [][]string
	for _, s := range states {
		rows = append(rows, []string{s.State, pathName(s.Path), s.Since})
	}
	for _, line := range table(rows) {
		if err := e.printf("%s\n", line); err != nil {
			return err
		}
	}
	return nil
}
