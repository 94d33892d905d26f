package tools

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools/web"
)

//go:embed oracle.md
var oracleText string

// OracleService is another model, behind an OpenAI-compatible chat endpoint.
type OracleService struct {
	URL        string   // of the endpoint, as https://api.openai.com/v1/chat/completions; "": oracle is unavailable
	Model      string   // that a call asks which names none
	Models     []string // others that a call may name
	MaxTokens  int      // the most that an answer may have, and what a call asks for that names no number
	TokenParam string   // what the endpoint calls that: max_tokens or max_completion_tokens
	Timeout    time.Duration
	Key        KeyFunc // nil: the endpoint needs none
}

const (
	minTokens   = 16     // below it no answer makes sense
	maxTokens   = 65_536 // more than any model answers at once
	maxQuestion = 100_000
	maxPrompt   = 20_000
	maxModel    = 200
	maxAnswer   = 100_000 // characters: what hosts pass on to a model
)

// defaultPrompt is what the other model is told of its task.
const defaultPrompt = "You give a second opinion to a software engineer's assistant. Answer the question precisely and briefly. " +
	"Say what you are not sure of, and what would show it. You see nothing but the question."

type oracleArgs struct {
	Query        string   `json:"query" jsonschema:"The question, with all that is needed to answer it: the other model sees nothing else."`
	Model        string   `json:"model,omitempty" jsonschema:"Which model to ask, one of those that the user has configured; without it, the one that is preferred."`
	MaxTokens    int      `json:"max_tokens,omitempty" jsonschema:"The most tokens of the answer; without it, as many as the user allows."`
	Temperature  *float64 `json:"temperature,omitempty" jsonschema:"How much chance there is in the answer; without it, the model's own."`
	SystemPrompt string   `json:"system_prompt,omitempty" jsonschema:"What the other model is told of its task, instead of the usual."`
}

// check refuses a question that asks nothing.
func (a *oracleArgs) check(func(string) bool) error { return notBlank("query", a.Query) }

type oracleResult struct {
	Answer       string `json:"answer" jsonschema:"what the other model says"`
	Model        string `json:"model" jsonschema:"that answered"`
	FinishReason string `json:"finish_reason,omitempty" jsonschema:"why the answer ends, in the service's words"`
	InputTokens  int    `json:"input_tokens,omitempty"`
	OutputTokens int    `json:"output_tokens,omitempty"`
	cut
}

func oracle() (Tool, error) {
	return build(spec[oracleArgs, oracleResult]{
		name: "oracle", text: oracleText,
		defaults: oracleArgs{SystemPrompt: defaultPrompt},
		bounds: bounds{
			"query": {1, maxQuestion}, "model": {1, maxModel}, "max_tokens": {minTokens, maxTokens}, "temperature": {0, 2}, "system_prompt": {1, maxPrompt},
		},
		annotations: Annotations{ReadOnly: true, Idempotent: true, OpenWorld: true},
		codes:       ofServices,
		call:        callOracle,
	})
}

func callOracle(ctx context.Context, tc *Context, args oracleArgs) (oracleResult, error) {
	if err := tc.mayLeave(args.Query, args.SystemPrompt); err != nil {
		return oracleResult{}, err
	}
	s := tc.Services.Oracle
	if s.URL == "" {
		f := unavailable("oracle", "no model is configured")
		f.Hint = "go on without it; a person can configure one in their config.toml: [oracle], see docs/configuration.md"
		return oracleResult{}, f
	}
	if err := s.complete(&args); err != nil {
		return oracleResult{}, err
	}
	key, err := keyOf(ctx, "oracle", s.Key)
	if err != nil {
		return oracleResult{}, err
	}
	reply, err := tc.ask(ctx, "oracle", s.request(args, key))
	if err != nil {
		return oracleResult{}, err
	}
	return answered(args, reply)
}

