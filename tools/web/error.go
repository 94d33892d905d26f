package web

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Kind says what can be done about a failure.
type Kind int

const (
	Failed      Kind = iota // it may go better another time, or with another request
	Unavailable             // a person must do something: the key, the URL, the account
	Timeout                 // the time was up
	TooLarge                // the reply is over its bound
)

// Error is a request that got no reply of success. It has neither the URL nor the
// key in it, and is of one line.
type Error struct {
	Kind       Kind
	Host       string        // with the port, if it is not that of the scheme
	Status     int           // of the last reply, 0 when there was none
	Attempts   int           // that were made
	RetryAfter time.Duration // what the service asked to wait for, 0 when it did not
	Text       string        // what is wrong
	Said       string        // the service's own words, "" for none; at most maxSaid characters

	retry bool // it may go better the next time
}

func (e *Error) Error() string {
	out := e.Text
	if e.Host != "" {
		out = e.Host + ": " + out
	}
	if e.Said != "" {
		out += ": " + strconv.Quote(e.Said)
	}
	if e.Attempts > 1 {
		out += fmt.Sprintf(" (%d attempts)", e.Attempts)
	}
	return out
}

const (
	maxSaid    = 300     // characters of a service's own words
	maxRefusal = 8 << 10 // bytes of a refusal that are read to find them
	maxText    = 300     // characters of a network's failure
)

// errNotHere is what is reached without TLS and is not on this machine.
var errNotHere = errors.New("not reached by https, and not on this machine")

// errProxy is a proxy of the environment that is none. What package http says of
// it would have its password.
var errProxy = errors.New("the proxy that the daemon's environment names (HTTPS_PROXY) is no URL")

// broken is the failure of an attempt that got no reply.
func (c *call) broken(err error) *Error {
	var at *url.Error
	if errors.As(err, &at) { // its text has the URL, and so the key
		err = at.Err
	}
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, errNotHere), errors.Is(err, errProxy):
		return &Error{Kind: Unavailable, Text: err.Error()}
	case errors.As(err, &certificate):
		return &Error{Kind: Unavailable, Text: "its certificate is not trusted: " + c.clean(certificate.Err.Error(), maxText)}
	case errors.Is(err, http.ErrSchemeMismatch):
		return &Error{Kind: Unavailable, Text: "it does not speak TLS"}
	case errors.As(err, &dns) && dns.IsNotFound:
		return &Error{Kind: Failed, Text: "there is no such host"}
	}
	return &Error{Kind: Failed, Text: c.clean(err.Error(), maxText), retry: true}
}

// refused is the failure that a reply with no status of success is.
func (c *call) refused(resp *http.Response) *Error {
	status := resp.StatusCode
	out := &Error{Kind: Failed, Status: status, Text: strconv.Itoa(status), retry: goesBetterLater(status)}
	if text := http.StatusText(status); text != "" {
		out.Text += " " + text
	}
	if out.retry {
		out.RetryAfter = retryAfter(resp.Header, time.Now())
	}
	switch {
	case status < 400:
		out.Kind = Unavailable
		if to, err := resp.Location(); err == nil {
			out.Text += ", which is not followed: it leads to " + c.clean(to.Host, maxText)
		}
		return out
	case status == http.StatusUnauthorized:
		// What is said here can hold a part of the key.
		out.Kind = Unavailable
		return out
	case status == http.StatusPaymentRequired, status == http.StatusForbidden, status == http.StatusNotFound, status == http.StatusMethodNotAllowed:
		out.Kind = Unavailable
	}
	data, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal)) // what there is of it
	out.Said = c.clean(saidIn(data), maxSaid)
	return out
}

// saidIn finds the message in a refusal: {"error": {"message": …}}, {"error": …}
// or {"message": …}. What is not JSON says nothing: most often it is a page.
func saidIn(refusal []byte) string {
	var whole struct {
		Error   json.RawMessage
		Message string
	}
	if json.Unmarshal(refusal, &whole) != nil && len(whole.Error) == 0 {
		return ""
	}
	var text string
	if json.Unmarshal(whole.Error, &text) == nil && text != "" {
		return text
	}
	var inner struct{ Message string }
	if json.Unmarshal(whole.Error, &inner) == nil && inner.Message != "" {
		return inner.Message
	}
	return whole.Message
}

// clean makes a line of what others say, without the key.
func (c *call) clean(s string, most int) string {
	text, _ := Text(c.redact(s), most)
	return text
}

// bytesName is a bound as people read it.
func bytesName(n int64) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}
