package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/loomd/loomd/daemon/client"
	loom "github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/daemon/rpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeDaemon answers as a daemon does, from a table.
type fakeDaemon struct {
	t       *testing.T
	answers map[string]func(c *rpc.Conn, params json.RawMessage) (any, error)

	mu    sync.Mutex // guards calls
	calls []string   // methods, in the order of arrival

	ended chan struct{} // closed when the connection over the pipe has ended
}

func newFake(t *testing.T) *fakeDaemon {
	return &fakeDaemon{t: t, answers: map[string]func(*rpc.Conn, json.RawMessage) (any, error){
		"initialize": func(*rpc.Conn, json.RawMessage) (any, error) {
			return map[string]any{"capabilities": map[string]any{"experimental": map[string]any{"loom": loom.LoomCapabilities{
				ProtocolVersion: loom.Version, DaemonVersion: "fake", Roots: []loom.Root{{Name: "w", Path: "/w"}},
			}}}}, nil
		},
		"shutdown": func(*rpc.Conn, json.RawMessage) (any, error) { return nil, nil },
	}}
}

// serve answers on rwc until it ends.
func (d *fakeDaemon) serve(rwc io.ReadWriteCloser) {
	conn := rpc.NewConn(rwc, rpc.Options{Name: "fake"})
	conn.Run(context.Background(), func(_ context.Context, c *rpc.Conn, req *rpc.Request) (any, error) {
		d.mu.Lock()
		d.calls = append(d.calls, req.Method)
		d.mu.Unlock()
		if answer := d.answers[req.Method]; answer != nil {
			return answer(c, req.Params)
		}
		if req.Method == "exit" {
			go c.Close()
		}
		if req.IsNotification() {
			return nil, nil
		}
		return nil, &rpc.Error{Code: rpc.CodeMethodNotFound, Message: "no method " + req.Method}
	})
}

// connect greets the fake over a pipe.
func (d *fakeDaemon) connect(didChange func(loom.Proposal)) (*client.Client, error) {
	near, far := net.Pipe()
	d.ended = make(chan struct{})
	go func() {
		defer close(d.ended)
		d.serve(far)
	}()
	d.t.Cleanup(func() {
		near.Close()
		<-d.ended
	})
	return client.New(context.Background(), near, client.Identity{Name: "test", Version: "1", Role: loom.RoleAgent, Session: &loom.SessionOptions{Label: "s"}}, didChange, nil)
}

func TestGreeting(t *testing.T) {
	d := newFake(t)
	hello := d.answers["initialize"]
	var params struct {
		ClientInfo            struct{ Name, Version string }
		ProcessID             int
		InitializationOptions struct{ Loom loom.LoomOptions }
	}
	d.answers["initialize"] = func(c *rpc.Conn, raw json.RawMessage) (any, error) {
		if err := json.Unmarshal(raw, &params); err != nil {
			return nil, err
		}
		return hello(c, raw)
	}
	c, err := d.connect(nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Info(); got.DaemonVersion != "fake" || len(got.Roots) != 1 {
		t.Errorf("Info = %+v", got)
	}
	opts := params.InitializationOptions.Loom
	if params.ClientInfo.Name != "test" || params.ProcessID == 0 || opts.Role != loom.RoleAgent || opts.Session.Label != "s" || opts.ProtocolVersion != loom.Version {
		t.Errorf("initialize was sent with %+v", params)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	<-d.ended
	if got := strings.Join(d.calls, " "); got != "initialize initialized shutdown exit" {
		t.Errorf("the daemon got %s", got)
	}
	if _, err := c.Status(context.Background()); !errors.Is(err, rpc.ErrClosed) {
		t.Errorf("a call on a closed client: %v", err)
	}
}

func TestGreetingFails(t *testing.T) {
	for name, answer := range map[string]func(*rpc.Conn, json.RawMessage) (any, error){
		"not a loomd": func(*rpc.Conn, json.RawMessage) (any, error) { return map[string]any{"capabilities": struct{}{}}, nil },
		"spoken here": func(*rpc.Conn, json.RawMessage) (any, error) {
			return nil, &rpc.Error{Code: rpc.CodeInvalidParams, Message: "not spoken here", Data: loom.ErrorData{Kind: "protocol_version", Supported: []int{7}}}
		},
		"closed": func(c *rpc.Conn, _ json.RawMessage) (any, error) { go c.Close(); return nil, errors.New("closing") },
	} {
		d := newFake(t)
		d.answers["initialize"] = answer
		c, err := d.connect(nil)
		if err == nil {
			c.Close()
			t.Errorf("%s: connected", name)
			continue
		}
		if name != "closed" && !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		var answered *client.Error
		if name == "spoken here" && (!errors.As(err, &answered) || !answered.IsUsage() || len(answered.Data.Supported) != 1) {
			t.Errorf("%s: %#v", name, err)
		}
	}
}

func TestErrorsCarryTheirData(t *testing.T) {
	d := newFake(t)
	d.answers[loom.MethodProposalsDecide] = func(*rpc.Conn, json.RawMessage) (any, error) {
		return nil, &rpc.Error{Code: rpc.CodeContentModified, Message: "changed", Data: loom.ErrorData{Kind: "changed_since", Hint: "look", Proposal: &loom.Proposal{ID: "p1"}}}
	}
	d.answers[loom.MethodStatus] = func(*rpc.Conn, json.RawMessage) (any, error) {
		return nil, &rpc.Error{Code: rpc.CodeInternal, Message: "odd", Data: "a string"}
	}
	c, err := d.connect(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Decide(context.Background(), loom.DecideParams{ID: "p1"})
	var answer *client.Error
	if !errors.As(err, &answer) || answer.Data.Proposal == nil || answer.Data.Proposal.ID != "p1" || answer.Data.Hint != "look" || answer.IsUsage() {
		t.Errorf("Decide: %#v", err)
	}
	if _, err = c.Status(context.Background()); !errors.As(err, &answer) || answer.Message != "odd" {
		t.Errorf("Status: %#v", err)
	}
	if _, err = c.Sessions(context.Background()); !errors.As(err, &answer) || !answer.IsUsage() {
		t.Errorf("Sessions, which this daemon lacks: %#v", err)
	}
}

func TestChangesArriveInOrder(t *testing.T) {
	const n = 100
	d := newFake(t)
	d.answers[loom.MethodStatus] = func(c *rpc.Conn, _ json.RawMessage) (any, error) {
		for i := range n {
			c.Notify(loom.MethodProposalsDidChange, loom.ProposalDidChangeParams{Proposal: loom.Proposal{ID: fmt.Sprint(i)}})
		}
		return loom.StatusResult{PID: 1}, nil
	}
	var got []string
	all := make(chan struct{})
	c, err := d.connect(func(p loom.Proposal) {
		if got = append(got, p.ID); len(got) == n {
			close(all)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if st, err := c.Status(context.Background()); err != nil || st.PID != 1 {
		t.Fatalf("Status = %+v, %v", st, err)
	}
	<-all
	for i, id := range got {
		if id != fmt.Sprint(i) {
			t.Fatalf("change %d is %s", i, id)
		}
	}
}
