package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/loomd/loomd/daemon/client"
	"github.com/loomd/loomd/daemon/config"
	"github.com/loomd/loomd/daemon/protocol"
)

type statusCmd struct {
	target
	JSON bool `name:"json" help:"Print it as JSON."`
}

func (statusCmd) Help() string {
	return `Starts nothing: when no daemon runs, it says so, and that is no failure.`
}

func (c *statusCmd) Run(e *env) error {
	cl, err := c.connect(e, protocol.RoleReviewer, nil, 0)
	if errors.Is(err, client.ErrNotRunning) {
		return c.none(e)
	}
	if err != nil {
		return err
	}
	defer cl.Close()
	st, err := cl.Status(e.ctx)
	if errors.Is(err, client.ErrClosed) && e.ctx.Err() == nil {
		return c.none(e) // it ended just now
	}
	if err != nil {
		return err
	}
	x, err := cl.IndexStatus(e.ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return e.json(struct {
			Running bool `json:"running"`
			protocol.StatusResult
			Index protocol.IndexStatusResult `json:"index"`
		}{true, st, x})
	}
	for _, line := range statusLines(st, x) {
		if err := e.printf("%s\n", line); err != nil {
			return err
		}
	}
	return nil
}

func (c *statusCmd) none(e *env) error {
	if c.JSON {
		return e.json(struct {
			Running bool `json:"running"`
		}{false})
	}
	return e.printf("no daemon is running\n")
}

func statusLines(st protocol.StatusResult, x protocol.IndexStatusResult) []string {
	rows := [][]string{
		{"daemon", fmt.Sprintf("pid %d, version %s, since %s", st.PID, st.Version, st.Started)},
	}
	for _, r := range st.Roots {
		rows = append(rows, []string{"root", r.Path})
	}
	rows = append(rows,
		[]string{"socket", st.Socket},
		[]string{"state", st.StateDir},
	)
	for _, cl := range st.Clients {
		rows = append(rows, []string{"client", string(cl.Role) + " " + cl.Name})
	}
	with := 0
	for _, s := range st.Sessions {
		if s.Proposals > 0 {
			with++
		}
	}
	count := strconv.Itoa(len(st.Sessions))
	if len(st.Sessions) > 0 {
		count += fmt.Sprintf(", %d with proposals", with)
	}
	rows = append(rows, []string{"sessions", count})
	for _, s := range st.Sessions {
		if s.Proposals == 0 {
			continue
		}
		text := fmt.Sprintf("%s: %s, %s", s.Label, plural(s.Proposals, "proposal"), s.ReviewMode)
		if !s.Open {
			text += ", closed"
		}
		rows = append(rows, []string{"session", text})
	}
	rows = append(rows, []string{"waiting", plural(st.Proposals, "proposal")})
	if st.Commands > 0 {
		rows = append(rows, []string{"waiting", commandsWait(st.Commands)})
	}
	rows = append(rows, []string{"index", indexLine(x)})
	for _, p := range x.Problems {
		rows = append(rows, []string{"problem", problemLine(p)})
	}
	for _, p := range st.Problems {
		rows = append(rows, []string{"problem", p})
	}
	return table(rows)
}

// indexLine tells what the index holds.
func indexLine(x protocol.IndexStatusResult) string {
	line := string(x.State)
	if x.Build != nil {
		if line += fmt.Sprintf(", %d files so far", x.Build.Done); x.Build.Total > 0 {
			line = fmt.Sprintf("%s, %d of %d files", x.State, x.Build.Done, x.Build.Total)
		}
		return line
	}
	line += fmt.Sprintf(", %s, %s of text, %s of memory", plural(x.Files, "file"), config.Size(x.Bytes), config.Size(x.Memory))
	if x.OnDemand > 0 {
		line += fmt.Sprintf(" (%s beyond the budget of %s)", plural(x.OnDemand, "file"), config.Size(x.Budget))
	}
	return line
}

// problemLine tells what hinders the index, since when, and what would help.
func problemLine(p protocol.IndexProblem) string {
	line := fmt.Sprintf("%s: %s, since %s", pathName(p.Path), p.Message, p.Since)
	if p.Hint != "" {
		line += " (" + p.Hint + ")"
	}
	return oneLine(line)
}
