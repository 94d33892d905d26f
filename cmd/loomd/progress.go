package main

import (
	"fmt"
	"strings"
	"sync"

	"github.com/loomd/loomd/daemon/client"
)

// progressBar shows on stderr what a call waits for: what can be counted as a
// bar that is redrawn, on a terminal only, and everything else as a line.
type progressBar struct {
	e *env

	mu    sync.Mutex // guards the fields below
	drawn bool       // the bar is on the terminal's last line
	ended bool       // there is an answer: what is told late is not shown
}

// barWidth is the width of a bar in columns.
const barWidth = 24

func (b *progressBar) show(p client.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.ended:
	case p.Percentage == nil:
		b.erase()
		b.e.note("waiting: %s", oneLine(p.Message))
	case b.e.errWidth > 0:
		b.drawn = true
		fmt.Fprintf(b.e.stderr, "\r%s\x1b[K", barLine(p, b.e.errWidth))
	}
}

// barLine is a bar with what it tells, cut to a width in columns.
func barLine(p client.Progress, width int) string {
	percent := max(0, min(100, *p.Percentage))
	full := barWidth * percent / 100
	bar := strings.Repeat("█", full) + strings.Repeat("░", barWidth-full)
	return shortenEnd(fmt.Sprintf("%s %2d%% %s", bar, percent, oneLine(p.Message)), width-1)
}

// clear takes the bar off the terminal for good.
func (b *progressBar) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	b.erase()
}

func (b *progressBar) erase() {
	if b.drawn {
		b.drawn = false
		fmt.Fprint(b.e.stderr, "\r\x1b[K")
	}
}
