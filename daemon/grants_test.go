package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/loomd/loomd/daemon/config"
	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/tools/grant"
)

func TestCommandRulesAreConfigured(t *testing.T) {
	rule := func(effect, name, command string) string {
		return fmt.Sprintf("[[permission.rule]]\nname = %q\neffect = %q\ncommand = [%s]\n", name, effect, command)
	}
	w := newWorkshop(t, rule("allow", "look", `"git", "log", "**"`)+rule("deny", "secret", `"git", "show", "*secret*"`)+gitGrant)
	agent := w.connect(helloAgent, nil)
	w.wantRan(agent, "log", "-5")
	w.wantAsked(agent, "show")
	if _, m := w.git(agent, "show", "HEAD:secret.txt"); m["state"] != "denied" || m["rule"] != "secret" || m["permission"] != nil {
		t.Errorf("%v", m)
	}
	// The policy is asked first, whatever the rules allow.
	if _, m := w.git(agent, "log", "--output=x"); m["argument"] != 1.0 {
		t.Errorf("%v", m)
	}
	// A workspace's file tightens.
	w.save(".loom/config.toml", rule("deny", "theirs", `"git", "log", "-5"`)+rule("allow", "mine", `"git", "show"`)+"[grants.evil]\npath = \"/bin/sh\"\ndescription = \"d\"\nrefuse = [\"-x\"]\n")
	if _, m := w.git(agent, "log", "-5"); m["rule"] != "theirs" {
		t.Errorf("%v", m)
	}
	w.wantRan(agent, "log", "-6")
	w.wantAsked(agent, "show")
	var list protocol.ToolsListResult
	agent.must(protocol.MethodToolsList, protocol.Empty{}, &list)
	if slices.ContainsFunc(list.Tools, func(tool protocol.Tool) bool { return tool.Name == "command_evil" }) {
		t.Error("a workspace grants a program")
	}
}

func TestGrantsAreConfigured(t *testing.T) {
	w := newWorkshop(t, "")
	agent, alice := w.connect(helloAgent, nil), w.connect(helloReviewer, nil)
	granted := func() string {
		var list protocol.ToolsListResult
		agent.must(protocol.MethodToolsList, protocol.Empty{}, &list)
		var names []string
		for _, tool := range list.Tools {
			if name, ok := strings.CutPrefix(tool.Name, "command_"); ok {
				names = append(names, name)
			}
		}
		return strings.Join(names, " ")
	}
	if got := granted(); got != "" {
		t.Errorf("granted without a word: %s", got)
	}
	w.save("bin/tool", "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(w.root, "bin/tool"), 0o755); err != nil {
		t.Fatal(err)
	}
	own := func(name, path string) string {
		return fmt.Sprintf("[grants.%s]\npath = %q\ndescription = \"d\"\nrefuse = [\"--output\"]\nhost = true\n", name, path)
	}
	w.configure("[permission]\nwait_secs = 0\n" + own("sh", "/bin/sh") + own("missing", "/nowhere/x") + own("here", filepath.Join(w.root, "bin/tool")))
	if got := granted(); got != "sh" {
		t.Errorf("granted: %s", got)
	}
	var status protocol.StatusResult
	alice.must(protocol.MethodStatus, protocol.Empty{}, &status)
	if len(status.Problems) != 2 || !strings.Contains(status.Problems[0], "lies in the workspace") || !strings.Contains(status.Problems[1], "is not there") {
		t.Errorf("problems %q", status.Problems)
	}
	for args, code := range map[string]string{`{"args":["-c","x"]}`: "asked", `{"args":["--outp=x"]}`: ""} {
		if m, _ := agent.tool("command_sh", args); m["code"] != "denied" || code != "" && m["state"] != code {
			t.Errorf("%s: %v", args, m)
		}
	}
	w.configure("")
	if got := granted(); got != "" {
		t.Errorf("granted still: %s", got)
	}
}

func TestPresetsOfConfigurationAreThoseOfGrants(t *testing.T) {
	if !slices.Equal(config.Presets, grant.Presets()) {
		t.Errorf("%q and %q", config.Presets, grant.Presets())
	}
	for _, class := range config.OperandClasses {
		if class != "none" && !slices.Contains(grant.Classes(), class) {
			t.Errorf("there is no class %s", class)
		}
	}
}
