package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/daemon/rpc"
)

// loadClient is one connection under load.
type loadClient struct {
	load *load
	name string
	conn *rpc.Conn
	rnd  *rand.Rand
}

func (c *loadClient) call(method string, params, result any) error {
	ctx, cancel := context.WithTimeout(context.Background(), loadPatience)
	defer cancel()
	if err := c.conn.Call(ctx, method, params, result); err != nil {
		return fmt.Errorf("%s: %s: %w", c.name, method, err)
	}
	return nil
}

// loadAgent edits, reads, writes and remembers what it is told. It has one call
// under way at a time.
type loadAgent struct {
	loadClient
	session string
	files   []string // that it edits
	made    []string // that it proposed to create
	tokens  int
	told    []protocol.Review
}

// maxBacklog is how many hunks an agent leaves undecided before it only reads.
const maxBacklog = 12

func (a *loadAgent) work(ctx context.Context) error {
	for n := 0; ctx.Err() == nil; n++ {
		var list protocol.ProposalsListResult
		if err := a.call(protocol.MethodProposalsList, protocol.ProposalsListParams{}, &list); err != nil {
			return err
		}
		backlog := 0
		for i := range list.Proposals {
			backlog += list.Proposals[i].HunkCount
		}
		act := a.read
		switch roll := a.rnd.IntN(10); {
		case backlog >= maxBacklog:
		case roll < 6:
			act = a.edit
		case roll < 8:
			act = a.write
		case roll < 9:
			act = a.create
		}
		if err := act(); err != nil {
			return err
		}
	}
	return nil
}

// tool calls a tool and collects the reviews. Failures with these codes are the
// answer of a file that changed; any other is an error.
func (a *loadAgent) tool(name string, args any, fine ...string) (fields map[string]any, ok bool, err error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, false, err
	}
	var result protocol.ToolsCallResult
	if err := a.call(protocol.MethodToolsCall, protocol.ToolsCallParams{Name: name, Arguments: raw}, &result); err != nil {
		return nil, false, err
	}
	a.told = append(a.told, result.Reviews...)
	if err := json.Unmarshal(result.StructuredContent, &fields); err != nil {
		return nil, false, err
	}
	if result.IsError {
		code, _ := fields["code"].(string)
		if !slices.Contains(fine, code) {
			return nil, false, fmt.Errorf("%s: %s of %.300s: %.2000s", a.name, name, raw, result.StructuredContent)
		}
		a.load.count(name + " " + code)
		return nil, false, nil
	}
	a.load.count(name)
	return fields, true, nil
}

func (a *loadAgent) token(path string, slot int) string {
	a.tokens++
	return tokenLine(a.name, path, slot, a.tokens)
}

// proposed notes the step that an answer speaks of.
func (a *loadAgent) proposed(path string, fields map[string]any, tokens []string) {
	id, _ := fields["proposal"].(string)
	version, _ := fields["version"].(float64)
	a.load.ledger.add(change{proposal: id, session: a.session, path: path, version: int(version), by: a.name, step: tokens})
}

// pick is a file to work on, and the code with which it may be missing: a new
// file can be refused.
func (a *loadAgent) pick() (path string, fine []string) {
	n := a.rnd.IntN(len(a.files) + min(len(a.made), 2))
	if n < len(a.files) {
		return a.files[n], nil
	}
	return a.made[len(a.made)-1-(n-len(a.files))], []string{"file_not_found"}
}

// edit puts a token into one to three slots.
func (a *loadAgent) edit() error {
	path, fine := a.pick()
	var edits []args
	var tokens []string
	for _, slot := range a.rnd.Perm(loadSlots)[:1+a.rnd.IntN(3)] {
		token := a.token(path, slot)
		tokens = append(tokens, token)
		edits = append(edits, args{"old_str": slotLine(slot), "new_str": slotLine(slot) + token})
	}
	fields, ok, err := a.tool("edit_file", args{"path": path, "edits": edits}, fine...)
	if ok {
		a.proposed(path, fields, tokens)
	}
	return err
}

// view reads a file in the agent's view, which has every token once and in its
// place.
func (a *loadAgent) view(path string, fine ...string) (text string, ok bool, err error) {
	fields, ok, err := a.tool("read_file", args{"path": path}, fine...)
	if !ok {
		return "", false, err
	}
	text, _ = fields["contents"].(string)
	if _, err = tokensOf(path, text); err != nil {
		return "", false, fmt.Errorf("in the view of %s: %w", a.name, err)
	}
	return text, true, nil
}

func (a *loadAgent) read() error {
	path, fine := a.pick()
	_, _, err := a.view(path, fine...)
	return err
}

// write reads a file of its own and writes it whole. A decision in between makes
// that stale.
func (a *loadAgent) write() error {
	path := a.files[a.rnd.IntN(ownFiles)]
	text, ok, err := a.view(path)
	if !ok {
		return err
	}
	slot := a.rnd.IntN(loadSlots)
	token := a.token(path, slot)
	text = strings.Replace(text, slotLine(slot), slotLine(slot)+token, 1)
	fields, ok, err := a.tool("write_file", args{"path": path, "content": text}, "stale")
	if ok {
		a.proposed(path, fields, []string{token})
	}
	return err
}

func (a *loadAgent) create() error {
	path := fmt.Sprintf("%s/new/%d", a.name, a.tokens)
	slot := a.rnd.IntN(loadSlots)
	token := a.token(path, slot)
	text := strings.Replace(loadText(), slotLine(slot), slotLine(slot)+token, 1)
	fields, ok, err := a.tool("write_file", args{"path": path, "content": text})
	if ok {
		a.made = append(a.made, path)
		a.proposed(path, fields, []string{token})
	}
	return err
}

// refusal is the kind of an error answer, "" when err is none.
func refusal(err error) (kind string, data protocol.ErrorData) {
	var wire *rpc.Error
	if !errors.As(err, &wire) {
		return "", data
	}
	raw, _ := wire.Data.(json.RawMessage)
	if json.Unmarshal(raw, &data) != nil {
		return "", data
	}
	return data.Kind, data
}
