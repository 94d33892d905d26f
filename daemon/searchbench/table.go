package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// peerNames are in the order of the table's columns.
var peerNames = []string{"rg", "git", "fd", "csearch", "fff"}

// report is the text of one corpus: a table and what limits it.
func report(c corpus, all []outcome, bytesPerSecond float64, roundTrip time.Duration) string {
	var b strings.Builder
	scan := time.Duration(float64(c.bytes) / bytesPerSecond * float64(time.Second))
	fmt.Fprintf(&b, "### %s: %d files, %.0f MB\n\n", c.name, c.files, float64(c.bytes)/1e6)
	fmt.Fprintf(&b, "Memory is read at %.1f GB/s by all processors together in this run, so looking at every byte takes at least %s. A request that asks for nothing takes %s over the socket.\n\n",
		bytesPerSecond/1e9, shown(scan), shown(roundTrip))
	b.WriteString("| work | pattern | rows | loomd | MB/s of answer | rg | git | fd | csearch | fff | goal |\n")
	b.WriteString("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---|\n")
	for _, held := range []bool{false, true} {
		for _, o := range all {
			if o.heldOut == held {
				b.WriteString(o.line(c.bytes))
			}
		}
	}
	b.WriteString("\n")
	return b.String()
}

func (o outcome) line(textBytes int64) string {
	what := o.name
	if o.heldOut {
		what = "*" + what + "*"
	}
	if o.fold {
		what += ", `-i`"
	}
	cells := []string{
		what, "`" + strings.ReplaceAll(o.pattern, "|", `\|`) + "`", fmt.Sprint(o.rows), shown(o.ours),
		fmt.Sprintf("%.0f", float64(o.bytes)/1e6/o.ours.Seconds()),
	}
	for _, p := range peerNames {
		cell := ""
		if r, ok := o.ratios[p]; ok {
			cell = fmt.Sprintf("%s, %s×", shown(o.peers[p]), rounded(r))
		}
		cells = append(cells, cell)
	}
	return "| " + strings.Join(append(cells, o.verdict(textBytes)), " | ") + " |\n"
}

func (o outcome) verdict(textBytes int64) string {
	verdict := "met"
	if missed := o.met(textBytes); missed != "" {
		verdict = "**missed**:" + missed
	}
	if o.wrong > 0 {
		verdict += fmt.Sprintf("; **%d rows differ from rg**", o.wrong)
	}
	if !o.inOrder {
		verdict += "; **not in order**"
	}
	return verdict
}

// rounded has two or three digits that mean something.
func rounded(r float64) string {
	if r < 10 {
		return fmt.Sprintf("%.1f", r)
	}
	return fmt.Sprintf("%.0f", r)
}

func shown(d time.Duration) string {
	switch ms := float64(d) / float64(time.Millisecond); {
	case ms < 10:
		return fmt.Sprintf("%.2f ms", ms)
	case ms < 1000:
		return fmt.Sprintf("%.0f ms", ms)
	default:
		return fmt.Sprintf("%.1f s", ms/1000)
	}
}

// The tables stand between these lines of the document.
const (
	tablesBegin = "<!-- tables: make bench-search writes them -->"
	tablesEnd   = "<!-- end of tables -->"
)

// write puts the tables into the document.
func write(document, tables string) error {
	data, err := os.ReadFile(document)
	if err != nil {
		return fmt.Errorf("reading the document: %w", err)
	}
	before, rest, ok := strings.Cut(string(data), tablesBegin)
	_, after, ended := strings.Cut(rest, tablesEnd)
	if !ok || !ended {
		return fmt.Errorf("%s has no place for tables", document)
	}
	text := before + tablesBegin + "\n\n" + tables + tablesEnd + after
	return os.WriteFile(document, []byte(text), 0o644)
}
