package tools

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestSearchRequests: each provider is asked as it wants to be.
func TestSearchRequests(t *testing.T) {
	b := newBench(t, nil)
	got := ""
	b.services = servicesAt(serveService(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = fmt.Sprintf("%s %s %s key=%s", r.Method, r.URL, body, r.Header.Get("X-API-KEY"))
		io.WriteString(w, `{"items":[],"organic":[],"results":[]}`)
	}))
	for provider, want := range map[string]string{
		"google": "GET /google?cx=the-engine&key=" + theKey + "&num=3&q=a+%26+b%3F  key=",
		"serper": `POST /serper {"num":3,"q":"a \u0026 b?"} key=` + theKey,
		"proxy":  `POST /proxy/cse {"max_results":3,"query":"a \u0026 b?"} key=`,
	} {
		a := b.ok("web_search", args{"query": " a &\n b? ", "max_results": 3, "provider": provider})
		if got != want || a["provider"] != provider || a["query"] != "a & b?" || len(a["results"].([]any)) != 0 {
			t.Errorf("%s: got %s\nwant %s\n%v", provider, got, want, a)
		}
	}
	if a := b.ok("web_search", args{"query": "q"}); a["provider"] != "google" || !strings.Contains(got, "num=5") {
		t.Errorf("%s %v", got, a)
	}
}

// TestSearchResults: whatever a provider sends, results have one shape and bounds.
func TestSearchResults(t *testing.T) {
	b := newBench(t, nil)
	long := strings.Repeat("€", 3000)
	for _, c := range []struct{ provider, reply, want string }{
		{
			"google", `{"kind":"customsearch#search","items":[{"title":"T","link":"https://a.example/","snippet":"S","htmlSnippet":"<b>S</b>"}]}`,
			`[{"title":"T","url":"https://a.example/","snippet":"S","position":1}]`,
		},
		{
			"serper", `{"organic":[{"title":"T","link":"https://a.example/?q=1#f","snippet":"S","position":9,"date":"x"}]}`,
			`[{"title":"T","url":"https://a.example/?q=1#f","snippet":"S","position":1}]`,
		},
		{
			"proxy", `{"query":"q","results":[{"title":"T","url":"http://a.example","snippet":"S","display_link":"a","rank":1}]}`,
			`[{"title":"T","url":"http://a.example","snippet":"S","position":1}]`,
		},
		{"google", `{"searchInformation":{"totalResults":"0"}}`, `[]`},
		{"serper", `{"searchParameters":{"q":"q"}}`, `[]`},
		{
			"google", `{"items":[{"title":"a\u0000\u001b[1m\r\nb\u202e","link":" https://a.example/ä b ","snippet":"` + "\xff" + `"}]}`,
			`[{"title":"a [1m b","url":"https://a.example/%C3%A4%20b","snippet":"�","position":1}]`,
		},
		{"google", `{"items":[{"link":"https://a.example"}]}`, `[{"title":"https://a.example","url":"https://a.example","snippet":"","position":1}]`},
		{
			"google", `{"items":[{"title":"` + long + `","link":"https://a.example","snippet":"` + long + `"}]}`,
			`[{"title":"` + strings.Repeat("€", maxTitle-1) + `…","url":"https://a.example","snippet":"` + strings.Repeat("€", maxSnippet-1) + `…","position":1}]`,
		},
		{
			"google", `{"items":[{"title":"it says ` + theKey + `","link":"https://a.example/?key=` + theKey + `"}]}`,
			`[{"title":"it says [key]","url":"https://a.example/?key=[key]","snippet":"","position":1}]`,
		},
	} {
		b.services = servicesAt(serveText(t, "application/json", c.reply))
		a := b.ok("web_search", args{"query": "q", "provider": c.provider})
		var want any
		must(t, json.Unmarshal([]byte(c.want), &want))
		if fmt.Sprint(a["results"]) != fmt.Sprint(want) || a["truncated"] != false || a["skipped"] != nil {
			t.Errorf("%.200s:\n%v\nwant %v", c.reply, a, want)
		}
	}
}

