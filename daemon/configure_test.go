package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/loomd/loomd/daemon/protocol"
)

// configure writes the user's configuration.
func (h *house) configure(text string) {
	h.t.Helper()
	if err := os.WriteFile(h.config, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func helloIn(mode string) string {
	return fmt.Sprintf(`{"capabilities":{},"initializationOptions":{"loom":{"role":"agent","session":{"reviewMode":%q}}}}`, mode)
}

// A session gets what it asked for, or what is configured when that is
// stricter.
func TestReviewModeAskedAndGot(t *testing.T) {
	h := newHouse(t, nil)
	for _, c := range []struct{ user, workspace, asked, got string }{
		{"", "", "", "staged"},
		{"", "", "auto", "staged"},
		{"", "", "blocking", "blocking"},
		{"auto", "", "", "auto"},
		{"auto", "", "staged", "staged"},
		{"auto", "staged", "auto", "staged"},
		{"auto", "blocking", "auto", "blocking"},
		{"blocking", "auto", "auto", "blocking"},
		{"nonsense", "", "auto", "staged"},
	} {
		h.configure("[review]\n" + mode(c.user))
		h.save(".loom/config.toml", "[review]\n"+mode(c.workspace))
		agent := h.connect(helloIn(c.asked), nil)
		var list protocol.SessionsListResult
		agent.must(protocol.MethodSessionsList, protocol.Empty{}, &list)
		if got := list.Sessions[len(list.Sessions)-1].ReviewMode; got != c.got {
			t.Errorf("user %q, workspace %q, asked %q: got %q, want %q", c.user, c.workspace, c.asked, got, c.got)
		}
	}
}

func mode(name string) string {
	if name == "" {
		return ""
	}
	return "mode = \"" + name + "\"\n"
}

const docsRule = "[[review.rule]]\nname = \"docs\"\neffect = \"accept\"\npaths = [\"*.md\"]\n"

// What is configured counts from the next call on.
func TestConfigurationIsTakenUp(t *testing.T) {
	h := newHouse(t, map[string]string{"a.md": "a\n", "b.md": "a\n", "c.md": "a\n", "AGENTS.md": "a\n"})
	agent, alice := h.connect(helloAgent, nil), h.connect(helloReviewer, nil)
	agent.write("a.md", "1\n")
	h.wantDisk("a.md", "a\n")
	h.configure(docsRule)
	p := agent.write("a.md", "2\n")
	h.wantDisk("a.md", "2\n")
	if p.State != protocol.ProposalApplied {
		t.Errorf("state %s", p.State)
	}
	_, result := agent.tool("read_file", `{"path":"a.md"}`)
	if r := result.Reviews; len(r) > 0 {
		t.Errorf("told again: %+v", r)
	}
	agent.write("AGENTS.md", "2\n")
	h.wantDisk("AGENTS.md", "a\n")
	h.save(".loom/config.toml", "[[review.rule]]\nname = \"theirs\"\neffect = \"hold\"\npaths = [\"b.md\"]\n")
	agent.write("b.md", "2\n")
	h.wantDisk("b.md", "a\n")
	h.configure(docsRule + "mod = 1\n")
	agent.write("c.md", "2\n")
	h.wantDisk("c.md", "a\n")

	var rules protocol.RulesListResult
	alice.must(protocol.MethodRulesList, protocol.Empty{}, &rules)
	var names []string
	for _, r := range rules.Rules {
		if r.Source != "built-in" {
			names = append(names, r.Effect+" "+r.Name+" "+filepath.Base(r.Root))
		}
	}
	base := filepath.Base(h.root)
	if want := []string{"hold built-in: a configuration with problems .", "hold theirs " + base}; !slices.Equal(names, want) {
		t.Errorf("rules %q, want %q", names, want)
	}
	var status protocol.StatusResult
	alice.must(protocol.MethodStatus, protocol.Empty{}, &status)
	if len(status.Problems) != 1 || !strings.Contains(status.Problems[0], "config.toml:5: review.rule[0].mod: ") {
		t.Errorf("problems %q", status.Problems)
	}
}

// A session that began as auto is no laxer than what is configured now.
func TestAutoIsTakenAway(t *testing.T) {
	h := newHouse(t, map[string]string{"f": "a\n"})
	h.configure("[review]\nmode = \"auto\"\n")
	agent, alice := h.connect(helloAgent, nil), h.connect(helloReviewer, nil)
	agent.write("f", "b\n")
	h.wantDisk("f", "b\n")
	h.configure("[review]\nmode = \"staged\"\n")
	agent.write("f", "c\n")
	h.wantDisk("f", "b\n")
	var list protocol.SessionsListResult
	alice.must(protocol.MethodSessionsList, protocol.Empty{}, &list)
	if got := list.Sessions[0].ReviewMode; got != "staged" {
		t.Errorf("the session's mode is told as %s", got)
	}
	h.configure("[review]\nmode = \"auto\"\n")
	agent.write("f", "d\n")
	h.wantDisk("f", "d\n")
}

func TestRulesAddRefuses(t *testing.T) {
	h := newHouse(t, nil)
	alice := h.connect(helloReviewer, nil)
	for _, r := range []protocol.Rule{
		{Effect: "accept", Root: "/elsewhere"},
		{Effect: "accept", Name: "built-in: a"},
		{Effect: "hold", MaxLines: 3},
		{Effect: "hold", Paths: []string{"../a"}},
		{Effect: "acept"},
	} {
		if err := alice.call(protocol.MethodRulesAdd, protocol.RulesAddParams{Rule: r}, nil); err == nil {
			t.Errorf("%+v is taken", r)
		}
	}
	var added protocol.RulesAddResult
	root := h.server.ws.Roots()[0].Path
	alice.must(protocol.MethodRulesAdd, protocol.RulesAddParams{Rule: protocol.Rule{Effect: "accept", Root: root}}, &added)
	if added.Rule.Root != root {
		t.Errorf("added %+v", added.Rule)
	}
}
