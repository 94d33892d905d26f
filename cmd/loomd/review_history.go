package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/loomd/loomd/daemon/client"
	"github.com/loomd/loomd/daemon/protocol"
)

type historyCmd struct {
	target
	Path     string `arg:"" optional:"" help:"Only of this file."`
	Proposal string `placeholder:"ID" help:"Only of this proposal."`
	Session  string `placeholder:"LABEL" help:"Only this session's, by its label or id."`
	Since    string `placeholder:"TIME" help:"Only from then on: 2h, 7d, 2026-01-31, or a time as in RFC 3339."`
	Limit    int    `placeholder:"N" help:"Only the newest so many; 0 is all (default: 50; with --json: all)." default:"-1"`
	JSON     bool   `name:"json" help:"Print every entry as JSON, with hashes: the file's bytes before and after."`
}

func (historyCmd) Help() string {
	return `Lists what was decided, by whom or by which rule, the newest last. It holds no text of a file. The hashes of --json are SHA-256 of the file before and after the decision, so that it can be compared with a file or a commit.`
}

// defaultHistory is how many entries a table shows: what a person reads.
const defaultHistory = 50

// historyPage is how many entries are asked for at once, the most there are.
const historyPage = 1000

func (c *historyCmd) Run(e *env) error {
	params := protocol.HistoryParams{Session: c.Session, Proposal: c.Proposal}
	limit := c.Limit
	switch {
	case limit < -1:
		return usagef("--limit %d: must not be negative", limit)
	case limit == -1 && c.JSON:
		limit = 0
	case limit == -1:
		limit = defaultHistory
	}
	var err error
	if params.Since, err = sinceTime(c.Since, time.Now()); err != nil {
		return err
	}
	cl, err := c.review(e)
	if err != nil {
		return err
	}
	defer cl.Close()
	entries, more, err := c.entries(e, cl, params, limit)
	if err != nil {
		return err
	}
	if c.JSON {
		return e.json(protocol.HistoryResult{Entries: entries, Truncated: more})
	}
	if len(entries) == 0 {
		return e.printf("nothing was decided\n")
	}
	if more {
		e.note("older ones are left out: --limit 0 has them")
	}
	return e.history(entries)
}

// entries fetches up to limit entries, 0 for all, from the newest backwards. A
// path is tried as the finder reads it: as seen from here, then as it is.
func (c *historyCmd) entries(e *env, cl *client.Client, params protocol.HistoryParams, limit int) ([]protocol.HistoryEntry, bool, error) {
	paths := []string{""}
	if c.Path != "" {
		f, err := newFinder(e, cl, cl.Info().Roots, "")
		if err != nil {
			return nil, false, err
		}
		paths = f.wirePaths(c.Path)
	}
	for _, params.Path = range paths {
		entries, more, err := historyOf(e, cl, params, limit)
		if err != nil || len(entries) > 0 {
			return entries, more, err
		}
	}
	return []protocol.HistoryEntry{}, false, nil
}

func historyOf(e *env, cl *client.Client, params protocol.HistoryParams, limit int) ([]protocol.HistoryEntry, bool, error) {
	var pages [][]protocol.HistoryEntry
	for n := 0; ; {
		params.Limit = historyPage
		if limit > 0 {
			params.Limit = min(historyPage, limit-n)
		}
		res, err := cl.History(e.ctx, params)
		if err != nil {
			return nil, false, err
		}
		pages = append(pages, res.Entries)
		n += len(res.Entries)
		if !res.Truncated || len(res.Entries) == 0 || n == limit {
			slices.Reverse(pages)
			return slices.Concat(pages...), res.Truncated, nil
		}
		params.Before = res.Entries[0].Seq
	}
}

// sinceTime reads --since; "" is any time.
func sinceTime(text string, now time.Time) (string, error) {
	if text == "" {
		return "", nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return now.AddDate(0, 0, -int(n)).UTC().Format(time.RFC3339), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d).UTC().Format(time.RFC3339), nil
	}
	if day, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		return day.UTC().Format(time.RFC3339), nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at.UTC().Format(time.RFC3339), nil
	}
	return "", usagef("--since %s: no duration (90m, 2h, 7d), day (2026-01-31) or time (2026-01-31T12:00:00Z)", oneLine(text))
}

// history prints a table of what was decided. Comments come below their line.
func (e *env) history(entries []protocol.HistoryEntry) error {
	const pathColumn = 2
	rows := [][]string{{"TIME", "DECISION", "PATH", "HUNK", "LINES", "BY", "SESSION", "PROPOSAL"}}
	for _, h := range entries {
		path := pathName(h.Path)
		if h.From != "" {
			path = pathName(h.From) + " → " + path
		}
		hunk := h.Hunk
		if h.Kind != "text" {
			hunk += " (" + h.Kind + ")"
		}
		rows = append(rows, []string{
			localTime(h.Time), h.Decision, path, hunk, fmt.Sprintf("+%d −%d", h.Added, h.Removed), h.By, h.Label, h.Proposal,
		})
	}
	capColumn(rows, pathColumn, e.width())
	for i, line := range table(rows) {
		if i == 0 {
			line = e.paint.faint(line)
		}
		if err := e.printf("%s\n", line); err != nil {
			return err
		}
		if i > 0 && entries[i-1].Comment != "" {
			if err := e.printf("    %s\n", e.paint.faint(oneLine(entries[i-1].Comment))); err != nil {
				return err
			}
		}
	}
	return nil
}

// localTime is a time of the wire as people read it here.
func localTime(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return at.Local().Format("2006-01-02 15:04:05")
}
