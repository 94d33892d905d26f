package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/loomd/loomd/diffpreview"
)

// TestEveryCallLeavesOneLine: how it went and how much it was, nothing of what
// was in it.
func TestEveryCallLeavesOneLine(t *testing.T) {
	const secret = "xyzzy"
	r, err := NewRegistry(
		echoTool("good", func(context.Context) (Result, error) {
			return Result{Structured: map[string]string{"s": secret}, Beside: []Block{{Type: "image", Data: []byte(secret)}}}, nil
		}),
		echoTool("fails", func(context.Context) (Result, error) {
			return Result{}, failf(diffpreview.CodeIO, "%s", secret)
		}),
	)
	must(t, err)
	ended, end := context.WithCancel(context.Background())
	end()
	args := `{"a":"` + secret + `"}`
	for _, c := range []struct {
		ctx        context.Context
		name, code string
		in, out    int
	}{
		{context.Background(), "good", "ok", len(args), len(`{"s":"xyzzy"}xyzzy`)},
		{context.Background(), "fails", "io", len(args), len(`{"code":"io","message":"xyzzy","hint":""}`)},
		{context.Background(), secret, "unknown_tool", len(args), 0},
		{ended, "good", "cancelled", len(args), 0},
	} {
		var log bytes.Buffer
		tc := Context{Logger: slog.New(slog.NewJSONHandler(&log, nil)).With("session", "s1")}
		_, _ = r.Run(c.ctx, c.name, "c7", json.RawMessage(args), tc)
		var line struct {
			Level, Msg, Tool, Session, Call, Code string
			In, Out                               int
			Took                                  *int64
		}
		must(t, json.Unmarshal(log.Bytes(), &line))
		if line.Level != "INFO" || line.Msg != "Tool call" || line.Session != "s1" || line.Call != "c7" || line.Code != c.code || line.In != c.in || line.Out != c.out || line.Took == nil {
			t.Errorf("%s: %s", c.code, log.Bytes())
		}
		if strings.Contains(log.String(), secret) {
			t.Errorf("%s: content in the log: %s", c.code, log.Bytes())
		}
		if want := c.name; c.code != "unknown_tool" && line.Tool != want {
			t.Errorf("%s: tool %q", c.code, line.Tool)
		}
	}
}
