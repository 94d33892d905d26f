package daemon

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/loomd/loomd/daemon/daemontest"
	"github.com/loomd/loomd/daemon/protocol"
)

const (
	theSecret  = `sk-live/Zq81+"vJ2"xN7`
	namedToken = "ghp_Kx52nQwLmB8"
)

// secretHost is a daemon that knows two secrets, with all that it logs.
type secretHost struct {
	*host
	log *lockedBuffer
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func newSecretHost(t *testing.T, files map[string]string) *secretHost {
	t.Helper()
	h := &secretHost{&host{t: t, top: t.TempDir(), state: t.TempDir()}, &lockedBuffer{}}
	h.root = filepath.Join(h.top, "ws")
	for name, text := range files {
		h.save(name, text)
	}
	t.Setenv("LIVE_KEY", theSecret)
	private := t.TempDir()
	token, configured := filepath.Join(private, "token"), filepath.Join(private, "config.toml")
	must(t, os.WriteFile(token, []byte(namedToken+"\n"), 0o600))
	must(t, os.WriteFile(configured, []byte(`
[secrets.LIVE_KEY]
provider = "env"
tools = ["needs_it"]
[secrets.TOKEN]
provider = "file"
file = `+jsonOf(token)+`
[secrets.GONE]
provider = "env"
env = "NO_SUCH_VARIABLE"
`), 0o600))
	h.serve(Options{UserConfig: configured, Logger: slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	return h
}

func jsonOf(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// forms are a secret as it may stand in a file or an answer.
func forms(value string) map[string]string {
	encoded := base64.StdEncoding.EncodeToString([]byte(value))
	inner := strings.Trim(jsonOf(value), `"`)
	return map[string]string{
		"plain": value, "base64": encoded, "base64 url": base64.URLEncoding.EncodeToString([]byte(value)),
		"URL": url.QueryEscape(value), "JSON": inner, "JSON in JSON": strings.Trim(jsonOf(inner), `"`),
	}
}

// wantNone fails when a text shows a secret.
func wantNone(t testing.TB, what, text string) {
	t.Helper()
	for _, value := range []string{theSecret, namedToken} {
		for form, shown := range forms(value) {
			if strings.HasPrefix(form, "base64") { // its last characters depend on what comes then
				shown = shown[:len(shown)-4]
			}
			if at := strings.Index(text, shown); at >= 0 {
				t.Errorf("%s shows a secret as %s: %.300q", what, form, text[max(0, at-80):])
			}
		}
	}
}

// Must show: a secret plain, split over the cut, in base64, URL and JSON form, in an
// error, in a file name, is found nowhere in results, log, journal, notifications.
func TestSecretsAreShownNowhere(t *testing.T) {
	var all strings.Builder
	for form, text := range forms(theSecret) {
		all.WriteString(form + ": <" + text + ">\n")
	}
	long := strings.Repeat("x", 990) + theSecret + strings.Repeat("y", 990)
	named := "dir/" + namedToken + ".txt"
	h := newSecretHost(t, map[string]string{
		".env": "KEY=" + theSecret + "\nother = 1\n", "all": all.String(), "long": long + "\nshort = 1\n", named: "one\n",
		"wrapped": base64.StdEncoding.EncodeToString([]byte("padding " + theSecret + " and more of the file, so that it is long")),
	})
	agent := h.agent("an agent with " + namedToken)
	reviewer := daemontest.Reviewer(t, h.dial())
	results := h.useTools(agent, named)
	for what, text := range results {
		wantNone(t, what, text)
	}
	for _, want := range []string{"read .env", "read all", "named"} {
		if !strings.Contains(results[want], "[redacted:") {
			t.Errorf("%s shows no mark: %s", want, results[want])
		}
	}
	// The reviewer is told without the name, asks by the id, and sees what is there.
	var told protocol.ProposalDidChangeParams
	for told.Proposal.Path != "dir/[redacted:TOKEN].txt" {
		params := reviewer.Next(protocol.MethodProposalsDidChange, nil)
		wantNone(t, "a notification", string(params))
		must(t, json.Unmarshal(params, &told))
	}
	reviewer.Ignore(protocol.MethodProposalsDidChange, protocol.MethodSessionsDidChange)
	var got protocol.ProposalsGetResult
	reviewer.Must(protocol.MethodProposalsGet, protocol.ProposalsGetParams{ID: told.Proposal.ID}, &got)
	if got.Proposal.Path != named {
		t.Errorf("the reviewer who asks is told of %s", got.Proposal.Path)
	}
	h.decideAll(reviewer, agent)
	wantNone(t, "the log", h.log.String())
	if !strings.Contains(h.log.String(), "secret GONE: the daemon was started without the variable NO_SUCH_VARIABLE") {
		t.Error("the log says nothing of the secret that could not be loaded")
	}
	h.wantStateClean()
}

// useTools calls tools in ways that come across secrets, and returns what each
// answered, as it came over the wire.
func (h *secretHost) useTools(agent *daemontest.Peer, named string) map[string]string {
	results := map[string]string{}
	call := func(what, tool string, arguments any) {
		m := agent.Result(agent.Send(protocol.MethodToolsCall, daemontest.ToolCall(tool, arguments)))
		results[what] = string(m.Result)
		if m.Error != nil {
			results[what] = m.Error.Message + jsonOf(m.Error.Data)
		}
	}
	type object = map[string]any
	call("read .env", "read_file", object{"path": ".env"})
	call("read all", "read_file", object{"path": "all"})
	call("read wrapped", "read_file", object{"path": "wrapped"})
	for at := 985; at < 1020; at += 3 {
		call("read to the cut", "read_file", object{"path": "long", "max_bytes": at})
		call("read on from the cut", "read_file", object{"path": "long", "byte_offset": at, "max_bytes": 9})
	}
	call("grep", "grep", object{"pattern": "KEY|x", "hidden": true})
	call("grep counts", "grep", object{"pattern": "one", "mode": "count"})
	call("list", "list_files", object{"path": ".", "recursive": true})
	call("glob", "glob", object{"pattern": "dir/*"})
	call("an edit beside it", "edit_file", object{"path": ".env", "edits": []object{{"old_str": "other = 1", "new_str": "other = 2"}}})
	call("an edit that fails", "edit_file", object{"path": ".env", "edits": []object{{"old_str": "KEY=?\nother = 2\nz", "new_str": ""}}})
	call("named", "edit_file", object{"path": named, "edits": []object{{"old_str": "one", "new_str": "two"}}})
	call("no such file", "read_file", object{"path": named + "x"})
	call("below a file", "read_file", object{"path": named + "/x"})
	call("no such tool", "read_"+namedToken, object{})
	call("an unknown argument", "read_file", object{namedToken: 1})
	var list protocol.ProposalsListResult
	m := agent.Result(agent.Send(protocol.MethodProposalsList, object{}))
	results["the agent's proposals"] = string(m.Result)
	agent.Decode(m, &list)
	for _, p := range list.Proposals {
		results["proposal "+p.ID] = string(agent.Result(agent.Send(protocol.MethodProposalsGet, object{"id": p.ID})).Result)
	}
	if len(list.Proposals) != 2 {
		h.t.Errorf("there are %d proposals", len(list.Proposals))
	}
	return results
}

// decideAll accepts everything with a comment that quotes a secret, which the agent
// is told without it.
func (h *secretHost) decideAll(reviewer, agent *daemontest.Peer) {
	h.t.Helper()
	var list protocol.ProposalsListResult
	reviewer.Must(protocol.MethodProposalsList, map[string]any{}, &list)
	for _, p := range list.Proposals {
		reviewer.Must(protocol.MethodProposalsDecide, map[string]any{"id": p.ID, "version": p.Version, "decision": "accept", "comment": "fine, " + namedToken}, nil)
	}
	m := agent.Result(agent.Send(protocol.MethodToolsCall, daemontest.ToolCall("list_files", map[string]any{"path": "."})))
	wantNone(h.t, "what the agent is told of decisions", string(m.Result))
	if !strings.Contains(string(m.Result), "fine, [redacted:TOKEN]") {
		h.t.Errorf("the agent is told %s", m.Result)
	}
	data, err := os.ReadFile(filepath.Join(h.root, ".env"))
	if err != nil || string(data) != "KEY="+theSecret+"\nother = 2\n" {
		h.t.Errorf("the file is %q (%v)", data, err)
	}
}

// wantStateClean reads every file of the daemon's state.
func (h *secretHost) wantStateClean() {
	h.t.Helper()
	files := 0
	err := filepath.WalkDir(h.state, func(path string, d fs.DirEntry, err error) error {
		wantNone(h.t, "a name in the state directory", path)
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		wantNone(h.t, path, string(data))
		files++
		return err
	})
	if err != nil || files < 3 {
		h.t.Errorf("%d files of state were read (%v)", files, err)
	}
}

// No agent writes a secret, or a mark in its place, that was not there.
func TestSecretsAreNotProposed(t *testing.T) {
	h := newSecretHost(t, map[string]string{".env": "KEY=" + theSecret + "\nother = 1\n", "f": "one\n"})
	agent := h.agent("agent")
	for what, c := range map[string]struct {
		tool string
		args map[string]any
		code string
	}{
		"plain":     {"write_file", map[string]any{"path": "a", "content": "x" + theSecret}, "denied"},
		"base64":    {"write_file", map[string]any{"path": "a", "content": base64.StdEncoding.EncodeToString([]byte("is " + theSecret + " so"))}, "denied"},
		"a mark":    {"write_file", map[string]any{"path": ".env", "content": "KEY=[redacted:LIVE_KEY]\nother = 2\n"}, "denied"},
		"an edit":   {"edit_file", map[string]any{"path": "f", "edits": []map[string]any{{"old_str": "one", "new_str": namedToken}}}, "denied"},
		"a patch":   {"apply_patch", map[string]any{"patch": "--- f\n+++ f\n@@\n-one\n+" + namedToken + "\n"}, "denied"},
		"a name":    {"write_file", map[string]any{"path": namedToken, "content": "x"}, "denied"},
		"a move":    {"move_file", map[string]any{"path": "f", "to": "x" + namedToken}, "denied"},
		"a copy":    {"write_file", map[string]any{"path": ".env", "content": theSecret + theSecret}, "denied"},
		"no secret": {"write_file", map[string]any{"path": "b", "content": "[redacted:SOMETHING]"}, ""},
		"it stays":  {"edit_file", map[string]any{"path": ".env", "edits": []map[string]any{{"old_str": "other", "new_str": "another"}}}, ""},
	} {
		out := agent.Tool(c.tool, c.args)
		if got := out.Text("code"); got != c.code {
			t.Errorf("%s: %s", what, out.StructuredContent)
		}
		if c.code != "" && out.Text("hint") == "" {
			t.Errorf("%s: no hint in %s", what, out.StructuredContent)
		}
		wantNone(t, what, string(out.StructuredContent))
	}
	if out := agent.Tool("move_file", map[string]any{"path": ".env", "to": "env"}); out.IsError {
		t.Errorf("a file that holds a secret cannot be moved: %s", out.StructuredContent)
	}
	wantNone(t, "the log", h.log.String())
	h.wantStateClean()
}

// A secret that is configured while the daemon runs counts from the next call on.
func TestSecretsOfAChangedConfiguration(t *testing.T) {
	h := newHouse(t, map[string]string{"f": "now " + namedToken + "\n"})
	t.Setenv("LATE", namedToken)
	agent := h.connect(helloAgent, nil)
	if got, _ := agent.tool("read_file", `{"path":"f"}`); got["contents"] != "now "+namedToken+"\n" {
		t.Fatalf("before: %v", got)
	}
	file := filepath.Join(t.TempDir(), "late")
	if err := os.WriteFile(file, []byte(namedToken), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(h.config, []byte("[secrets.LATE]\nprovider = \"file\"\nfile = "+jsonOf(file)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _ := agent.tool("read_file", `{"path":"f"}`); got["contents"] != "now [redacted:LATE]\n" {
		t.Errorf("after: %v", got)
	}
	if _, err := h.server.secrets.Value(context.Background(), "LATE", "read_file"); err == nil {
		t.Error("a tool that the secret is not for has it")
	}
}
