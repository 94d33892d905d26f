package web

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// The waits between attempts: the first is half a second, each twice as long as
// the one before, and each is drawn from half of that to one and a half times,
// so that many clients of a service that was down do not come back at once.
const (
	firstWait = 500 * time.Millisecond
	maxWait   = 8 * time.Second
)

// pauses are the waits of one call. A service that asks for a time gets all of it,
// and the wait of our own on top.
type pauses struct {
	backoff.ExponentialBackOff
	asked time.Duration // by the last reply
}

func newPauses() pauses {
	return pauses{ExponentialBackOff: backoff.ExponentialBackOff{
		InitialInterval: firstWait, Multiplier: 2, MaxInterval: maxWait, RandomizationFactor: 0.5,
	}}
}

// NextBackOff is how long to wait now.
func (p *pauses) NextBackOff() time.Duration { return p.asked + p.ExponentialBackOff.NextBackOff() }

// goesBetterLater reports whether a request that got this status can succeed
// later.
func goesBetterLater(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return status >= 500
}

// longest is the longest wait that is told of. Nobody waits for it.
const longest = 365 * 24 * time.Hour

// retryAfter is what a reply says when to come back: a number of seconds, or a
// date, which counts from the reply's own Date, since clocks differ. 0: nothing
// that can be understood, or a time that has passed.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if value == "" {
		return 0
	}
	if seconds, err := strconv.ParseUint(value, 10, 64); err == nil {
		return time.Duration(min(seconds, uint64(longest/time.Second))) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if sent, err := http.ParseTime(h.Get("Date")); err == nil {
		now = sent
	}
	return min(max(at.Sub(now), 0), longest)
}