// TestSearchSkips: what leads nowhere on the web is left out and counted; when
// nothing else is there, the search was none.
func TestSearchSkips(t *testing.T) {
	b := newBench(t, nil)
	bad := []string{
		`{"title":"a"}`, `{"title":"a","link":"javascript:alert(1)"}`, `{"title":"a","link":"ftp://a.example"}`, `{"title":"a","link":"/relative"}`,
		`{"title":"a","link":"https://"}`, `{"title":"a","link":"https://user:pass@a.example"}`, `{"title":"a","link":"https://a.example/\u0000"}`,
		`{"title":"a","link":"https://a.example/` + strings.Repeat("x", maxURL) + `"}`, `{"title":"a","link":"file:///etc/passwd"}`,
		`{"title":5,"link":"https://a.example"}`, `null`, `"a"`, `[]`, `{"title":"a","link":"https://a\u202e.example"}`, `{"title":"a","link":"data:text/html,x"}`,
	}
	b.services = servicesAt(serveText(t, "application/json", `{"items":[`+strings.Join(bad, ",")+`,{"title":"good","link":"https://a.example"}]}`))
	a := b.ok("web_search", args{"query": "q"})
	results := a["results"].([]any)
	if len(results) != 1 || a["skipped"] != float64(len(bad)) || results[0].(map[string]any)["position"] != float64(len(bad)+1) {
		t.Errorf("%v", a)
	}
	for _, one := range bad {
		b.services = servicesAt(serveText(t, "application/json", `{"items":[`+one+`]}`))
		if a := b.fails("io", "web_search", args{"query": "q"}); !strings.Contains(a["message"].(string), "none of its 1 results leads to the web") {
			t.Errorf("%.100s: %v", one, a)
		}
	}
}

func TestC224_NothingFoundAndFailure(t *testing.T) {
	b := newBench(t, nil)
	b.services = servicesAt(serveText(t, "application/json", `{"items":[]}`))
	if a := b.ok("web_search", args{"query": "q"}); len(a["results"].([]any)) != 0 || a["truncated"] != false {
		t.Errorf("nothing found: %v", a)
	}
	b.services = servicesAt(serveService(t, status(503, "")))
	b.services.Search.Timeout = time.Second
	a := b.fails("io", "web_search", args{"query": "q"})
	if !strings.Contains(a["message"].(string), "503 Service Unavailable") {
		t.Errorf("always 503: %v", a)
	}
	b.services = servicesAt(serveText(t, "text/html; charset=utf-8", "<html>prove that you are human</html>"))
	b.fails("io", "web_search", args{"query": "q"})
}

func TestC227_Limits(t *testing.T) {
	b := newBench(t, nil)
	var items []string
	for i := range 25 {
		snippet := "s"
		switch i {
		case 1:
			snippet = strings.Repeat("ab ", 700_000)
		case 2:
			snippet = "\xff\xc3"
		}
		items = append(items, fmt.Sprintf(`{"title":"t%d","link":"https://a.example/%d","snippet":"%s"}`, i, i, snippet))
	}
	b.services = servicesAt(serveText(t, "application/json", `{"items":[`+strings.Join(items, ",")+`]}`))
	for _, c := range []struct {
		args  args
		shown int
		next  string
	}{
		{args{"query": "q"}, 5, "raise max_results to at most 10, or"},
		{args{"query": "q", "max_results": 3}, 3, "raise max_results"},
		{args{"query": "q", "max_results": 10}, 10, "search for something narrower"},
	} {
		out, a := b.call("web_search", c.args)
		if len(a["results"].([]any)) != c.shown || a["total"] != 25.0 || a["shown"] != float64(c.shown) || !strings.HasPrefix(a["next"].(string), c.next) || len(out.Structured) > 40_000 {
			t.Errorf("%v: %d bytes %.300s", c.args, len(out.Structured), out.Structured)
		}
	}
	for _, bad := range []args{{"query": "q", "max_results": 0}, {"query": "q", "max_results": -1}, {"query": "q", "max_results": 50}} {
		if a := b.fails("invalid_arguments", "web_search", bad); a["field"] != "max_results" {
			t.Errorf("%v: %v", bad, a)
		}
	}
	for _, query := range []string{"", " \n", "\u200b", strings.Repeat("x", 1<<20)} {
		if a := b.fails("invalid_arguments", "web_search", args{"query": query}); a["field"] != "query" {
			t.Errorf("%.10q: %v", query, a)
		}
	}
}

// TestSearchProviders: one that is not configured is told with those that are.
func TestSearchProviders(t *testing.T) {
	b := newBench(t, nil)
	a := b.fails("unavailable", "web_search", args{"query": "q"})
	if !strings.Contains(a["hint"].(string), "[web_search.google], [web_search.serper] or [web_search.proxy]") {
		t.Errorf("%v", a)
	}
	b.services = servicesAt(serveText(t, "application/json", `{"organic":[]}`))
	delete(b.services.Search.Providers, "google")
	b.services.Search.Default = "serper"
	if a := b.ok("web_search", args{"query": "q"}); a["provider"] != "serper" {
		t.Errorf("%v", a)
	}
	a = b.fails("unavailable", "web_search", args{"query": "q", "provider": "google"})
	if !strings.HasSuffix(a["hint"].(string), "what is configured: serper, proxy") {
		t.Errorf("%v", a)
	}
}
