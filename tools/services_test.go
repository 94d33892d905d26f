package tools

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// theKey is the key of every service of these tests.
const theKey = "k3y-of-the-tests"

func givesKey(context.Context) (string, error) { return theKey, nil }

// serveText is a service on this machine that answers everything with one text.
func serveText(t testing.TB, mediaType, text string) string {
	t.Helper()
	return serveService(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		io.WriteString(w, text)
	})
}

func serveService(t testing.TB, handle http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	return server.URL
}

// servicesAt are all services, each at the same place.
func servicesAt(url string) Services {
	return Services{
		Search: SearchService{
			Default: "google", Timeout: patient,
			Providers: map[string]SearchProvider{
				"google": {URL: url + "/google", Engine: "the-engine", Key: givesKey},
				"serper": {URL: url + "/serper", Key: givesKey},
				"proxy":  {URL: url + "/", Engine: "cse"},
			},
		},
		Oracle: OracleService{URL: url + "/chat", Model: "small", Models: []string{"large"}, MaxTokens: 1000, TokenParam: "max_tokens", Timeout: patient, Key: givesKey},
	}
}

// patient is a time that no test needs.
const patient = 20 * time.Second

// serviceCalls are a call of each service.
var serviceCalls = []struct{ tool, args string }{
	{"web_search", `{"query":"q","provider":"google"}`},
	{"web_search", `{"query":"q","provider":"serper"}`},
	{"web_search", `{"query":"q","provider":"proxy"}`},
	{"oracle", `{"query":"q"}`},
}

// TestServiceFailures: what a service does wrong is a failure with the code that
// says what can be done about it, and never with the key.
func TestServiceFailures(t *testing.T) {
	b := newBench(t, nil)
	for name, c := range map[string]struct {
		handle http.HandlerFunc
		code   string
		words  string
	}{
		"key refused":  {status(401, `{"error":{"message":"no `+theKey+`"}}`), "unavailable", "401 Unauthorized"},
		"no money":     {status(402, ``), "unavailable", "402"},
		"forbidden":    {status(403, `{"message":"`+theKey+` is not enabled"}`), "unavailable", "is not enabled"},
		"wrong URL":    {status(404, `<html>`), "unavailable", "404 Not Found"},
		"moved":        {status(308, ``), "unavailable", "which is not followed: it leads to elsewhere.example"},
		"wrong":        {status(400, `{"error":{"message":"bad thing"}}`), "io", "bad thing"},
		"teapot":       {status(418, ``), "io", "418"},
		"page":         {typed("text/html", "<html>are you human?</html>"), "io", "it is a web page"},
		"page as JSON": {typed("application/json", "<html>"), "io", "not the JSON of"},
		"nothing":      {typed("application/json", ""), "io", "not the JSON of"},
		"half":         {typed("application/json", `{"results":[`), "io", "not the JSON of"},
		"another":      {typed("application/json", `{}`), "io", "not to be understood"},
		"no object":    {typed("application/json", `[]`), "io", "not the JSON of"},
		"a fault":      {typed("application/json", `{"error":{"message":"quota"}}`), "io", "not to be understood"},
		"endless": {func(w http.ResponseWriter, _ *http.Request) {
			for piece := make([]byte, 1<<16); ; {
				if _, err := w.Write(piece); err != nil {
					return
				}
			}
		}, "too_large", "more than 8 MiB"},
	} {
		b.services = servicesAt(serveService(t, c.handle))
		for _, call := range serviceCalls {
			a := b.fails(c.code, call.tool, call.args)
			text, _ := json.Marshal(a)
			if !strings.Contains(a["message"].(string), c.words) || a["hint"] == "" || strings.Contains(string(text), theKey) && !strings.Contains(call.args, "proxy") { // which has none
				t.Errorf("%s, %s %s: %s", name, call.tool, call.args, text)
			}
		}
	}
	b.services = servicesAt(serveService(t, func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // only then a server sees that the client goes
		<-r.Context().Done()
	}))
	b.services.Search.Timeout, b.services.Oracle.Timeout = 50*time.Millisecond, 50*time.Millisecond
	for _, call := range serviceCalls {
		if a := b.fails("timeout", call.tool, call.args); !strings.Contains(a["message"].(string), "no answer within 50ms") {
			t.Errorf("%v: %v", call, a)
		}
	}
}

