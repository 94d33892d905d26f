//go:build unix

package tools

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/loomd/loomd/diffpreview"
)

// rare are codes, of all tools or of one, that no test here brings about.
var rare = map[string]string{
	"io":       "a disk that fails",
	"internal": "a defect",
	"no_space": "a full disk: the tests of diffpreview have one",
	"timeout":  "a search of a minute, a service that is slow: see TestServiceFailures",

	"write_file conflict": "a file that comes to where its old one is to go while the call looks",
	"edit_file conflict":  "likewise",
}

// pathless are the tools that take no path, and change nothing by themselves or have the changes of a command.
var pathless = []string{"bash", "job_output", "job_kill", "web_search", "oracle", "await_review"}

const oneEdit = `"edits":[{"old_str":"one","new_str":"two"}]`

// argsOf are arguments with which a tool works on a path.
func argsOf(tool, path string) string {
	more := map[string]string{
		"write_file": `,"content":"x"`, "edit_file": "," + oneEdit, "move_file": `,"to":"free"`, "glob": `,"pattern":"x"`, "grep": `,"pattern":"x"`,
	}
	if tool == "apply_patch" {
		text, err := json.Marshal(patchOf(path, "-one\n+two"))
		if err != nil {
			panic(err)
		}
		return `{"patch":` + string(text) + `}`
	}
	return `{"path":"` + path + `"` + more[tool] + `}`
}

// servicesFail fails the tools that ask a service with each code that they list
// beside the common ones.
func servicesFail(t *testing.T, b *bench, try func(tool, code, raw string)) {
	t.Helper()
	b.knowing("the-secret-value")
	try("web_search", "denied", `{"query":"what is the-secret-value"}`)
	try("oracle", "denied", `{"query":"x","system_prompt":"dGhlLXNlY3JldC12YWx1ZQ=="}`)
	b.secrets = nil
	try("web_search", "unavailable", `{"query":"x"}`)
	try("oracle", "unavailable", `{"query":"x"}`)
	b.services = servicesAt(serveText(t, "application/json", strings.Repeat(" ", maxServiceReply+1)))
	try("web_search", "too_large", `{"query":"x"}`)
	try("oracle", "too_large", `{"query":"x"}`)
}

// TestEveryListedFailureHappens: each tool fails with each code that it lists.
// That it fails with no other, every test of this package sees (bench.callIn).
func TestEveryListedFailureHappens(t *testing.T) {
	if !asNobody(t) {
		return
	}
	happened := map[string][]string{}
	b := failingBench(t)
	try := func(tool, code, raw string) {
		b.fails(code, tool, raw)
		happened[tool] = append(happened[tool], code)
	}
	for _, tool := range b.registry.List() {
		try(tool.Name, "invalid_arguments", `{"unknown":1}`)
		if slices.Contains(pathless, tool.Name) {
			continue
		}
		if !tool.Annotations.ReadOnly {
			for name, code := range map[string]string{
				".git/config": "protected_path", "dir": "is_directory", "pipe": "not_regular_file", "typed": "unsupported_encoding", "big": "too_large",
			} {
				try(tool.Name, code, argsOf(tool.Name, name))
			}
		}
		try(tool.Name, "path_outside_workspace", argsOf(tool.Name, "../x"))
		try(tool.Name, "permission_denied", argsOf(tool.Name, "locked/x"))
		if tool.Name != "write_file" {
			try(tool.Name, "file_not_found", argsOf(tool.Name, "absent"))
		}
	}
	b.fullOfJobs()
	for _, c := range []struct{ tool, code, args string }{
		{"bash", "path_outside_workspace", `{"command":"true","cwd":"../x"}`},
		{"bash", "permission_denied", `{"command":"true","cwd":"locked"}`},
		{"bash", "file_not_found", `{"command":"true","cwd":"absent"}`},
		{"bash", "not_regular_file", `{"command":"true","cwd":"f"}`},
		{"bash", "denied", `{"command":"forbidden"}`},
		{"bash", "too_many_jobs", `{"command":"true","background":true}`},
		{"job_output", "unknown_job", `{"job":"j99"}`},
		{"job_kill", "unknown_job", `{"job":"j99"}`},
		{"read_file", "is_directory", `{"path":"dir"}`},
		{"read_file", "not_regular_file", `{"path":"pipe"}`},
		{"read_file", "not_text", `{"path":"binary"}`},
		{"read_file", "too_large", `{"path":"wide.gif"}`},
		{"read_file", "unsupported_encoding", `{"path":"typed"}`},
		{"write_file", "not_text", `{"path":"binary","content":"x"}`},
		{"write_file", "no_change", `{"path":"f","content":"one\ntwo\ntwo\n"}`},
		{"edit_file", "not_text", `{"path":"binary",` + oneEdit + `}`},
		{"edit_file", "no_change", `{"path":"f","edits":[{"old_str":"one","new_str":"one"}]}`},
		{"edit_file", "no_match", `{"path":"f","edits":[{"old_str":"three","new_str":""}]}`},
		{"edit_file", "ambiguous_match", `{"path":"f","edits":[{"old_str":"two","new_str":""}]}`},
		{"edit_file", "stale", `{"path":"f",` + oneEdit + `,"expected_hash":"` + strings.Repeat("0", 64) + `"}`},
		{"apply_patch", "not_text", argsOf("apply_patch", "binary")},
		{"apply_patch", "no_change", `{"patch":"--- f\n+++ f\n@@\n one\n"}`},
		{"apply_patch", "no_match", `{"patch":"--- f\n+++ f\n@@\n-three\n"}`},
		{"apply_patch", "ambiguous_match", `{"patch":"--- f\n+++ f\n@@\n-two\n"}`},
		{"apply_patch", "conflict", `{"patch":"--- /dev/null\n+++ f\n@@\n+x\n"}`},
		{"write_file", "denied", `{"path":"f","content":"DENIED"}`},
		{"edit_file", "denied", `{"path":"f","edits":[{"old_str":"one","new_str":"DENIED"}]}`},
		{"apply_patch", "denied", `{"patch":"--- f\n+++ f\n@@\n-one\n+DENIED\n"}`},
		{"move_file", "denied", `{"path":"f","to":"DENIED"}`},
		{"move_file", "conflict", `{"path":"f","to":"seen"}`},
		{"list_files", "not_regular_file", `{"path":"f"}`},
		{"glob", "not_regular_file", `{"path":"pipe","pattern":"*"}`},
		{"grep", "not_regular_file", `{"path":"pipe","pattern":"x"}`},
		{"grep", "unsupported_pattern", `{"pattern":"(?=x)"}`},
		{"await_review", "unknown_proposal", `{"proposals":["p99"]}`},
	} {
		try(c.tool, c.code, c.args)
	}

	servicesFail(t, b, try)

	b.ok("read_file", args{"path": "seen"})
	place(t, b.dir, map[string]string{"seen": "changed"})
	try("write_file", "stale", `{"path":"seen","content":"x"}`)
	try("delete_file", "stale", `{"path":"seen"}`)
	try("apply_patch", "stale", `{"patch":"*** Begin Patch\n*** Delete File: seen\n*** End Patch"}`)

	must(t, os.Rename(b.dir, b.dir+"-elsewhere"))
	must(t, os.Mkdir(b.dir, 0o755))
	b.sandbox = nil
	try("bash", "unavailable", `{"command":"true"}`)
	for _, tool := range b.registry.List() {
		if !slices.Contains(pathless, tool.Name) {
			try(tool.Name, "unavailable", argsOf(tool.Name, "f"))
		}
	}
	for _, tool := range b.registry.List() {
		for _, f := range tool.Failures {
			if rare[f.Code]+rare[tool.Name+" "+f.Code] == "" && !slices.Contains(happened[tool.Name], f.Code) {
				t.Errorf("%s lists %s, and no call here fails with it", tool.Name, f.Code)
			}
		}
	}
}

