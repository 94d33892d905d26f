package daemon

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/loomd/loomd/daemon/protocol"
)

// written is where a daemon's log goes.
type written struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (l *written) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *written) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// serveServices is a search and a model on this machine that want a key.
func serveServices(t *testing.T, key string) *httptest.Server {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Query().Get("q") == "fail":
			w.WriteHeader(400)
			io.WriteString(w, `{"error":{"message":"bad `+r.URL.Query().Get("key")+`"}}`)
		case r.URL.Path == "/google" && r.URL.Query().Get("key") == key:
			io.WriteString(w, `{"items":[{"title":"T","link":"https://a.example/"}]}`)
		case r.URL.Path == "/chat" && r.Header.Get("Authorization") == "Bearer "+key:
			io.WriteString(w, `{"choices":[{"message":{"content":"yes"}}]}`)
		default:
			w.WriteHeader(401)
		}
	}))
	t.Cleanup(service.Close)
	return service
}

// What is configured is asked from the next call on, with the key of the daemon's
// environment, which is told nowhere.
func TestServicesAreAsked(t *testing.T) {
	const key = "key-of-the-environment"
	t.Setenv("LOOMD_TEST_KEY", key)
	service := serveServices(t, key)
	h := newHouse(t, nil)
	log := &written{}
	h.server.logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	agent, alice := h.connect(helloAgent, nil), h.connect(helloReviewer, nil)

	fails := func(tool, args, code, words string) {
		t.Helper()
		got, result := agent.tool(tool, args)
		text, _ := json.Marshal(got)
		if !result.IsError || got["code"] != code || !strings.Contains(string(text), words) || strings.Contains(string(text), key) {
			t.Errorf("%s %s: %s", tool, args, text)
		}
	}
	fails("web_search", `{"query":"q"}`, "unavailable", "no provider is configured")
	fails("oracle", `{"query":"q"}`, "unavailable", "no model is configured")

	search := "[web_search.google]\nurl = \"" + service.URL + "/google\"\nengine_id = \"e\"\n"
	oracle := "[oracle]\nmodel = \"m\"\nurl = \"" + service.URL + "/chat\"\n"
	h.configure(search + "key_env = \"LOOMD_TEST_KEY\"\n" + oracle + "key_env = \"LOOMD_TEST_KEY\"\n")
	if got, result := agent.tool("web_search", `{"query":"q"}`); result.IsError || len(got["results"].([]any)) != 1 {
		t.Errorf("%v", got)
	}
	if got, result := agent.tool("oracle", `{"query":"q"}`); result.IsError || got["answer"] != "yes" {
		t.Errorf("%v", got)
	}
	fails("web_search", `{"query":"fail"}`, "io", "bad [key]")

	h.configure(search + "key_env = \"LOOMD_TEST_NONE\"\n" + oracle + "key_secret = \"mine\"\n")
	fails("web_search", `{"query":"q"}`, "unavailable", "the variable LOOMD_TEST_NONE, which is configured as the key, is not set")
	fails("oracle", `{"query":"q"}`, "unavailable", "secret mine: is not configured")

	// A workspace's own file says nothing here.
	h.configure("")
	h.save(".loom/config.toml", oracle)
	fails("oracle", `{"query":"q"}`, "unavailable", "no model is configured")
	var status protocol.StatusResult
	alice.must(protocol.MethodStatus, protocol.Empty{}, &status)
	if len(status.Problems) != 1 || !strings.Contains(status.Problems[0], "oracle: ignored: ") {
		t.Errorf("problems %q", status.Problems)
	}
	if text := log.String(); strings.Contains(text, key) || !strings.Contains(text, "web_search") {
		t.Errorf("the log:\n%s", text)
	}
}