func status(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "https://elsewhere.example/?key="+theKey)
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

func typed(mediaType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		io.WriteString(w, body)
	}
}

// TestServiceIsBusy: a call comes back when the service says, tells what it waits
// for, and ends with that when it is too long.
func TestServiceIsBusy(t *testing.T) {
	b := newBench(t, nil)
	n := 0
	url := serveService(t, func(w http.ResponseWriter, _ *http.Request) {
		if n++; n == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(429)
			return
		}
		io.WriteString(w, `{"items":[]}`)
	})
	var told []string
	tc := Context{View: b.view, Services: servicesAt(url), Progress: func(p Progress) { told = append(told, p.Message) }}
	start := time.Now()
	out, err := b.registry.Run(context.Background(), "web_search", "", json.RawMessage(`{"query":"q"}`), tc)
	must(t, err)
	if out.IsError || n != 2 || time.Since(start) < time.Second {
		t.Errorf("%s after %d requests in %v", out.Structured, n, time.Since(start))
	}
	if len(told) != 1 || !strings.HasPrefix(told[0], "web search by google: 429 Too Many Requests; trying again in 1.") {
		t.Errorf("told %q", told)
	}
	b.services = servicesAt(serveService(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "90")
		w.WriteHeader(503)
	}))
	a := b.fails("io", "web_search", `{"query":"q"}`)
	if a["status"] != 503.0 || a["retry_after_secs"] != 90.0 || a["hint"] != "try again in 90 s, or go on without it" {
		t.Errorf("%v", a)
	}
}

// TestServiceIsCancelled: a call that nobody waits for any more ends at once.
func TestServiceIsCancelled(t *testing.T) {
	b := newBench(t, nil)
	for _, call := range serviceCalls {
		asked := make(chan struct{})
		gone := make(chan struct{})
		url := serveService(t, func(_ http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			close(asked)
			<-r.Context().Done()
			close(gone)
		})
		ctx, cancel := context.WithCancel(context.Background())
		go func() { <-asked; cancel() }()
		_, err := b.registry.Run(ctx, call.tool, "", json.RawMessage(call.args), Context{View: b.view, Services: servicesAt(url)})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v: %v", call, err)
		}
		select {
		case <-gone:
		case <-time.After(patient):
			t.Errorf("%v: the request goes on", call)
		}
	}
}

// TestKeys: a key that cannot be had is told without what went wrong in detail,
// unless that was made to be told; none is sent that cannot be one.
func TestKeys(t *testing.T) {
	b := newBench(t, nil)
	asked := false
	url := serveService(t, func(http.ResponseWriter, *http.Request) { asked = true })
	for name, c := range map[string]struct {
		key   string
		err   error
		words string
	}{
		"failing":  {"", errors.New("op: token " + theKey + " expired"), "its key cannot be had"},
		"told":     {"", &Failure{Code: "unavailable", Message: "the variable KEY is not set", Hint: "h"}, "the variable KEY is not set"},
		"empty":    {"", nil, "its key is empty"},
		"newline":  {"\r\n", nil, "its key is empty"},
		"two":      {"a\nb", nil, "its key is too long, or has characters"},
		"a file":   {strings.Repeat("x", maxKey+1), nil, "its key is too long"},
		"no ASCII": {"schlüssel", nil, "has characters that no key has"},
	} {
		b.services = servicesAt(url)
		key := func(context.Context) (string, error) { return c.key, c.err }
		b.services.Oracle.Key = key
		b.services.Search.Providers["google"] = SearchProvider{URL: url, Key: key}
		for _, tool := range []string{"web_search", "oracle"} {
			a := b.fails("unavailable", tool, `{"query":"q"}`)
			if text, _ := json.Marshal(a); !strings.Contains(string(text), c.words) || strings.Contains(string(text), theKey) {
				t.Errorf("%s: %s", name, text)
			}
		}
	}
	if asked {
		t.Error("a request without a key")
	}
	key, err := keyOf(context.Background(), "s", func(context.Context) (string, error) { return "key\r\n", nil })
	if key != "key" || err != nil {
		t.Errorf("a key from a file: %q, %v", key, err)
	}
}
