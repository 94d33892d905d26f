package tools

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestOracleRequest: what is sent is a chat completion's request, with what is
// configured where the call says nothing.
func TestOracleRequest(t *testing.T) {
	b := newBench(t, nil)
	got := ""
	b.services = servicesAt(serveService(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = fmt.Sprintf("%s %s %s %s", r.Method, r.URL, r.Header.Get("Authorization"), body)
		io.WriteString(w, `{"model":"small-2025","choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"Yes.\r\n\tWhy\u001b[1m?"}}],"usage":{"prompt_tokens":12,"completion_tokens":3}}`)
	}))
	const start = "POST /chat Bearer " + theKey + " "
	prompt, err := json.Marshal(defaultPrompt)
	must(t, err)
	a := b.ok("oracle", args{"query": "Q?"})
	want := start + `{"max_tokens":1000,"messages":[{"content":` + string(prompt) + `,"role":"system"},{"content":"Q?","role":"user"}],"model":"small"}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if fmt.Sprint(map[string]any(a)) != fmt.Sprint(map[string]any{
		"answer": "Yes.\n\tWhy[1m?", "model": "small-2025", "finish_reason": "stop", "input_tokens": 12, "output_tokens": 3, "truncated": false,
	}) {
		t.Errorf("%v", a)
	}
	b.services.Oracle.TokenParam, b.services.Oracle.Key = "max_completion_tokens", nil
	b.ok("oracle", args{"query": "Q?", "model": "large", "max_tokens": 16, "temperature": 0, "system_prompt": "S"})
	want = `POST /chat  {"max_completion_tokens":16,"messages":[{"content":"S","role":"system"},{"content":"Q?","role":"user"}],"model":"large","temperature":0}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestOracleAnswers: what servers send, and what is no answer.
func TestOracleAnswers(t *testing.T) {
	b := newBench(t, nil)
	long := strings.Repeat("é", maxAnswer+5)
	for _, c := range []struct {
		mediaType, reply string
		answer           string
		rest             string // of the result
	}{
		{"application/json", `{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"other"},{"type":"text","text":"b"}]}}]}`, "ab", ""},
		{"application/json", `{"choices":[{"message":{"content":null,"refusal":"No."},"finish_reason":"stop"}]}`, "No.", ""},
		{"application/json", `{"choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":"many"}}`, "a", ""},
		{"application/json", `{"choices":[{"message":{"content":"the key is ` + theKey + `"}}]}`, "the key is [key]", ""},
		{"text/plain", "an answer", "an answer", ""},
		{"application/json", `{"choices":[{"message":{"content":"half"},"finish_reason":"length"}]}`, "half", "4 <nil> characters raise max_tokens above 1000"},
		{"application/json", `{"choices":[{"message":{"content":"` + long + `"}}]}`, strings.Repeat("é", maxAnswer-1) + "…", "100000 100005 characters ask for less"},
	} {
		b.services = servicesAt(serveText(t, c.mediaType, c.reply))
		a := b.ok("oracle", args{"query": "q"})
		rest := fmt.Sprintf("%.0f %v %v %v", a["shown"], a["total"], a["unit"], a["next"])
		if total, ok := a["total"].(float64); ok {
			rest = fmt.Sprintf("%.0f %.0f %v %v", a["shown"], total, a["unit"], a["next"])
		}
		if a["answer"] != c.answer || a["model"] != "small" || a["truncated"] != (c.rest != "") || c.rest != "" && !strings.HasPrefix(rest, c.rest) {
			t.Errorf("%.100s: %.100v %s", c.reply, a, rest)
		}
	}
	for reply, words := range map[string]string{
		`{"choices":[]}`: "it has no answer",
		`{"choices":[{"message":{"content":" \n"}}]}`:                           "it has no answer",
		`{"choices":[{"message":{"content":""},"finish_reason":"length"}]}`:     "thought for all of its 1000 tokens",
		`{"choices":[{"message":{"content":7}}]}`:                               "not the JSON of a chat completion",
		`{"choices":{"message":{"content":"a"}}}`:                               "not the JSON of a chat completion",
		`{"choices":[{"message":{"content":"a"}}]} and more`:                    "not the JSON of a chat completion",
		"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]": "not the JSON of a chat completion",
	} {
		b.services = servicesAt(serveText(t, "application/json", reply))
		if a := b.fails("io", "oracle", args{"query": "q"}); !strings.Contains(a["message"].(string), words) {
			t.Errorf("%s: %v", reply, a)
		}
	}
}

// TestOracleIsBounded: an agent asks for no more than is configured.
func TestOracleIsBounded(t *testing.T) {
	b := newBench(t, nil)
	a := b.fails("unavailable", "oracle", args{"query": "q"})
	if !strings.Contains(a["hint"].(string), "[oracle]") {
		t.Errorf("%v", a)
	}
	b.services = servicesAt(serveService(t, func(http.ResponseWriter, *http.Request) { t.Error("asked") }))
	for field, c := range map[string]struct {
		value any
		hint  string
	}{
		"model": {"gigantic", "one of small, large"}, "max_tokens": {1001, "ask for less"}, "temperature": {2.5, ""}, "system_prompt": {"", ""},
	} {
		a := b.fails("invalid_arguments", "oracle", args{"query": "q", field: c.value})
		if a["field"] != field || !strings.Contains(a["hint"].(string), c.hint) {
			t.Errorf("%s: %v", field, a)
		}
	}
}
