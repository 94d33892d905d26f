package secret

import (
	"context"
	"fmt"
	"log/slog"
)

// Handler passes log records on to next without secrets, neither in the message
// nor in the values, whatever their types.
func (r *Redactor) Handler(next slog.Handler) slog.Handler { return handler{r, next} }

type handler struct {
	r    *Redactor
	next slog.Handler
}

func (h handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

func (h handler) Handle(ctx context.Context, rec slog.Record) error {
	if h.r.Idle() {
		return h.next.Handle(ctx, rec)
	}
	out := slog.NewRecord(rec.Time, rec.Level, h.r.String(rec.Message), rec.PC)
	rec.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(h.attr(a))
		return true
	})
	return h.next.Handle(ctx, out)
}

// WithAttrs redacts with what is known now: who binds a value to a logger does so
// before there are sessions.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	out := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		out[i] = h.attr(a)
	}
	return handler{h.r, h.next.WithAttrs(out)}
}

func (h handler) WithGroup(name string) slog.Handler { return handler{h.r, h.next.WithGroup(name)} }

func (h handler) attr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		return slog.String(a.Key, h.r.String(v.String()))
	case slog.KindGroup:
		var group []any
		for _, member := range v.Group() {
			group = append(group, h.attr(member))
		}
		return slog.Group(a.Key, group...)
	case slog.KindAny:
		text := fmt.Sprintf("%+v", v.Any())
		if _, ok := h.r.Holds([]byte(text)); ok {
			return slog.String(a.Key, h.r.String(text))
		}
	}
	return slog.Attr{Key: a.Key, Value: v}
}
