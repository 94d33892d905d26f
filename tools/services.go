package tools

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools/web"
)

// Services are what calls reach beyond the workspace, as a person has configured
// them. The zero value is none: then these tools answer unavailable.
type Services struct {
	Search SearchService
	Oracle OracleService
}

// KeyFunc gives the key of a service when a call needs it. An error that is no
// *[Failure] is told as that alone: its text may hold what nobody shall see.
type KeyFunc func(ctx context.Context) (string, error)

// maxServiceReply bounds the reply of a service, in bytes. It is far more than any
// of them sends, so that one overlong field costs that field and not the reply.
const maxServiceReply = 8 << 20

// maxKey is the longest key, in bytes: what is longer is a file of something else.
const maxKey = 4096

// keyOf asks for the key of a service; "" without a KeyFunc.
func keyOf(ctx context.Context, service string, from KeyFunc) (string, error) {
	if from == nil {
		return "", nil
	}
	key, err := from(ctx)
	if err != nil {
		var failure *Failure
		if errors.As(err, &failure) || ctx.Err() != nil {
			return "", err
		}
		return "", unavailable(service, "its key cannot be had")
	}
	key = strings.TrimRight(key, "\r\n") // as a file ends
	switch {
	case key == "":
		return "", unavailable(service, "its key is empty")
	case len(key) > maxKey, strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", unavailable(service, "its key is too long, or has characters that no key has")
	}
	return key, nil
}

// unavailable is the failure of a service that a person must do something for.
func unavailable(service, format string, args ...any) *Failure {
	f := failf(diffpreview.CodeUnavailable, "%s: %s", service, fmt.Sprintf(format, args...))
	f.Hint = "a person must see to it, in the configuration (docs/configuration.md) or with the service: go on without it"
	return f
}

// mayLeave refuses to send texts away that hold a secret.
func (tc *Context) mayLeave(texts ...string) error {
	for _, text := range texts {
		if name, ok := tc.redactor().Holds([]byte(text)); ok {
			f := failf(diffpreview.CodeDenied, "this would send the secret %s to a service", name)
			f.Hint = "leave it out: the question can be asked without it"
			return f
		}
	}
	return nil
}

// ask sends a request to a service. Its failures are told with what can be done
// about them; tc's client hears of the waits.
func (tc *Context) ask(ctx context.Context, service string, r web.Request) (web.Reply, error) {
	r.MaxReply = maxServiceReply
	r.Waiting = func(wait time.Duration, failure *web.Error) {
		if tc.Progress != nil {
			tc.Progress(Progress{Message: fmt.Sprintf("%s: %s; trying again in %.1f s", service, failure.Text, wait.Seconds())})
		}
	}
	reply, err := web.Do(ctx, r)
	var e *web.Error
	if !errors.As(err, &e) {
		return reply, err
	}
	var f *Failure
	switch e.Kind {
	case web.Unavailable:
		f = unavailable(service, "%v", e)
	case web.Timeout:
		f = failf(CodeTimeout, "%s: %v", service, e)
		f.Hint = "try again later, or go on without it"
	case web.TooLarge:
		f = failf(diffpreview.CodeTooLarge, "%s: %v", service, e)
		f.Hint = "ask for less, or go on without it"
	default:
		f = failf(diffpreview.CodeIO, "%s: %v", service, e)
		f.Hint = "try again later, or go on without it"
	}
	if e.Status > 0 {
		f.with("status", e.Status)
	}
	if e.RetryAfter > 0 {
		secs := int(math.Ceil(e.RetryAfter.Seconds()))
		f.with("retry_after_secs", secs)
		f.Hint = fmt.Sprintf("try again in %d s, or go on without it", secs)
	}
	return web.Reply{}, f
}

// noAnswer is the failure of a reply that is none that the service makes.
func noAnswer(service string, reply web.Reply, why string) *Failure {
	if reply.IsPage() {
		why = "it is a web page"
	}
	f := failf(diffpreview.CodeIO, "%s: the reply is not to be understood: %s", service, why)
	f.Hint = "this is no answer, and not an empty one; tell a person if it goes on: the URL in the configuration may be wrong"
	return f
}
