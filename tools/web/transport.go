package web

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"time"
)

const (
	// connectWithin bounds the way to a service: each of a connection and of TLS.
	connectWithin = 10 * time.Second
	// maxHeader is how many bytes of headers a reply may have.
	maxHeader = 64 << 10
)

// newTransport makes connections that are used once. plain is without TLS, and
// reaches this machine alone.
func newTransport(plain bool, dial dialer) *http.Transport {
	t := &http.Transport{
		Proxy:                  proxyOf,
		DialContext:            (&net.Dialer{Timeout: connectWithin}).DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    connectWithin,
		ForceAttemptHTTP2:      true,
		DisableKeepAlives:      true,
		MaxResponseHeaderBytes: maxHeader,
	}
	if plain {
		t.Proxy, t.DialContext = nil, dialHere
	}
	if dial != nil {
		t.DialContext = dial
	}
	return t
}

// proxyOf is the proxy that the environment names for a request.
func proxyOf(r *http.Request) (*url.URL, error) {
	u, err := http.ProxyFromEnvironment(r)
	if err != nil {
		return nil, errProxy
	}
	return u, nil
}

// dialHere connects to what is on this machine: the address counts, not the name.
func dialHere(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: connectWithin}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return hereOnly(conn)
}

// hereOnly closes a connection that does not end on this machine.
func hereOnly(conn net.Conn) (net.Conn, error) {
	if tcp, ok := conn.RemoteAddr().(*net.TCPAddr); ok && tcp.IP.IsLoopback() {
		return conn, nil
	}
	conn.Close()
	return nil, errNotHere
}
