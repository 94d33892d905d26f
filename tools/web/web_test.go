package web

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds what must come at once.
const patience = 20 * time.Second

const key = "s3cr3t/+key=value"

// serve is a service on this machine, and a request to it that is sent once.
func serve(t *testing.T, handle http.HandlerFunc) Request {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	return Request{URL: server.URL, Key: key, Query: url.Values{"key": {key}}, Timeout: patience, MaxReply: 1 << 20}
}

// fails sends a request that must fail, in a way that does not tell the key.
func fails(t *testing.T, r Request) *Error {
	t.Helper()
	reply, err := Do(context.Background(), r)
	var failure *Error
	if !errors.As(err, &failure) {
		t.Fatalf("got %.100q, %v", reply.Body, err)
	}
	for _, form := range []string{key, url.QueryEscape(key), url.PathEscape(key)} {
		if strings.Contains(failure.Error(), form) {
			t.Errorf("the key is told: %s", failure)
		}
	}
	if strings.ContainsAny(failure.Error(), "\n\x00") || strings.Contains(failure.Error(), "key=") {
		t.Errorf("a failure of several lines, or with a URL: %q", failure)
	}
	return failure
}

// Statuses that nothing makes better end the call with the first reply.
func TestStatusesThatStay(t *testing.T) {
	for status, kind := range map[int]Kind{
		300: Unavailable, 301: Unavailable, 304: Unavailable, 307: Unavailable, 400: Failed, 401: Unavailable, 402: Unavailable, 403: Unavailable,
		404: Unavailable, 405: Unavailable, 409: Failed, 410: Failed, 413: Failed, 418: Failed, 422: Failed, 451: Failed, 499: Failed,
	} {
		sent := 0
		r := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			sent++
			w.WriteHeader(status)
		})
		failure := fails(t, r)
		if failure.Status != status || failure.Kind != kind || sent != 1 || failure.Attempts != 1 || !strings.Contains(failure.Error(), fmt.Sprint(status)) {
			t.Errorf("%d: %+v after %d requests", status, failure, sent)
		}
	}
}

// What a service says of its refusal is told in one line, without the key.
func TestRefusalsAreQuoted(t *testing.T) {
	for _, c := range []struct {
		status     int
		body, said string
	}{
		{400, `{"error":{"code":400,"message":"API key not valid.\nSee: \u001b[1mhelp"}}`, "API key not valid. See: [1mhelp"},
		{403, `{"message":"Unauthorized.","statusCode":403}`, "Unauthorized."},
		{422, `{"error":"bad model"}`, "bad model"},
		{400, `{"error":{"message":"no such key ` + key + ` or ` + url.QueryEscape(key) + `"}}`, "no such key [key] or [key]"},
		{401, `{"error":{"message":"Incorrect key s3cr*****alue"}}`, ""},
		{400, `{"error":{"message":["a"]},"message":7}`, ""},
		{400, `<html>no</html>`, ""},
		{400, ``, ""},
		{400, `{"message":"` + strings.Repeat("x", 400) + `"}`, strings.Repeat("x", maxSaid-1) + "…"},
	} {
		failure := fails(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			io.WriteString(w, c.body)
		}))
		if failure.Said != c.said {
			t.Errorf("%s: said %q, want %q", c.body, failure.Said, c.said)
		}
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("followed, with %v", r.Header)
	}))
	t.Cleanup(other.Close)
	for _, status := range []int{301, 302, 303, 307, 308} {
		r := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", other.URL+"/?key="+url.QueryEscape(key))
			w.WriteHeader(status)
		})
		r.Header = map[string]string{"X-API-KEY": key}
		failure := fails(t, r)
		if failure.Kind != Unavailable || !strings.Contains(failure.Error(), "it leads to "+strings.TrimPrefix(other.URL, "http://")) {
			t.Errorf("%d: %v", status, failure)
		}
	}
}

