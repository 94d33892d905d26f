package tools

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/loomd/loomd/tools/secret"
)

const apiKey = `sk-"live"/Zq81+vJ2xN7`

// knowing makes the bench's calls redact a secret.
func (b *bench) knowing(value string) {
	b.secrets = secret.NewSet([]string{"KEY=" + value})
	b.secrets.Configure([]secret.Spec{{Name: "KEY", Provider: secret.ProviderEnv, Env: "KEY", Tools: []string{"needs_key"}}})
	if failed := b.secrets.Preload(context.Background()); failed != nil {
		b.t.Fatal(failed)
	}
}

// wantHidden fails when an outcome shows four bytes in a row of the secret.
func wantHidden(t testing.TB, what string, out Outcome) {
	t.Helper()
	var all bytes.Buffer
	all.Write(out.Structured)
	for _, p := range out.Pieces {
		all.Write(p)
	}
	for _, block := range out.Content {
		all.WriteString(block.Text)
		all.Write(block.Data)
		for _, q := range block.Quoted {
			all.Write(q)
		}
	}
	text := strings.ReplaceAll(all.String(), `\`, "")
	for at := 0; at+4 <= len(apiKey); at++ {
		if part := apiKey[at : at+4]; strings.Contains(text, part) {
			t.Errorf("%s shows %q: %.600s", what, part, text)
			return
		}
	}
}

func TestReadsInSmallStepsShowNoSecret(t *testing.T) {
	key := base64.StdEncoding.EncodeToString([]byte("user:" + apiKey + ":more of it, so that it is wrapped"))
	text := "é first " + apiKey + apiKey + "\nkey = " + key[:40] + "\n" + key[40:] + "\nlast " + apiKey
	wide := "\xff\xfe"
	for _, r := range text {
		wide += string([]byte{byte(r), byte(r >> 8)})
	}
	b := newBench(t, map[string]string{"f": text, "wide": wide, "big": strings.Repeat("x\n", 5<<20) + text})
	b.knowing(apiKey)
	_, whole := b.call("read_file", args{"path": "f"})
	if want := "é first [redacted:KEY][redacted:KEY]\nkey = dXNlcjp[redacted:KEY]"; !strings.HasPrefix(whole["contents"].(string), want) {
		t.Errorf("the file reads as %q", whole["contents"])
	}
	for _, name := range []string{"f", "wide", "big"} {
		for _, size := range []int{1, 3, 7, 20, 50} {
			at := 0.0
			if name == "big" {
				at = 10<<20 - 3
			}
			for n := 0; ; n++ {
				out, got := b.call("read_file", args{"path": name, "byte_offset": int(at), "max_bytes": size})
				wantHidden(t, fmt.Sprintf("%s from %v by %d", name, at, size), out)
				next, more := got["next_byte_offset"].(float64)
				if !more || t.Failed() || n > 500 {
					break
				}
				at = next
			}
		}
		for line := 1; line < 6 && name == "f"; line++ {
			out, _ := b.call("read_file", args{"path": name, "offset": line, "limit": 1})
			wantHidden(t, fmt.Sprintf("line %d", line), out)
		}
	}
	_, last := b.call("read_file", args{"path": "f", "offset": 4})
	if last["contents"] != "last [redacted:KEY]" {
		t.Errorf("the last line reads as %q", last["contents"])
	}
}

func TestNoToolShowsASecret(t *testing.T) {
	long := strings.Repeat("word ", 100) + apiKey + strings.Repeat(" tail", 100) + "\nend of it\n"
	b := newBench(t, map[string]string{"f": "a = " + apiKey + "\nb = 2\n", "long": long, "dir/x-" + strings.NewReplacer(`"`, "", "/", "").Replace(apiKey): "x"})
	name := "x-" + strings.NewReplacer(`"`, "", "/", "").Replace(apiKey)
	b.knowing(apiKey)
	for _, c := range []struct{ tool, args string }{
		{"grep", `{"pattern":"a = "}`},
		{"grep", `{"pattern":"Zq81","context":1}`},
		{"grep", `{"pattern":"word w","path":"long"}`},
		{"grep", `{"pattern":"tail$","path":"long"}`},
		{"grep", `{"pattern":"81.vJ2","path":"long"}`},
		{"edit_file", `{"path":"f","edits":[{"old_str":"b = 2","new_str":"b = 3"}]}`},
		{"edit_file", `{"path":"f","edits":[{"old_str":"a = ?\nb = 3\nc","new_str":""}]}`},
		{"edit_file", `{"path":"long","edits":[{"old_str":"word\nend of it\nz","new_str":""}]}`},
		{"apply_patch", `{"patch":"--- f\n+++ f\n@@\n-a = ?\n-b = 3\n+a\n"}`},
		{"delete_file", `{"path":"f"}`},
	} {
		out, _ := b.call(c.tool, c.args)
		wantHidden(t, c.tool+" "+c.args, out)
		if out.Code == "no_match" && !strings.Contains(string(out.Structured), "nearest") {
			t.Errorf("%s shows nothing of the file: %s", c.args, out.Structured)
		}
	}
	b.knowing(name)
	for _, c := range []struct{ tool, args string }{
		{"list_files", `{"path":"dir"}`},
		{"glob", `{"pattern":"dir/*"}`},
		{"grep", `{"pattern":"x","mode":"files"}`},
		{"read_file", `{"path":"dir/x-sk"}`},
		{"read_file", `{"path":"dir/` + name + `"}`},
		{"read_file", `{"path":"dir/` + name + `/no"}`},
	} {
		out, _ := b.call(c.tool, c.args)
		if text := string(out.Structured) + pieced(out.Pieces); strings.Contains(text, name) || !strings.Contains(text, "[redacted:KEY]") {
			t.Errorf("%s %s: %s", c.tool, c.args, text)
		}
	}
}

func pieced(list [][]byte) string { return string(bytes.Join(list, nil)) }

func TestSecretInAnImage(t *testing.T) {
	blocks := redacted([]Block{{Type: "image", MimeType: "image/png", Data: []byte("tEXtComment " + apiKey)}}, keyRedactor(t))
	if blocks[0].Type != "text" || !strings.Contains(blocks[0].Text, "[redacted:KEY]") || blocks[0].Data != nil {
		t.Errorf("an image with a secret is %+v", blocks[0])
	}
}

func keyRedactor(t *testing.T) *secret.Redactor {
	b := &bench{t: t}
	b.knowing(apiKey)
	return b.secrets.Redactor()
}

// A tool of any kind is redacted: what it returns, its own blocks, its failure.
func TestAnyToolIsRedacted(t *testing.T) {
	type none struct{}
	input, err := inputSchema(none{}, nil, nil)
	must(t, err)
	var result Result
	var failure error
	r, err := NewRegistry(Tool{Name: "needs_key", Input: input, Call: func(ctx context.Context, tc *Context, _ json.RawMessage) (Result, error) {
		return result, failure
	}})
	must(t, err)
	b := newBench(t, nil)
	b.registry = r
	b.knowing(apiKey)
	tc := Context{View: b.view, Secrets: b.secrets}
	for _, c := range []struct {
		result  Result
		failure error
	}{
		{Result{Structured: map[string]any{"a": apiKey, apiKey: []string{apiKey}}, Content: []Block{{Type: "text", Text: "it is " + apiKey}}}, nil},
		{Result{Structured: map[string]any{}, Beside: []Block{{Type: "text", Text: apiKey}}}, nil},
		{Result{}, &Failure{Code: "io", Message: "no " + apiKey, Hint: apiKey, Extra: map[string]any{"x": []string{apiKey}}}},
		{Result{}, fmt.Errorf("no %s", apiKey)},
	} {
		result, failure = c.result, c.failure
		out, err := r.Run(t.Context(), "needs_key", "c", nil, tc)
		must(t, err)
		wantHidden(t, fmt.Sprint(c), out)
	}
	failure = func() error { _, err := b.secrets.Value(t.Context(), "NONE", "needs_key"); return err }()
	out, err := r.Run(t.Context(), "needs_key", "c", nil, tc)
	must(t, err)
	if out.Code != "unavailable" || !strings.Contains(string(out.Structured), "secret NONE: is not configured") {
		t.Errorf("a secret that cannot be had: %s", out.Structured)
	}
}
