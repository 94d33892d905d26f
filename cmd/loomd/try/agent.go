package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/loomd/loomd/daemon/client"
	"github.com/loomd/loomd/daemon/protocol"
)

// agent is the scripted one: it finds files by the tools and changes them by
// the tools, as a model would.
type agent struct {
	client  *client.Client
	names   []string // of the files that list_files showed
	changes []*change
	did     [][]string // rows: tool, path, what
}

// label is the session's.
const label = "try"

func startAgent(ctx context.Context, opts client.Options) (*agent, error) {
	opts.Who = client.Identity{Name: "try", Role: protocol.RoleAgent, Session: &protocol.SessionOptions{Label: label}}
	opts.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	c, err := client.Connect(ctx, opts)
	if err != nil {
		return nil, fmt.Errorf("connecting the agent: %w", err)
	}
	return &agent{client: c}, nil
}

// call runs a tool and reads its structured result. A failure of the tool is an
// error that says its code.
func (a *agent) call(ctx context.Context, tool string, args map[string]any, result any) ([]protocol.Review, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	out, err := a.client.CallTool(ctx, protocol.ToolsCallParams{Name: tool, Arguments: raw})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", tool, err)
	}
	if out.IsError {
		failure := &toolFailure{tool: tool}
		if err := json.Unmarshal(out.StructuredContent, failure); err != nil {
			return nil, fmt.Errorf("%s: reading its failure: %w", tool, err)
		}
		return out.Reviews, failure
	}
	if err := json.Unmarshal(out.StructuredContent, result); err != nil {
		return nil, fmt.Errorf("%s: reading its result: %w", tool, err)
	}
	return out.Reviews, nil
}

// toolFailure is a failed call.
type toolFailure struct {
	tool          string
	Code, Message string
}

func (f *toolFailure) Error() string { return f.tool + ": " + f.Code + ": " + f.Message }

// work makes changes of several kinds, each in a file of its own.
func (a *agent) work(ctx context.Context) error {
	if err := a.list(ctx); err != nil {
		return err
	}
	prose, code := inOrder(a.names, proseExts), inOrder(a.names, sourceExts)
	for _, kind := range []struct {
		what string
		from []string
		make func(source) (change, error)
	}{
		{"one line", append(prose, code...), func(s source) (change, error) { return reworded(s, 1) }},
		{"two places", append(code, prose...), func(s source) (change, error) { return reworded(s, 2) }},
		{"a line at the end", append(prose, code...), appended},
	} {
		if err := a.change(ctx, kind.what, kind.from, kind.make); err != nil {
			return err
		}
	}
	if err := a.create(ctx); err != nil {
		return err
	}
	if err := a.lookBack(ctx); err != nil {
		return err
	}
	table(a.did)
	return nil
}

func (a *agent) list(ctx context.Context) error {
	var listed struct {
		Files []struct {
			Path  string `json:"path"`
			IsDir bool   `json:"is_dir"`
			Kind  string `json:"kind"`
			Size  int64  `json:"size"`
		} `json:"files"`
	}
	if _, err := a.call(ctx, "list_files", map[string]any{"recursive": true, "limit": 2 * maxFiles}, &listed); err != nil {
		return err
	}
	for _, f := range listed.Files {
		if !f.IsDir && f.Kind == "" {
			a.names = append(a.names, f.Path)
		}
	}
	a.note("list_files", ".", plural(len(a.names), "file"))
	return nil
}

func (a *agent) note(tool, path, what string) { a.did = append(a.did, []string{tool, path, what}) }

// read reads a file; ok is false for what the script does not change: what is
// no UTF-8 text, or too long.
func (a *agent) read(ctx context.Context, path string) (s source, ok bool, err error) {
	var got struct {
		Contents  string `json:"contents"`
		Truncated bool   `json:"truncated"`
		Lossy     bool   `json:"lossy"`
		Encoding  string `json:"encoding"`
		BOM       bool   `json:"bom"`
	}
	_, err = a.call(ctx, "read_file", map[string]any{"path": path}, &got)
	var failure *toolFailure
	if errors.As(err, &failure) && (failure.Code == "not_text" || failure.Code == "too_large") {
		return source{}, false, nil
	}
	plain := !got.Truncated && !got.Lossy && !got.BOM && got.Encoding == "utf-8"
	return source{path, got.Contents}, plain, err
}

// change makes one kind of change in the first file that has a place for it.
func (a *agent) change(ctx context.Context, what string, from []string, make func(source) (change, error)) error {
	for _, name := range from {
		if a.changed(name) {
			continue
		}
		s, ok, err := a.read(ctx, name)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		c, err := make(s)
		if errors.Is(err, errUnfit) {
			continue
		}
		if err != nil {
			return err
		}
		c.what = what
		return a.edit(ctx, &c)
	}
	a.note("edit_file", "-", what+": no file has a place for it")
	return nil
}

func (a *agent) changed(name string) bool {
	for _, c := range a.changes {
		if c.path == name {
			return true
		}
	}
	return false
}

func (a *agent) edit(ctx context.Context, c *change) error {
	edits := []map[string]string{}
	for _, h := range c.hunks {
		edits = append(edits, map[string]string{"old_str": h.from, "new_str": h.to})
	}
	return a.propose(ctx, c, "edit_file", map[string]any{"path": c.path, "edits": edits})
}

func (a *agent) create(ctx context.Context) error {
	text := "# Notes\n\nThis file, and the folder it is in, exist once somebody has accepted them.\n"
	name := "notes/agent/README.md"
	for n := 2; a.exists(name); n++ {
		name = fmt.Sprintf("notes/agent-%d/README.md", n)
	}
	c := &change{path: name, what: "a new file in a new folder", fresh: true, hunks: []hunk{{text: text}}}
	return a.propose(ctx, c, "write_file", map[string]any{"path": name, "content": text})
}

func (a *agent) exists(name string) bool {
	for _, n := range a.names {
		if strings.HasPrefix(n, name[:strings.LastIndex(name, "/")]) {
			return true
		}
	}
	return false
}

func (a *agent) propose(ctx context.Context, c *change, tool string, args map[string]any) error {
	var result struct {
		Proposal string `json:"proposal"`
		State    string `json:"state"`
	}
	if _, err := a.call(ctx, tool, args, &result); err != nil {
		return err
	}
	if result.Proposal == "" || result.State != string(protocol.ProposalOpen) {
		return fmt.Errorf("%s of %s: proposal %q is %s, expected an open one", tool, c.path, result.Proposal, result.State)
	}
	c.proposal = result.Proposal
	a.changes = append(a.changes, c)
	a.note(tool, c.path, c.what)
	return nil
}

// lookBack reads a changed file again: the agent sees its own work.
func (a *agent) lookBack(ctx context.Context) error {
	c := a.changes[0]
	s, _, err := a.read(ctx, c.path)
	if err != nil {
		return err
	}
	if text := strings.TrimRight(c.hunks[0].text, "\r\n"); !strings.Contains(s.text, text) {
		return fmt.Errorf("read_file of %s does not show the agent its own edit", c.path)
	}
	a.note("read_file", c.path, "sees its own edit")
	return nil
}
