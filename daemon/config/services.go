package config

import (
	"errors"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// WebSearch is how the web is searched: [web_search] of the user's file.
type WebSearch struct {
	Provider    Setting[string] `json:"provider"`    // of a call that names none; "" without Providers
	TimeoutSecs Setting[int]    `json:"timeoutSecs"` // of a whole call
	Providers   []Provider      `json:"providers"`   // that are configured, in the order of providerNames
}

// Provider is a table below [web_search].
type Provider struct {
	Name   string `json:"name"`          // "google", "serper" or "proxy"
	URL    string `json:"url,omitempty"` // "": the provider's own
	Engine string `json:"engine,omitempty"`
	KeySource
	Source string `json:"source"` // of the table
}

// Oracle is the model that is asked for a second opinion: [oracle] of the user's
// file.
type Oracle struct {
	URL         string   `json:"url"` // of a chat endpoint as OpenAI has it
	Model       string   `json:"model"`
	Models      []string `json:"models,omitempty"` // others that a call may name
	MaxTokens   int      `json:"maxTokens"`        // of an answer
	TokenParam  string   `json:"tokenParam"`       // what the endpoint calls that
	TimeoutSecs int      `json:"timeoutSecs"`      // of a whole call
	KeySource
	Source string `json:"source"` // of the table
}

// KeySource says where the key of a service is found, never what it is. Both are
// "" for a service without a key; only one is set else.
type KeySource struct {
	KeyEnv    string `json:"keyEnv,omitempty"`    // a variable of the daemon's environment
	KeySecret string `json:"keySecret,omitempty"` // the name of a secret
}

var providerNames = []string{"google", "serper", "proxy"}

// Bounds and defaults of services. A search takes a second, a model's answer up to
// minutes; longer than the bounds no agent's host waits for a call.
const (
	defSearchSecs = 30
	maxSearchSecs = 300
	defOracleSecs = 120
	maxOracleSecs = 600
	defTokens     = 4096
	minTokens     = 16
	maxTokens     = 65_536

	openAI = "https://api.openai.com/v1/chat/completions"
)

// services reads [web_search] and [oracle]. What is not wholly understood is not
// configured: nothing is sent to a place that may be another than was meant.
func (f *file) services(whole *section) {
	if s := whole.sub("web_search"); s != nil {
		if f.workspace {
			s.ignore("", "ignored: only your own configuration says how the web is searched")
		} else {
			f.webSearch(s)
		}
	}
	if s := whole.sub("oracle"); s != nil {
		if f.workspace {
			s.ignore("", "ignored: only your own configuration says what model is asked")
		} else {
			f.oracle(s)
		}
	}
}

func (f *file) webSearch(s *section) {
	before := len(f.problems)
	preferred, named := s.choice("provider", providerNames)
	out := WebSearch{Provider: Setting[string]{preferred, s.source("provider")}, TimeoutSecs: s.seconds("timeout_secs", defSearchSecs, maxSearchSecs)}
	tables := map[string]*section{}
	for _, name := range providerNames {
		tables[name] = s.sub(name)
	}
	s.done()
	good := len(f.problems) == before
	said := 0
	for _, name := range providerNames {
		table := tables[name]
		if table == nil {
			continue
		}
		said++
		before := len(f.problems)
		if p := table.provider(name); len(f.problems) == before {
			out.Providers = append(out.Providers, p)
		}
	}
	have := func(name string) bool {
		return slices.ContainsFunc(out.Providers, func(p Provider) bool { return p.Name == name })
	}
	switch {
	case named && tables[preferred] == nil:
		s.problem("provider", "%s is not configured: there is no [web_search.%s]", preferred, preferred)
	case !named && len(out.Providers) > 0:
		out.Provider = Setting[string]{out.Providers[0].Name, sourceDefault}
	case good && said == 0:
		s.problem("", "names no provider: add [web_search.google], [web_search.serper] or [web_search.proxy]")
	}
	if good && have(out.Provider.Value) {
		f.search = out
	}
}

func (s *section) provider(name string) Provider {
	p := Provider{Name: name, Source: s.source("")}
	p.URL = s.address("url")
	switch name {
	case "google":
		p.Engine, _ = s.text("engine_id")
		s.needs("engine_id", "the id of your search engine (cx)")
		p.KeySource = s.keySource(true)
	case "serper":
		p.KeySource = s.keySource(true)
	case "proxy":
		s.needs("url", "the address of the Loom server")
		if p.Engine, _ = s.choice("engine", []string{"cse", "serper"}); s.table["engine"] == nil {
			p.Engine = "cse"
		}
	}
	s.done()
	return p
}

func (f *file) oracle(s *section) {
	before := len(f.problems)
	o := Oracle{URL: s.address("url"), MaxTokens: defTokens, TokenParam: "max_tokens", Source: s.source("")}
	o.TimeoutSecs = s.seconds("timeout_secs", defOracleSecs, maxOracleSecs).Value
	o.Model, _ = s.text("model")
	s.needs("model", "the name of the model that is asked")
	o.Models, _ = s.list("models", func(name string) error {
		if !plainText(name) {
			return errors.New("not the name of a model")
		}
		return nil
	})
	if n, ok := s.number("max_tokens", minTokens, maxTokens); ok {
		o.MaxTokens = n
	}
	if param, ok := s.choice("token_param", []string{"max_tokens", "max_completion_tokens"}); ok {
		o.TokenParam = param
	}
	o.KeySource = s.keySource(s.table["url"] == nil)
	if s.table["url"] == nil {
		o.URL = openAI
	}
	s.done()
	if len(f.problems) == before {
		f.asked = &o
	}
}

// seconds reads a time, or takes its default.
func (s *section) seconds(key string, byDefault, most int) Setting[int] {
	if n, ok := s.number(key, 1, int64(most)); ok {
		return Setting[int]{n, s.source(key)}
	}
	return Setting[int]{byDefault, sourceDefault}
}

// needs complains of a key that is missing.
func (s *section) needs(key, what string) {
	if s.table[key] == nil {
		s.problem("", "has no %s: %s", key, what)
	}
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// keySource reads key_env and key_secret. What is wrong is told without the value:
// it may be the key itself.
func (s *section) keySource(needed bool) KeySource {
	var out KeySource
	const names = `say key_env = "VARIABLE" or key_secret = "NAME"`
	s.known = append(s.known, "key")
	if s.table["key"] != nil {
		s.problem("key", "a key does not belong into this file: %s", names)
		return out
	}
	for _, way := range []struct {
		key  string
		to   *string
		name *regexp.Regexp
		of   string
	}{{"key_env", &out.KeyEnv, variableName, "an environment variable"}, {"key_secret", &out.KeySecret, secretName, "a secret"}} {
		s.shape.text(way.key)
		v, there := s.get(way.key)
		if !there {
			continue
		}
		text, ok := v.(string)
		if !ok || !way.name.MatchString(text) {
			s.problem(way.key, "not the name of %s", way.of)
			continue
		}
		*way.to = text
	}
	switch _, env := s.table["key_env"]; {
	case env && s.table["key_secret"] != nil:
		s.problem("key_secret", "there is a key_env, too: which of them is meant?")
	case needed && !env && s.table["key_secret"] == nil:
		s.problem("", "has no key: %s", names)
	}
	return out
}

// address reads the URL of a service, "" when there is none.
func (s *section) address(key string) string {
	text, ok := s.text(key)
	if !ok {
		return ""
	}
	if err := checkAddress(text); err != nil {
		s.problem(key, "%v", err) // without the URL, which may hold a key
		return ""
	}
	return text
}

// checkAddress refuses what no key is sent to.
func checkAddress(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Scheme != "https" && u.Scheme != "http", u.Hostname() == "":
		return errors.New(`not an address as "https://service.example/v1"`)
	case u.User != nil, u.RawQuery != "", u.ForceQuery, u.Fragment != "":
		return errors.New("an address without user, ? and # is needed")
	case u.Scheme == "http" && !isHere(u.Hostname()):
		return errors.New("must begin with https://: without it only this machine (localhost) is asked")
	}
	return nil
}

// isHere reports whether a host is this machine by its name or address. Whether the
// name really leads here is checked when it is asked.
func isHere(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