func TestRepliesAreBounded(t *testing.T) {
	endless := func(w http.ResponseWriter) {
		for {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	}
	for name, handle := range map[string]http.HandlerFunc{
		"endless":      func(w http.ResponseWriter, _ *http.Request) { endless(w) },
		"said to be":   func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "99999999999") },
		"one too many": func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 1<<20+1)) },
		"compressed": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			packed := gzip.NewWriter(w)
			for range 1 << 10 {
				if _, err := packed.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
			packed.Close()
		},
	} {
		sent := 0
		failure := fails(t, serve(t, func(w http.ResponseWriter, r *http.Request) { sent++; handle(w, r) }))
		if failure.Kind != TooLarge || sent != 1 || !strings.Contains(failure.Error(), "more than 1 MiB") {
			t.Errorf("%s: %v after %d requests", name, failure, sent)
		}
	}
	reply, err := Do(context.Background(), serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 1<<20)) }))
	if err != nil || len(reply.Body) != 1<<20 {
		t.Errorf("exactly as many: %d bytes, %v", len(reply.Body), err)
	}
	if failure := fails(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(400)
		endless(w)
	})); failure.Status != 400 {
		t.Errorf("an endless refusal: %v", failure)
	}
}

// A request is what it says, and the key that comes back is not shown.
func TestRequestAndReply(t *testing.T) {
	r := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "Application/JSON; charset=utf-8")
		fmt.Fprintf(w, "%s %s %s %s %q %q %v", r.Method, r.URL.Path, r.Header.Get("Content-Type"), r.Header.Get("User-Agent"), body, r.Header.Get("X-API-KEY"), err)
	})
	r.Query = nil
	r.URL += "/search"
	r.Header, r.Body = map[string]string{"X-API-KEY": key}, map[string]string{"q": "é"}
	reply, err := Do(context.Background(), r)
	const want = `POST /search application/json loomd "{\"q\":\"é\"}" "[key]" <nil>`
	if err != nil || string(reply.Body) != want || reply.Type != "application/json" || reply.Attempts != 1 || reply.IsPage() {
		t.Errorf("%s %+v %v", reply.Body, reply, err)
	}
	r = serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, r.Method, " ", r.URL.RawQuery)
	})
	reply, err = Do(context.Background(), r)
	if err != nil || string(reply.Body) != "GET key=[key]" || !reply.IsPage() {
		t.Errorf("%s %+v %v", reply.Body, reply, err)
	}
}

// Without TLS nothing leaves this machine, and a certificate must be trusted.
func TestTransport(t *testing.T) {
	failure := fails(t, Request{URL: "http://192.0.2.1/", Key: key, Timeout: patience, MaxReply: 1, dial: nonLocal(t)})
	if failure.Kind != Unavailable || failure.Attempts != 1 || !strings.Contains(failure.Text, "not on this machine") {
		t.Errorf("without TLS: %+v", failure)
	}
	quiet := httptest.NewUnstartedServer(http.NotFoundHandler())
	quiet.Config.ErrorLog = log.New(io.Discard, "", 0)
	quiet.StartTLS()
	t.Cleanup(quiet.Close)
	failure = fails(t, Request{URL: quiet.URL, Key: key, Timeout: patience, MaxReply: 1})
	if failure.Kind != Unavailable || failure.Attempts != 1 || !strings.Contains(failure.Text, "certificate is not trusted") {
		t.Errorf("a certificate of nobody: %+v", failure)
	}
	plain := serve(t, func(http.ResponseWriter, *http.Request) {})
	plain.URL = "https" + strings.TrimPrefix(plain.URL, "http")
	if failure = fails(t, plain); failure.Kind != Unavailable || failure.Text != "it does not speak TLS" {
		t.Errorf("https to a server without: %+v", failure)
	}
	for _, bad := range []string{"", "ftp://h/", "https://", "https://user:pass@h/", "http://h:port/", "://", "https://h/\x00"} {
		if failure := fails(t, Request{URL: bad, Key: key, Timeout: patience, MaxReply: 1}); failure.Kind != Unavailable || failure.Attempts != 0 {
			t.Errorf("%q: %+v", bad, failure)
		}
	}
}

// nonLocal connects to a listener of this machine and says of it what dialHere
// finds out of any other.
func nonLocal(t *testing.T) dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if network != "tcp" || address != "192.0.2.1:80" {
			t.Errorf("dialled %s %s", network, address)
		}
		return hereOnly(foreign{})
	}
}

