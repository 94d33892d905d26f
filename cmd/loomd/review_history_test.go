package main

import (
	"strings"
	"testing"
	"time"
)

func TestSince(t *testing.T) {
	now := time.Date(2026, 3, 31, 12, 0, 0, 0, time.FixedZone("east", 2*3600))
	for text, want := range map[string]string{
		"":                          "",
		"90m":                       "2026-03-31T08:30:00Z",
		"2h30m":                     "2026-03-31T07:30:00Z",
		"7d":                        "2026-03-24T10:00:00Z",
		"2026-01-31":                "2026-01-30T22:00:00Z",
		"2026-01-31T12:00:00+01:00": "2026-01-31T11:00:00Z",
	} {
		if got, err := sinceTime(text, now); got != want || err != nil {
			t.Errorf("%q: %s %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"yesterday", "-2h", "7", "d", "99999999d", "2026-13-01"} {
		if got, err := sinceTime(text, now); err == nil || !strings.Contains(err.Error(), "--since") {
			t.Errorf("%q: %s %v", text, got, err)
		}
	}
}
