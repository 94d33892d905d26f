package config

import (
	"strings"
	"testing"
)

func TestServices(t *testing.T) {
	c, problems := load(t, `
[web_search]
provider = "serper"
timeout_secs = 9

[web_search.google]
engine_id = "0123:abc"
key_env = "GOOGLE_KEY"

[web_search.serper]
key_secret = "serper"
url = "http://127.0.0.1:8080/search"

[web_search.proxy]
url = "https://loom.example/"
engine = "serper"

[oracle]
model = "large"
models = ["small"]
url = "https://llm.example/v1/chat/completions"
key_secret = "llm"
max_tokens = 2000
token_param = "max_completion_tokens"
timeout_secs = 300
`, "")
	wantProblems(t, problems)
	w := c.WebSearch
	if w.Provider.Value != "serper" || !strings.HasSuffix(w.Provider.Source, ":3") || w.TimeoutSecs.Value != 9 || len(w.Providers) != 3 {
		t.Fatalf("%+v", w)
	}
	for i, want := range []Provider{
		{Name: "google", Engine: "0123:abc", KeySource: KeySource{KeyEnv: "GOOGLE_KEY"}},
		{Name: "serper", URL: "http://127.0.0.1:8080/search", KeySource: KeySource{KeySecret: "serper"}},
		{Name: "proxy", URL: "https://loom.example/", Engine: "serper"},
	} {
		got := w.Providers[i]
		if !strings.Contains(got.Source, "config.toml:") {
			t.Errorf("source %q", got.Source)
		}
		if got.Source = ""; got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	o := c.Oracle
	if o == nil || o.Model != "large" || len(o.Models) != 1 || o.URL != "https://llm.example/v1/chat/completions" || o.KeySecret != "llm" || o.KeyEnv != "" ||
		o.MaxTokens != 2000 || o.TokenParam != "max_completion_tokens" || o.TimeoutSecs != 300 || !strings.HasSuffix(o.Source, ":18") {
		t.Errorf("%+v", o)
	}
}

func TestServicesByDefault(t *testing.T) {
	c, problems := load(t, "", "")
	wantProblems(t, problems)
	if c.Oracle != nil || c.WebSearch.Providers == nil || len(c.WebSearch.Providers) > 0 || c.WebSearch.Provider.Value != "" {
		t.Errorf("nothing configured: %+v %+v", c.WebSearch, c.Oracle)
	}
	c, problems = load(t, "[web_search.proxy]\nurl = \"http://localhost:8080\"\n[web_search.serper]\nkey_env = \"K\"\n[oracle]\nmodel = \"m\"\nkey_env = \"K\"\n", "")
	wantProblems(t, problems)
	w := c.WebSearch
	if w.Provider != (Setting[string]{"serper", "default"}) || w.TimeoutSecs != (Setting[int]{30, "default"}) || w.Providers[1].Engine != "cse" {
		t.Errorf("%+v", w)
	}
	if o := c.Oracle; o.URL != openAI || o.MaxTokens != 4096 || o.TokenParam != "max_tokens" || o.TimeoutSecs != 120 || o.Models != nil {
		t.Errorf("%+v", o)
	}
	if c, problems = load(t, "[oracle]\nmodel = \"m\"\nurl = \"http://[::1]:11434/v1/chat/completions\"\n", ""); c.Oracle == nil || len(problems) > 0 {
		t.Errorf("one of this machine, without a key: %+v %v", c.Oracle, problems)
	}
}

// What is wrong is named with its line, without a value that may be a key, and the
// service that it stands in is not configured. Others are.
func TestBrokenServices(t *testing.T) {
	const (
		search = "[web_search.serper]\nkey_env = \"K\"\n"
		oracle = "[oracle]\nmodel = \"m\"\nkey_env = \"K\"\n"
		key    = "sk-proj-0123456789"
	)
	for _, c := range []struct{ text, want string }{
		{"[web_search]\n", ":1: web_search: names no provider: add [web_search.google]"},
		{"web_search = 1\n", ":1: web_search: a whole number: write [web_search]"},
		{"[web_search]\nprovider = \"bing\"\n" + search, `:2: web_search.provider: "bing" is not one of google, serper, proxy`},
		{"[web_search]\nprovider = \"google\"\n" + search, ":2: web_search.provider: google is not configured: there is no [web_search.google]"},
		{"[web_search]\ntimeout_secs = 301\n" + search, ":2: web_search.timeout_secs: 301: must be from 1 to 300"},
		{"[web_search]\nserpr = 1\n" + search, ":2: web_search.serpr: there is no such setting; did you mean serper?"},
		{"[web_search.google]\nkey_env = \"K\"\n", ":1: web_search.google: has no engine_id"},
		{"[web_search.google]\nengine_id = \"e\"\n", ":1: web_search.google: has no key: say key_env"},
		{"[web_search.serper]\nkey = \"" + key + "\"\n", ":2: web_search.serper.key: a key does not belong into this file"},
		{"[web_search.serper]\nkey_env = \"" + key + "\"\n", ":2: web_search.serper.key_env: not the name of an environment variable"},
		{"[web_search.serper]\nkey_secret = \"" + key + "=\"\n", ":2: web_search.serper.key_secret: not the name of a secret"},
		{"[web_search.serper]\nkey_secret = 7\n", ":2: web_search.serper.key_secret: not the name of a secret"},
		{"[web_search.serper]\nkey_env = \"K\"\nkey_secret = \"k\"\n", ":3: web_search.serper.key_secret: there is a key_env, too"},
		{"[web_search.serper]\nkey_env = \"K\"\nengine = \"e\"\n", ":3: web_search.serper.engine: there is no such setting"},
		{"[web_search.serper]\nkey_env = \"K\"\nurl = \"http://serper.example\"\n", ":3: web_search.serper.url: must begin with https://"},
		{"[web_search.serper]\nkey_env = \"K\"\nurl = \"https://user:" + key + "@serper.example\"\n", ":3: web_search.serper.url: an address without user, ? and #"},
		{"[web_search.serper]\nkey_env = \"K\"\nurl = \"https://serper.example/?key=" + key + "\"\n", ":3: web_search.serper.url: an address without user, ? and #"},
		{"[web_search.serper]\nkey_env = \"K\"\nurl = \"serper.example\"\n", ":3: web_search.serper.url: not an address"},
		{"[web_search.serper]\nkey_env = \"K\"\nurl = \"ftp://serper.example\"\n", ":3: web_search.serper.url: not an address"},
		{"[web_search.proxy]\n", ":1: web_search.proxy: has no url"},
		{"[web_search.proxy]\nurl = \"https://a.example\"\nengine = \"google\"\n", `:3: web_search.proxy.engine: "google" is not one of cse, serper`},
		{"[web_search.proxy]\nurl = \"https://a.example\"\nkey_env = \"K\"\n", ":3: web_search.proxy.key_env: there is no such setting"},
		{"[oracle]\nkey_env = \"K\"\n", ":1: oracle: has no model"},
		{"[oracle]\nmodel = \"m\"\n", ":1: oracle: has no key"},
		{"[oracle]\nmodel = \"m\"\nkey = \"" + key + "\"\n", ":3: oracle.key: a key does not belong into this file"},
		{oracle + "max_tokens = 15\n", ":4: oracle.max_tokens: 15: must be from 16 to 65536"},
		{oracle + "timeout_secs = 601\n", ":4: oracle.timeout_secs: 601"},
		{oracle + "token_param = \"tokens\"\n", `:4: oracle.token_param: "tokens" is not one of max_tokens, max_completion_tokens`},
		{oracle + "models = [\"a\\nb\"]\n", `:4: oracle.models[0]: "a\nb": not the name of a model`},
		{oracle + "temprature = 1\n", ":4: oracle.temprature: there is no such setting"},
	} {
		got, problems := load(t, c.text, "")
		wantProblems(t, problems, c.want)
		if len(got.WebSearch.Providers) > 0 || got.Oracle != nil {
			t.Errorf("%s: %+v %+v", c.text, got.WebSearch, got.Oracle)
		}
		for _, p := range problems {
			if strings.Contains(p.String(), key) {
				t.Errorf("the key is told: %s", p)
			}
		}
	}
	got, _ := load(t, search+"[web_search.google]\nkey_env = \"K\"\n"+oracle+"[review]\nmoode = \"auto\"\n", "")
	if len(got.WebSearch.Providers) != 1 || got.WebSearch.Provider.Value != "serper" || got.Oracle == nil {
		t.Errorf("others: %+v %+v", got.WebSearch, got.Oracle)
	}
	got, problems := load(t, "[web_search]\nprovider = \"google\"\n[web_search.google]\nkey_env = \"K\"\n"+search, "")
	wantProblems(t, problems, "has no engine_id")
	if len(got.WebSearch.Providers) > 0 {
		t.Errorf("another provider than the one that was named: %+v", got.WebSearch)
	}
}

// A workspace cannot send what an agent asks to a place of its choice.
func TestServicesOfAWorkspace(t *testing.T) {
	const theirs = "[web_search.proxy]\nurl = \"https://theirs.example\"\n[oracle]\nmodel = \"m\"\nurl = \"https://theirs.example\"\n"
	c, problems := load(t, "", theirs)
	wantProblems(t, problems, ".loom/config.toml:1: web_search: ignored: only your own", ".loom/config.toml:3: oracle: ignored: only your own")
	if Broken(problems) || len(c.WebSearch.Providers) > 0 || c.Oracle != nil {
		t.Errorf("%+v %+v", c.WebSearch, c.Oracle)
	}
	c, _ = load(t, "[web_search.serper]\nkey_env = \"K\"\n", theirs)
	if len(c.WebSearch.Providers) != 1 || c.WebSearch.Providers[0].Name != "serper" {
		t.Errorf("%+v", c.WebSearch)
	}
}
