package daemon

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/diffpreview"
)

// An editor's history says of each edit what it was.
func TestEditsAreCalledWhatTheyAre(t *testing.T) {
	h := newHouse(t, map[string]string{"f": "one\n", "g": "one\n", "r": "one\n"})
	agent := h.connect(helloAgent, nil)
	f, g, r := h.openBuffer("f", "one\n"), h.openBuffer("g", "one\n"), h.openBuffer("r", "one\n")
	for _, b := range []*buffer{f, g, r} {
		b.change("typed\none\n")
		b.editor.must(protocol.MethodProposalsList, nil, nil)
	}
	p := agent.write("f", "typed\ntwo\n")
	decide := protocol.DecideParams{ID: p.ID, Version: p.Version, Decision: protocol.Accept}
	f.editor.must(protocol.MethodProposalsDecide, decide, nil)
	f.editor.must(protocol.MethodProposalsUndo, protocol.UndoParams{ID: p.ID}, nil)
	agent.write("g", "typed\ntwo\n")
	g.refuse = "no edits today"
	if err := f.editor.call(protocol.MethodProposalsDecide, protocol.DecideParams{Session: p.Session, Decision: protocol.Accept}, nil); err == nil {
		t.Fatal("half a change set is accepted")
	}
	want := []string{editLabels[diffpreview.EditAccept], editLabels[diffpreview.EditUndo], editLabels[diffpreview.EditAccept], editLabels[diffpreview.EditTakeBack]}
	if !slices.Equal(f.labels, want) || f.text != "typed\none\n" {
		t.Errorf("labels %q, want %q; the buffer is %q", f.labels, want, f.text)
	}
	f.editor.must(protocol.MethodRulesAdd, protocol.RulesAddParams{Rule: protocol.Rule{Effect: "accept", Paths: []string{"r"}}}, nil)
	agent.write("r", "typed\ntwo\n")
	if !slices.Equal(r.labels, []string{editLabels[diffpreview.EditRule]}) {
		t.Errorf("a rule's edit is called %q", r.labels)
	}
}

// An editor that is late, or gone, is told of in words of people.
func TestALateEditor(t *testing.T) {
	h := newHouse(t, map[string]string{"f": "one\n"})
	b := &buffer{}
	asked, answer := make(chan struct{}, 2), make(chan struct{}) // the late call may be sent, or not
	b.editor = h.connect(helloEditor, map[string]func(json.RawMessage) (any, error){
		"workspace/applyEdit": func(json.RawMessage) (any, error) {
			asked <- struct{}{}
			<-answer
			return nil, nil
		},
	})
	defer close(answer)
	var c *client
	h.server.mu.Lock()
	for c = range h.server.clients {
	}
	h.server.mu.Unlock()
	path, _, err := h.server.ws.Resolve(filepath.Join(h.root, "f"))
	if err != nil {
		t.Fatal(err)
	}
	late, cancel := context.WithDeadline(context.Background(), time.Time{})
	defer cancel()
	said := make(chan string, 1)
	apply := func(ctx context.Context) {
		err := c.ApplyEdits(ctx, path, 1, "one\n", []diffpreview.DocumentEdit{{End: 3, Text: "two"}}, diffpreview.EditAccept)
		said <- err.Error()
	}
	apply(late)
	if got := <-said; got != "it did not answer in time; the edit may still arrive there" {
		t.Errorf("a late editor: %s", got)
	}
	go apply(context.Background())
	<-asked
	c.conn.Close()
	if got := <-said; got != "it has gone" {
		t.Errorf("an editor that has gone: %s", got)
	}
}
