package tools

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"
)

// codeOK, codeCancelled and codeUnknownTool stand in the log where no failure
// code is.
const (
	codeOK          = "ok"
	codeCancelled   = "cancelled"
	codeUnknownTool = "unknown_tool"
)

// logCall writes the one line that every call leaves in the log: its tool, its
// id, how it ended, how long it took, and how many bytes of JSON went in and
// came out. Nothing of what is in them is told, nor a name that no tool has.
func (r *Registry) logCall(ctx context.Context, tc *Context, name string, args json.RawMessage, out *Outcome, err error, took time.Duration) {
	code := out.Code
	var unknown *UnknownToolError
	switch {
	case errors.As(err, &unknown):
		name, code = "", codeUnknownTool
	case err != nil:
		code = codeCancelled
	case code == "":
		code = codeOK
	}
	tc.Logger.LogAttrs(ctx, slog.LevelInfo, "Tool call",
		slog.String("tool", name), slog.String("call", short(tc.CallID)), slog.String("code", code),
		slog.Duration("took", took), slog.Int("in", len(args)), slog.Int("out", out.size()))
}

// size is how many bytes an outcome has: its structured result, and the images
// beside it.
func (o *Outcome) size() int {
	n := len(o.Structured)
	for _, p := range o.Pieces {
		n += len(p)
	}
	for _, b := range o.Content {
		n += len(b.Data)
	}
	return n
}