// complete fills in what a call leaves open, and refuses what is not configured.
func (s OracleService) complete(args *oracleArgs) error {
	if args.Model == "" {
		args.Model = s.Model
	}
	if args.MaxTokens == 0 {
		args.MaxTokens = s.MaxTokens
	}
	if models := append([]string{s.Model}, s.Models...); !slices.Contains(models, args.Model) {
		f := badArgument("model", "%q is not configured", short(args.Model))
		f.Hint = "leave it out, or name one of " + strings.Join(models, ", ")
		return f
	}
	if args.MaxTokens > s.MaxTokens {
		f := badArgument("max_tokens", "%d is above the %d that are configured", args.MaxTokens, s.MaxTokens)
		f.Hint = "leave it out, or ask for less"
		return f
	}
	return nil
}

func (s OracleService) request(args oracleArgs, key string) web.Request {
	body := map[string]any{
		"model": args.Model,
		"messages": []map[string]string{
			{"role": "system", "content": args.SystemPrompt},
			{"role": "user", "content": args.Query},
		},
		s.TokenParam: args.MaxTokens,
	}
	if args.Temperature != nil {
		body["temperature"] = *args.Temperature
	}
	r := web.Request{URL: s.URL, Body: body, Key: key, Timeout: s.Timeout}
	if key != "" {
		r.Header = map[string]string{"Authorization": "Bearer " + key}
	}
	return r
}

// completion is the part of a chat endpoint's reply that is used.
type completion struct {
	Model   string
	Choices []struct {
		FinishReason string `json:"finish_reason"`
		Message      struct {
			Content content
			Refusal string
		}
	}
	Usage json.RawMessage // see used
}

// used are the tokens of a question and its answer, 0 where they are not told.
func (c completion) used() (in, out int) {
	var u struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	}
	_ = json.Unmarshal(c.Usage, &u) // no answer is thrown away for its price
	return max(u.Prompt, 0), max(u.Completion, 0)
}

// content is a text, or a list of parts of which some are text.
type content string

func (c *content) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '[' {
		var text string // null leaves it empty
		err := json.Unmarshal(data, &text)
		*c = content(text)
		return err
	}
	var parts []struct{ Text string }
	err := json.Unmarshal(data, &parts)
	for _, p := range parts {
		*c += content(p.Text)
	}
	return err
}

// answered is the result that a reply holds: a chat completion, or, as a Loom
// server may send it, plain text.
func answered(args oracleArgs, reply web.Reply) (oracleResult, error) {
	var c completion
	text := ""
	if err := json.Unmarshal(reply.Body, &c); err != nil {
		if reply.Type != "text/plain" {
			return oracleResult{}, noAnswer("oracle", reply, "it is not the JSON of a chat completion")
		}
		c, text = completion{}, string(reply.Body)
	}
	var out oracleResult
	out.InputTokens, out.OutputTokens = c.used()
	if len(c.Choices) > 0 {
		first := c.Choices[0]
		out.FinishReason, _ = web.Text(first.FinishReason, maxModel)
		if text = string(first.Message.Content); text == "" {
			text = first.Message.Refusal
		}
	}
	if out.Model, _ = web.Text(c.Model, maxModel); out.Model == "" {
		out.Model = args.Model
	}
	all, _ := web.Prose(text, len(text))
	total := len([]rune(all))
	var long bool
	out.Answer, long = web.Prose(text, maxAnswer)
	switch {
	case strings.TrimSpace(out.Answer) == "" && out.FinishReason == "length":
		f := failf(diffpreview.CodeIO, "oracle: the model thought for all of its %d tokens and said nothing", args.MaxTokens)
		f.Hint = "raise max_tokens, or ask for less"
		return oracleResult{}, f
	case strings.TrimSpace(out.Answer) == "":
		return oracleResult{}, noAnswer("oracle", reply, "it has no answer")
	case long:
		out.cut = cut{Truncated: true, Shown: maxAnswer, Total: int64(total), Unit: "characters", Next: "ask for less at once"}
	case out.FinishReason == "length":
		out.cut = cut{
			Truncated: true, Shown: int64(total), Unit: "characters",
			Next: fmt.Sprintf("raise max_tokens above %d as far as it is allowed, or ask for less", args.MaxTokens),
		}
	}
	return out, nil
}