// fullOfJobs gives b a sandbox in which no more jobs can run, and a command that is
// forbidden.
func (b *bench) fullOfJobs() {
	b.t.Helper()
	b.withSandbox()
	b.allow = func(_ context.Context, command string, _ []string) error {
		if command == "forbidden" {
			return failf(diffpreview.CodeDenied, "no")
		}
		return nil
	}
	for range maxJobs {
		b.background("exec sleep 1000")
	}
}

// failingBench has a file for every way to fail: f is as it should be.
func failingBench(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, map[string]string{
		"f": "one\ntwo\ntwo\n", "seen": "x", "dir/g": "x", "binary": "\x00\x01", "typed": "caf\xe9\n", "locked/x": "x", ".git/config": "x", "big": "",
		"wide.gif": "GIF89a\x50\xc3\x50\xc3\x00\x00\x00,\x00\x00\x00\x00\x50\xc3\x50\xc3\x00\x02\x00;",
	})
	must(t, os.Truncate(filepath.Join(b.dir, "big"), diffpreview.MaxEdit+1))
	must(t, syscall.Mkfifo(filepath.Join(b.dir, "pipe"), 0o644))
	locked := filepath.Join(b.dir, "locked")
	must(t, os.Chmod(locked, 0))
	t.Cleanup(func() {
		for _, at := range []string{b.dir, b.dir + "-elsewhere"} {
			os.Chmod(filepath.Join(at, "locked"), 0o755)
		}
		os.RemoveAll(b.dir + "-elsewhere")
	})
	b.open("typed", "café for 2 €\n")
	return b
}

// open has an editor hold a file with this unsaved text.
func (b *bench) open(name, text string) {
	b.t.Helper()
	p, err := b.view.Resolve(name)
	must(b.t, err)
	b.store.OpenDocument(&noEditor{}, p, 1, text)
}

// TestFailuresOf: a code without a meaning is no code, and none stands twice.
func TestFailuresOf(t *testing.T) {
	if _, err := failuresOf([]diffpreview.Code{"made_up"}); err == nil || !strings.Contains(err.Error(), "made_up") {
		t.Errorf("a code that nobody explains: %v", err)
	}
	got, err := failuresOf([]diffpreview.Code{CodeNoMatch, diffpreview.CodeIO, CodeNoMatch})
	must(t, err)
	var codes []string
	for _, f := range got {
		codes = append(codes, f.Code)
	}
	if strings.Join(codes, " ") != "invalid_arguments io internal no_match" {
		t.Errorf("%v", codes)
	}
	_, err = build(spec[deleteArgs, deleteResult]{name: "t", codes: []diffpreview.Code{"made_up"}, call: func(context.Context, *Context, deleteArgs) (deleteResult, error) {
		return deleteResult{}, nil
	}})
	if err == nil {
		t.Error("a tool has a code that nobody explains")
	}
}
