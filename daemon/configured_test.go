package daemon

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools"
)

const countTool = `
[[tool]]
name = "count_{what}"
description = "Counts {what}."
command = ["wc", "{flag}", "--", "{path}"]
timeout_secs = 5
parameters = {properties = {path = {type = "string", minLength = 1}}, required = ["path"]}
with = [{what = "lines", flag = "-l"}, {what = "words", flag = "-w"}]

[toolsets.counts]
tools = ["read_file", "count_words"]
`

// A tool of the configuration is one like any other: listed, in toolsets, its
// arguments checked; what runs is the list of its words.
func TestConfiguredToolIsCalled(t *testing.T) {
	h := newHouse(t, nil)
	agent := h.connect(helloAgent, nil)
	h.configure(countTool)
	var list protocol.ToolsListResult
	agent.must(protocol.MethodToolsList, protocol.Empty{}, &list)
	if names := namesIn(list); !slices.Equal(names[len(names)-2:], []string{"count_lines", "count_words"}) {
		t.Errorf("%v", names)
	}
	h.server.sandboxOf = func(diffpreview.Session) tools.Sandbox { return nil }
	if out, _ := agent.tool("count_lines", `{"path":"f"}`); out["code"] != "unavailable" {
		t.Errorf("without a place to run: %v", out)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "$(f) *"), []byte("one two\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	h.server.sandboxOf = func(diffpreview.Session) tools.Sandbox { return folder{dir} }
	if out, _ := agent.tool("count_words", `{"path":"$(f) *"}`); out["stdout"] != "2 $(f) *\n" || out["exit_code"] != 0.0 {
		t.Errorf("answered %v", out)
	}
	if out, _ := agent.tool("count_words", `{"path":"none"}`); out["exit_code"] != 1.0 || out["stderr"] == "" {
		t.Errorf("answered %v", out)
	}
	for args, code := range map[string]string{`{"path":""}`: "invalid_arguments", `{"path":"a","x":1}`: "invalid_arguments", `{"path":"a\u0000"}`: "invalid_arguments"} {
		if out, _ := agent.tool("count_words", args); out["code"] != code {
			t.Errorf("%s: %v, want %s", args, out, code)
		}
	}
	counts := h.connect(`{"capabilities":{},"initializationOptions":{"loom":{"role":"agent","session":{"label":"c","toolset":"counts"}}}}`, nil)
	counts.must(protocol.MethodToolsList, protocol.Empty{}, &list)
	if got := namesIn(list); !slices.Equal(got, []string{"read_file", "count_words"}) {
		t.Errorf("the toolset has %v", got)
	}
	// A lent tool of a name that is configured later gives way.
	agent.must(protocol.MethodToolsRegister, lending("", "late"), nil)
	h.configure("[[tool]]\nname = \"late\"\ndescription = \"configured\"\ncommand = [\"true\"]\n")
	agent.must(protocol.MethodToolsList, protocol.Empty{}, &list)
	i := slices.IndexFunc(list.Tools, func(t protocol.Tool) bool { return t.Name == "late" })
	if i != len(list.Tools)-1 || list.Tools[i].Description != "configured" {
		t.Errorf("%+v", list.Tools[i:])
	}
	err := counts.call(protocol.MethodToolsCall, protocol.ToolsCallParams{Name: "read_file", Arguments: json.RawMessage(`{}`)}, nil)
	if err == nil {
		t.Error("a toolset that is gone lets calls through")
	}
}
