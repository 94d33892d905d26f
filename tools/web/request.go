package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Request is one request to a service, and its bounds.
type Request struct {
	URL      string            // the endpoint: https, or http when it is on this machine
	Query    url.Values        // nil: none
	Header   map[string]string // beside Accept, Content-Type and User-Agent
	Body     any               // what is sent by POST, as JSON; nil: it is a GET
	Key      string            // what of the above no reply and no error repeats, "" for none
	Timeout  time.Duration     // of all attempts and the waits between them
	Attempt  time.Duration     // of one attempt; 0: Timeout
	MaxReply int64             // bytes, after decompression
	// Waiting is told before each wait how long it will be and for what; nil: nobody
	// is told.
	Waiting func(wait time.Duration, failure *Error)

	dial dialer // nil: the network
}

type dialer func(ctx context.Context, network, address string) (net.Conn, error)

// Reply is a reply with a status of success (2xx).
type Reply struct {
	Body     []byte // at most MaxReply bytes; the key in it is replaced by a mark
	Type     string // the media type in lower case, without parameters; "" when there is none
	Attempts int    // it took, from 1
}

// IsPage reports whether the reply is a page for people, as those who must log in
// or solve a puzzle get it in the place of an answer.
func (r Reply) IsPage() bool { return r.Type == "text/html" || r.Type == "application/xhtml+xml" }

// maxTries is how many attempts there are at most: after three waits of growing
// length a service is down rather than busy.
const maxTries = 4

// Do sends a request until there is a reply, as often and as long as the request
// and the service allow. The error is an *Error, or ctx's when that was cancelled.
func Do(ctx context.Context, r Request) (Reply, error) {
	c := call{Request: r, redact: redactor(r.Key)}
	if failure := c.prepare(); failure != nil {
		return Reply{}, failure
	}
	defer c.client.CloseIdleConnections()
	limited, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	left := r.Timeout
	if end, ok := limited.Deadline(); ok {
		left = time.Until(end)
	}
	reply, err := backoff.Retry(limited, func() (Reply, error) {
		reply, failure := c.attempt(limited)
		if failure == nil {
			return reply, nil
		}
		c.pauses.asked = failure.RetryAfter
		if !failure.retry {
			return reply, backoff.Permanent(failure)
		}
		return reply, failure
	}, backoff.WithBackOff(&c.pauses), backoff.WithMaxTries(maxTries), backoff.WithMaxElapsedTime(left),
		backoff.WithNotify(func(err error, wait time.Duration) {
			var failure *Error
			if r.Waiting != nil && errors.As(err, &failure) {
				r.Waiting(wait, failure)
			}
		}))
	switch {
	case err == nil:
		return reply, nil
	case errors.Is(ctx.Err(), context.Canceled):
		return Reply{}, ctx.Err()
	case limited.Err() != nil:
		return Reply{}, c.late()
	}
	var failure *Error
	errors.As(err, &failure) // every attempt fails with one
	return Reply{}, failure
}

// call is a Request on its way.
type call struct {
	Request
	redact   func(string) string
	host     string
	url      string
	body     []byte // of a POST
	client   *http.Client
	pauses   pauses
	attempts int
	last     *Error // of the last attempt that ended before the time was up
}

// prepare makes the client and all of the request that is the same in each
// attempt.
func (c *call) prepare() *Error {
	at, err := url.Parse(c.URL)
	if err != nil || at.Hostname() == "" || at.Scheme != "https" && at.Scheme != "http" || at.User != nil {
		return &Error{Kind: Unavailable, Text: "the URL that is configured is none of a service"}
	}
	c.host = at.Host
	if len(c.Query) > 0 {
		at.RawQuery = c.Query.Encode()
	}
	c.url = at.String()
	if c.Body != nil {
		if c.body, err = json.Marshal(c.Body); err != nil {
			return &Error{Kind: Failed, Text: "the request cannot be written as JSON"}
		}
	}
	c.pauses = newPauses()
	c.client = &http.Client{
		Transport:     newTransport(at.Scheme == "http", c.dial),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return nil
}

// attempt sends the request once.
func (c *call) attempt(ctx context.Context) (Reply, *Error) {
	c.attempts++
	within := c.Attempt
	if within <= 0 || within > c.Timeout {
		within = c.Timeout
	}
	own, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	reply, failure := c.send(own)
	if failure == nil {
		reply.Attempts = c.attempts
		return reply, nil
	}
	if failure.Status == 0 && errors.Is(own.Err(), context.DeadlineExceeded) {
		failure = &Error{Kind: Timeout, Text: "no answer within " + within.String(), retry: true}
	}
	failure.Host, failure.Attempts = c.host, c.attempts
	if ctx.Err() == nil {
		c.last = failure
	}
	return Reply{}, failure
}

func (c *call) send(ctx context.Context) (Reply, *Error) {
	method, body := http.MethodGet, io.Reader(nil)
	if c.Body != nil {
		method, body = http.MethodPost, bytes.NewReader(c.body)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.url, body)
	if err != nil { // which quotes the URL
		return Reply{}, &Error{Kind: Unavailable, Text: "the URL that is configured is none of a service"}
	}
	req.Header.Set("User-Agent", "loomd")
	req.Header.Set("Accept", "application/json")
	if c.Body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range c.Header {
		req.Header.Set(name, value)
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return Reply{}, c.broken(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return Reply{}, c.refused(resp)
	}
	tooLarge := &Error{Kind: TooLarge, Status: resp.StatusCode, Text: "the reply has more than " + bytesName(c.MaxReply)}
	if resp.ContentLength > c.MaxReply {
		return Reply{}, tooLarge
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, c.MaxReply+1))
	switch {
	case int64(len(data)) > c.MaxReply:
		return Reply{}, tooLarge
	case err != nil:
		return Reply{}, &Error{Kind: Failed, Text: "the reply broke off", retry: true}
	}
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")) // which lowers its case
	return Reply{Body: []byte(c.redact(string(data))), Type: media}, nil
}

// late is the failure of a call whose time is up.
func (c *call) late() *Error {
	out := &Error{Kind: Timeout, Host: c.host, Attempts: c.attempts, Text: "no answer within " + c.Timeout.String()}
	if c.last != nil {
		out.Status, out.RetryAfter = c.last.Status, c.last.RetryAfter
		out.Text += "; the attempt before: " + c.last.Text
	}
	return out
}
