package tools

import (
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/loomd/loomd/tools/web"
)

// SearchService is how the web is searched.
type SearchService struct {
	Default   string                    // the provider of a call that names none
	Providers map[string]SearchProvider // by name, as in [SearchProviders]; none: web_search is unavailable
	Timeout   time.Duration             // of a whole call
}

// SearchProvider is one that is configured.
type SearchProvider struct {
	URL    string // "": the provider's own
	Engine string // google: the id of the search engine (cx); proxy: what it is to ask, "cse" or "serper"
	Key    KeyFunc
}

// SearchProviders are the names of all that loomd knows: Google's Custom Search
// and Serper with a key of the user's, and a Loom server that has keys of its own.
var SearchProviders = []string{"google", "serper", "proxy"}

// searchAttempt bounds one attempt of a search, which takes a second.
const searchAttempt = 10 * time.Second

// request is what to send for at most n results, from 1 to 10.
func (p SearchProvider) request(name, key, query string, n int) web.Request {
	r := web.Request{URL: p.URL, Key: key, Attempt: searchAttempt}
	switch name {
	case "google":
		if r.URL == "" {
			r.URL = "https://www.googleapis.com/customsearch/v1"
		}
		r.Query = url.Values{"key": {key}, "cx": {p.Engine}, "q": {query}, "num": {strconv.Itoa(n)}}
	case "serper":
		if r.URL == "" {
			r.URL = "https://google.serper.dev/search"
		}
		r.Header = map[string]string{"X-API-KEY": key}
		r.Body = map[string]any{"q": query, "num": n}
	default:
		r.URL = strings.TrimRight(p.URL, "/") + "/proxy/" + p.Engine
		r.Body = map[string]any{"query": query, "max_results": n}
	}
	return r
}

// found are the results in a provider's reply as it has them. The error says that
// it is no reply to a search, which is not the same as one without results.
func found(name string, body []byte) ([]json.RawMessage, error) {
	var reply struct {
		Items   *[]json.RawMessage `json:"items"`   // google's, absent without results
		Organic *[]json.RawMessage `json:"organic"` // serper's
		Results *[]json.RawMessage `json:"results"` // a Loom server's

		SearchInformation json.RawMessage `json:"searchInformation"`
		SearchParameters  json.RawMessage `json:"searchParameters"`
	}
	if err := json.Unmarshal(body, &reply); err != nil {
		return nil, errors.New("it is not the JSON of a search")
	}
	list, empty := reply.Results, false
	switch name {
	case "google":
		list, empty = reply.Items, reply.SearchInformation != nil
	case "serper":
		list, empty = reply.Organic, reply.SearchParameters != nil
	}
	switch {
	case list != nil:
		return *list, nil
	case empty:
		return nil, nil
	}
	return nil, errors.New("it has no results, and does not say that there are none")
}

// Bounds of what is shown of a result. A page's title is seldom longer than 100
// characters, a snippet than 300; a URL cannot be cut.
const (
	maxTitle   = 300  // characters
	maxSnippet = 1000 // characters
	maxURL     = 2048 // bytes
)

// usable is a provider's result in the shape of all; false without a title or a
// link that leads to the web.
func usable(raw json.RawMessage) (webResult, bool) {
	var item struct {
		Title   string `json:"title"`
		Link    string `json:"link"`
		URL     string `json:"url"`
		Snippet string `json:"snippet"`
	}
	if json.Unmarshal(raw, &item) != nil {
		return webResult{}, false
	}
	var out webResult
	out.Title, _ = web.Text(item.Title, maxTitle)
	out.Snippet, _ = web.Text(item.Snippet, maxSnippet)
	out.URL = webURL(item.Link)
	if item.Link == "" {
		out.URL = webURL(item.URL)
	}
	if out.Title == "" {
		out.Title = out.URL
	}
	return out, out.URL != ""
}

// webURL is a link as it can be followed, "" for what is none to the web: another
// scheme, no host, a password in it, or one that is too long.
func webURL(link string) string {
	u, err := url.Parse(strings.TrimSpace(link))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return ""
	}
	host, _ := web.Text(u.Host, maxURL)
	text := u.String()
	if host != u.Host || len(text) > maxURL { // what is hidden in a host misleads; elsewhere it is escaped
		return ""
	}
	return text
}
