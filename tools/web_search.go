package tools

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/loomd/loomd/tools/web"
)

//go:embed web_search.md
var webSearchText string

const (
	maxQuery   = 2000 // characters; Google takes 2048
	maxResults = 10   // what one page of a search has
)

type searchArgs struct {
	Query      string `json:"query" jsonschema:"What to search for, as you would type it into a search engine."`
	MaxResults int    `json:"max_results,omitempty" jsonschema:"The most results to return."`
	Provider   string `json:"provider,omitempty" jsonschema:"Who searches; without it, whom the user prefers."`
}

// check refuses a query of which nothing would be searched for.
func (a *searchArgs) check(func(string) bool) error { return notBlank("query", a.Query) }

// notBlank refuses a text without a visible character.
func notBlank(field, value string) error {
	if line, _ := web.Text(value, 1); line == "" {
		return badArgument(field, "must not be blank")
	}
	return nil
}

type webResult struct {
	Title    string `json:"title"`
	URL      string `json:"url" jsonschema:"http or https"`
	Snippet  string `json:"snippet" jsonschema:"a piece of the page, or empty"`
	Position int    `json:"position" jsonschema:"its place among what was found, from 1"`
}

type searchResult struct {
	Query    string      `json:"query" jsonschema:"what was searched for"`
	Provider string      `json:"provider" jsonschema:"who searched"`
	Results  []webResult `json:"results" jsonschema:"best first; empty when nothing was found"`
	Skipped  int         `json:"skipped,omitempty" jsonschema:"results left out because they lead nowhere on the web"`
	cut
}

func webSearch() (Tool, error) {
	return build(spec[searchArgs, searchResult]{
		name: "web_search", text: webSearchText,
		defaults:    searchArgs{MaxResults: 5},
		bounds:      bounds{"query": {1, maxQuery}, "max_results": {1, maxResults}},
		choices:     map[string][]string{"provider": SearchProviders},
		annotations: Annotations{ReadOnly: true, Idempotent: true, OpenWorld: true},
		codes:       ofServices,
		call:        callWebSearch,
	})
}

func callWebSearch(ctx context.Context, tc *Context, args searchArgs) (searchResult, error) {
	if err := tc.mayLeave(args.Query); err != nil {
		return searchResult{}, err
	}
	name, provider, err := tc.Services.Search.provider(args.Provider)
	if err != nil {
		return searchResult{}, err
	}
	service := "web search by " + name
	key, err := keyOf(ctx, service, provider.Key)
	if err != nil {
		return searchResult{}, err
	}
	query, _ := web.Text(args.Query, maxQuery)
	request := provider.request(name, key, query, args.MaxResults)
	request.Timeout = tc.Services.Search.Timeout
	reply, err := tc.ask(ctx, service, request)
	if err != nil {
		return searchResult{}, err
	}
	list, err := found(name, reply.Body)
	if err != nil {
		return searchResult{}, noAnswer(service, reply, err.Error())
	}
	out := searchResult{Query: query, Provider: name, Results: []webResult{}}
	left := 0
	for i, raw := range list {
		result, ok := usable(raw)
		result.Position = i + 1
		switch {
		case !ok:
			out.Skipped++
		case len(out.Results) == args.MaxResults:
			left++
		default:
			out.Results = append(out.Results, result)
		}
	}
	if len(list) > 0 && len(out.Results) == 0 {
		return searchResult{}, noAnswer(service, reply, fmt.Sprintf("none of its %d results leads to the web", len(list)))
	}
	if left > 0 {
		out.cut = cut{Truncated: true, Shown: int64(len(out.Results)), Total: int64(len(out.Results) + left), Unit: "results", Next: "search for something narrower"}
		if args.MaxResults < maxResults {
			out.Next = fmt.Sprintf("raise max_results to at most %d, or search for something narrower", maxResults)
		}
	}
	return out, nil
}

// provider is the one that a call names, or the default for "".
func (s SearchService) provider(asked string) (string, SearchProvider, error) {
	var have []string
	for _, name := range SearchProviders {
		if _, ok := s.Providers[name]; ok {
			have = append(have, name)
		}
	}
	name := asked
	if name == "" {
		name = s.Default
	}
	switch {
	case len(have) == 0:
		f := unavailable("web search", "no provider is configured")
		f.Hint = "go on without it; a person can configure one in their config.toml: [web_search.google], [web_search.serper] or [web_search.proxy], see docs/configuration.md"
		return "", SearchProvider{}, f
	case !slices.Contains(have, name):
		f := unavailable("web search", "the provider %s is not configured", name)
		f.Hint = "leave out provider, or use what is configured: " + strings.Join(have, ", ")
		return "", SearchProvider{}, f
	}
	return name, s.Providers[name], nil
}