// foreign is a connection that ends on another machine.
type foreign struct{ net.Conn }

func (foreign) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80} }
func (foreign) Close() error         { return nil }

func TestText(t *testing.T) {
	for _, c := range []struct {
		in   string
		most int
		want string
		cut  bool
	}{
		{"  a\r\n\tb\x00\x1b[1m ", 99, "a b [1m", false},
		{"a\u202eb\u2066c\ufeff\U000e0041d\u00ad", 99, "abcd", false},
		{"می\u200cخواهم 👩\u200d💻", 99, "می\u200cخواهم 👩\u200d💻", false},
		{"a\xff\xfeb", 99, "a\ufffd\ufffdb", false},
		{"€€€€", 4, "€€€€", false},
		{"€€€€€", 4, "€€€…", true},
		{"abc d", 4, "abc…", true},
		{"abcd   ", 4, "abcd", false},
		{"a\u2028b\u0085c\u00a0d", 9, "a b c d", false},
		{"", 1, "", false},
		{"ab", 1, "…", true},
	} {
		if got, cut := Text(c.in, c.most); got != c.want || cut != c.cut {
			t.Errorf("%q: %q %v, want %q %v", c.in, got, cut, c.want, c.cut)
		}
	}
}

func TestProse(t *testing.T) {
	for _, c := range []struct {
		in   string
		most int
		want string
		cut  bool
	}{
		{" a\r\n\tb\x00\x1b[1m \n", 99, " a\n\tb[1m \n", false},
		{"a\u202eb\xff", 99, "ab\ufffd", false},
		{"€€€", 3, "€€€", false},
		{"€€€€", 3, "€€…", true},
		{"€€€\x00", 3, "€€€", false},
	} {
		if got, cut := Prose(c.in, c.most); got != c.want || cut != c.cut {
			t.Errorf("%q: %q %v, want %q %v", c.in, got, cut, c.want, c.cut)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	date := func(after time.Duration) string { return now.Add(after).Format(http.TimeFormat) }
	for _, c := range []struct {
		value, sent string
		want        time.Duration
	}{
		{"", "", 0},
		{"0", "", 0},
		{"7", "", 7 * time.Second},
		{" 7 ", "", 7 * time.Second},
		{"-7", "", 0},
		{"1.5", "", 0},
		{"soon", "", 0},
		{"99999999999", "", longest},
		{"99999999999999999999999", "", 0},
		{date(time.Minute), "", time.Minute},
		{date(-time.Minute), "", 0},
		{date(time.Minute), date(30 * time.Second), 30 * time.Second}, // its clock is ahead
		{date(time.Minute), "never", time.Minute},
		{"Saturday, 01-Mar-25 12:00:09 GMT", "", 9 * time.Second},
		{"Sat Mar  1 12:00:09 2025", "", 9 * time.Second},
	} {
		h := http.Header{"Retry-After": {c.value}}
		if c.sent != "" {
			h.Set("Date", c.sent)
		}
		if got := retryAfter(h, now); got != c.want {
			t.Errorf("%q, sent %q: %v, want %v", c.value, c.sent, got, c.want)
		}
	}
}

// TestAnotherAddress serves at an address that is this machine's and not its
// loopback: the nearest to another machine that a test can have.
func TestAnotherAddress(t *testing.T) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Skip(err)
	}
	for _, addr := range addrs {
		ip, ok := addr.(*net.IPNet)
		if !ok || ip.IP.IsLoopback() || ip.IP.To4() == nil {
			continue
		}
		listener, err := net.Listen("tcp", net.JoinHostPort(ip.IP.String(), "0"))
		if err != nil {
			continue
		}
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("asked without TLS") }))
		server.Listener.Close()
		server.Listener = listener
		server.Start()
		t.Cleanup(server.Close)
		failure := fails(t, Request{URL: server.URL, Key: key, Timeout: patience, MaxReply: 1})
		if failure.Kind != Unavailable || failure.Attempts != 1 || !strings.Contains(failure.Text, "not on this machine") {
			t.Errorf("%+v", failure)
		}
		return
	}
	t.Skip("this machine has no address but its loopback")
}
