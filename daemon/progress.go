package daemon

import (
	"encoding/json"
	"sync"

	"github.com/loomd/loomd/daemon/rpc"
	"github.com/loomd/loomd/tools"
)

// progress tells a client by LSP's work done progress what a call waits for.
// Without a token it tells nothing.
type progress struct {
	conn  *rpc.Conn
	token json.RawMessage
	title string
	clean func(any) any // takes secrets out of what is sent

	mu    sync.Mutex // guards begun
	begun bool
}

type progressParams struct {
	Token json.RawMessage `json:"token"`
	Value progressValue   `json:"value"`
}

type progressValue struct {
	Kind       string `json:"kind"` // begin, report or end
	Title      string `json:"title,omitempty"`
	Message    string `json:"message,omitempty"`
	Percentage *int   `json:"percentage,omitempty"`
}

func (p *progress) report(told tools.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	value := progressValue{Kind: "report", Message: told.Message}
	if told.Total > 0 {
		percent := min(99, 100*told.Done/told.Total)
		value.Percentage = &percent
	}
	if !p.begun {
		value.Kind, value.Title = "begin", p.title
	}
	p.begun = true
	p.send(value)
}

// end closes what report began.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.begun {
		p.send(progressValue{Kind: "end"})
	}
}

func (p *progress) send(value progressValue) {
	if len(p.token) > 0 {
		// A client that is gone or does not read is the connection's affair.
		_ = p.conn.Notify("$/progress", p.clean(progressParams{Token: p.token, Value: value}))
	}
}
