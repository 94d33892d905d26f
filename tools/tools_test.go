package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	"go.uber.org/goleak"

	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools/process"
	"github.com/loomd/loomd/tools/secret"
)

func TestMain(m *testing.M) {
	process.Supervise()
	// No configuration of whoever runs the tests decides what is ignored.
	os.Setenv("HOME", os.DevNull)
	os.Setenv("XDG_CONFIG_HOME", os.DevNull)
	os.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	goleak.VerifyTestMain(rested{m})
}

// rested are tests whose supervisors have ended when they are over.
type rested struct{ *testing.M }

func (r rested) Run() int {
	defer process.Rest()
	return r.M.Run()
}

// bench is a workspace with one session and the tools over it.
type bench struct {
	t        testing.TB
	dir      string
	store    *diffpreview.Store
	registry *Registry
	view     *diffpreview.View
	index    []Searcher // see withIndex
	sandbox  Sandbox    // see withSandbox
	jobs     *Jobs
	allow    func(ctx context.Context, command string, argv []string) error
	services Services
	secrets  *secret.Set
}

// noDenied lets no agent write the word DENIED.
func noDenied(_, after []byte) error {
	if bytes.Contains(after, []byte("DENIED")) {
		return &diffpreview.Error{Code: diffpreview.CodeDenied, Message: "DENIED is not written", Hint: "leave it out"}
	}
	return nil
}

// newBench makes a workspace of files: a name that ends in "/" is a directory,
// else the value is the content.
func newBench(t testing.TB, files map[string]string) *bench {
	t.Helper()
	dir := t.TempDir()
	place(t, dir, files)
	return openBench(t, dir)
}

func place(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if name[len(name)-1] == '/' {
			must(t, os.MkdirAll(full, 0o755))
			continue
		}
		must(t, os.MkdirAll(filepath.Dir(full), 0o755))
		must(t, os.WriteFile(full, []byte(content), 0o644))
	}
}

func openBench(t testing.TB, roots ...string) *bench {
	t.Helper()
	ws, err := diffpreview.OpenWorkspace(roots)
	must(t, err)
	t.Cleanup(func() { ws.Close() })
	store, err := diffpreview.Open(ws, diffpreview.Options{Dir: t.TempDir(), Check: noDenied})
	must(t, err)
	t.Cleanup(func() { store.Close() })
	registry, err := Builtin()
	must(t, err)
	b := &bench{t: t, dir: roots[0], store: store, registry: registry}
	b.view = b.session("agent")
	return b
}

func (b *bench) session(label string) *diffpreview.View {
	b.t.Helper()
	s, err := b.store.JoinSession(diffpreview.Session{Label: label})
	must(b.t, err)
	return b.store.View(s.ID)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// answer is an outcome, decoded.
type answer map[string]any

// call runs a tool and checks what is true of every outcome: the structured
// result is what its schema says, the text repeats it, all of it is UTF-8.
func (b *bench) call(name string, args any) (Outcome, answer) {
	b.t.Helper()
	return b.callIn(b.view, name, args)
}

func (b *bench) callIn(view *diffpreview.View, name string, args any) (Outcome, answer) {
	b.t.Helper()
	raw, ok := args.(string)
	if !ok {
		text, err := encode(args)
		must(b.t, err)
		raw = string(text)
	}
	tc := Context{View: view, Logger: slog.New(slog.DiscardHandler), Index: b.index, Sandbox: b.sandbox, Jobs: b.jobs, Allow: b.allow, Services: b.services, Secrets: b.secrets}
	out, err := b.registry.Run(context.Background(), name, "call", json.RawMessage(raw), tc)
	must(b.t, err)
	if out.Pieces != nil {
		out.Structured = bytes.Join(out.Pieces, nil)
	}
	for i, block := range out.Content {
		if block.Quoted != nil {
			quoted := `"` + string(bytes.Join(block.Quoted, nil)) + `"`
			must(b.t, json.Unmarshal([]byte(quoted), &out.Content[i].Text))
		}
	}
	if out.Release != nil {
		out.Release()
	}
	if !utf8.Valid(out.Structured) {
		b.t.Errorf("%s: the result is not valid UTF-8", name)
	}
	if len(out.Content) == 0 || len(out.Content) > 1 && out.Content[1].Type != "image" || out.Content[0].Text != string(out.Structured) && !strings.Contains(out.Content[0].Text, "too many to repeat as text") {
		b.t.Errorf("%s: the text does not repeat the structured result", name)
	}
	var a answer
	must(b.t, json.Unmarshal(out.Structured, &a))
	tool, _ := b.registry.Get(name)
	if out.IsError {
		if !slices.ContainsFunc(tool.Failures, func(f FailureCode) bool { return f.Code == out.Code }) {
			b.t.Errorf("%s fails with %s, which it does not list: %s", name, out.Code, out.Structured)
		}
		for _, field := range []string{"code", "message", "hint"} {
			if _, ok := a[field].(string); !ok {
				b.t.Errorf("%s: the failure has no %s: %s", name, field, out.Structured)
			}
		}
		return out, a
	}
	var schema jsonschema.Schema
	must(b.t, json.Unmarshal(tool.Output.JSON, &schema))
	resolved, err := schema.Resolve(nil)
	must(b.t, err)
	if err := resolved.Validate(map[string]any(a)); err != nil {
		b.t.Errorf("%s: the result is not what its schema says: %v\n%s", name, err, out.Structured)
	}
	if a["truncated"] == true {
		for _, field := range []string{"shown", "unit", "next"} {
			if a[field] == nil {
				b.t.Errorf("%s: truncated without %s", name, field)
			}
		}
	}
	return out, a
}

// ok runs a tool that must succeed.
func (b *bench) ok(name string, args any) answer {
	b.t.Helper()
	out, a := b.call(name, args)
	if out.IsError {
		b.t.Fatalf("%s failed: %s", name, out.Structured)
	}
	return a
}

// fails runs a tool that must fail with this code.
func (b *bench) fails(code, name string, args any) answer {
	b.t.Helper()
	out, a := b.call(name, args)
	if !out.IsError || out.Code != code || a["code"] != code {
		b.t.Fatalf("%s: got %s, want failure %s", name, out.Structured, code)
	}
	return a
}

func (b *bench) onDisk(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(b.dir, filepath.FromSlash(name)))
	must(b.t, err)
	return string(data)
}

type args = map[string]any

func edits(pairs ...string) []args {
	var out []args
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, args{"old_str": pairs[i], "new_str": pairs[i+1]})
	}
	return out
}
