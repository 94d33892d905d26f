package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"github.com/loomd/loomd/diffpreview"
)

// awaiting calls await_review with a listener that is told what it waits for.
func (b *bench) awaiting(ctx context.Context, a args, told func(message string)) (Outcome, answer, error) {
	b.t.Helper()
	raw, err := encode(a)
	must(b.t, err)
	tc := Context{View: b.view, Logger: slog.New(slog.DiscardHandler)}
	if told != nil {
		tc.Progress = func(p Progress) { told(p.Message) }
	}
	out, err := b.registry.Run(ctx, "await_review", "call", json.RawMessage(raw), tc)
	var got answer
	if err == nil {
		must(b.t, json.Unmarshal(out.Structured, &got))
	}
	return out, got, err
}

func (b *bench) decide(id string, accept bool) {
	b.t.Helper()
	p, err := b.store.Get(id)
	must(b.t, err)
	_, _, err = b.store.Decide(context.Background(), diffpreview.DecideFile{ID: id, Version: p.Version, Accept: accept, By: "alice"})
	must(b.t, err)
}

func TestAwaitReviewWithNothingToWaitFor(t *testing.T) {
	b := newBench(t, nil)
	got := b.ok("await_review", args{})
	if got["state"] != "decided" || len(got["pending"].([]any)) != 0 || got["truncated"] != false {
		t.Errorf("%v", got)
	}
}

func TestAwaitReviewWaits(t *testing.T) {
	b := newBench(t, map[string]string{"f": "a\n", "g": "a\n"})
	f := b.ok("write_file", args{"path": "f", "content": "b\n"})["proposal"].(string)
	g := b.ok("write_file", args{"path": "g", "content": "b\n"})["proposal"].(string)
	var told []string
	decide := []string{f, g}
	_, got, err := b.awaiting(context.Background(), args{}, func(message string) {
		told = append(told, message)
		b.decide(decide[0], len(decide) == 2) // each word of progress is followed by a decision
		decide = decide[1:]
	})
	must(t, err)
	if want := []string{"2 proposals wait for a person's decision", "1 proposal waits for a person's decision"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
	if got["state"] != "decided" || len(got["pending"].([]any)) != 0 {
		t.Errorf("%v", got)
	}
	if b.onDisk("f") != "b\n" || b.onDisk("g") != "a\n" {
		t.Errorf("on disk: %q %q", b.onDisk("f"), b.onDisk("g"))
	}
}

// Only those that are named are waited for, and what is open at the end is told.
func TestAwaitReviewOfSome(t *testing.T) {
	b := newBench(t, map[string]string{"f": "a\n", "g": "1\n2\n3\n4\n5\n"})
	f := b.ok("write_file", args{"path": "f", "content": "b\n"})["proposal"].(string)
	g := b.ok("write_file", args{"path": "g", "content": "one\n2\n3\n4\nfive\n"})["proposal"].(string)
	_, got, err := b.awaiting(context.Background(), args{"proposals": []string{f}}, func(string) { b.decide(f, false) })
	must(t, err)
	if got["state"] != "decided" {
		t.Errorf("%v", got)
	}
	_, got, err = b.awaiting(context.Background(), args{"proposals": []string{f, g}, "timeout_secs": 1}, nil)
	must(t, err)
	pending := got["pending"].([]any)
	if got["state"] != "open" || len(pending) != 1 {
		t.Fatalf("%v", got)
	}
	if p := pending[0].(map[string]any); p["proposal"] != g || p["path"] != "g" || p["state"] != "open" || p["hunks"] != 2.0 {
		t.Errorf("pending: %v", p)
	}
}

func TestAwaitReviewIsCancelled(t *testing.T) {
	b := newBench(t, map[string]string{"f": "a\n"})
	b.ok("write_file", args{"path": "f", "content": "b\n"})
	ctx, cancel := context.WithCancel(context.Background())
	_, _, err := b.awaiting(ctx, args{"timeout_secs": 3600}, func(string) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestAwaitReviewOfOthers(t *testing.T) {
	b := newBench(t, map[string]string{"f": "a\n"})
	other := b.session("other")
	_, made := b.callIn(other, "write_file", args{"path": "f", "content": "b\n"})
	for _, id := range []string{"p99", made["proposal"].(string)} {
		got := b.fails("unknown_proposal", "await_review", args{"proposals": []string{id}})
		if got["field"] != "proposals" {
			t.Errorf("%v", got)
		}
	}
	if got := b.ok("await_review", args{}); got["state"] != "decided" {
		t.Errorf("another session's proposal is waited for: %v", got)
	}
	for _, a := range []args{{"proposals": []string{}}, {"timeout_secs": 0}, {"timeout_secs": 3601}, {"proposal": "p1"}, {"proposals": "p1"}} {
		b.fails("invalid_arguments", "await_review", a)
	}
}

func TestAwaitReviewIsBounded(t *testing.T) {
	b := newBench(t, map[string]string{"f": "a\n"})
	id := b.ok("write_file", args{"path": "f", "content": "b\n"})["proposal"].(string)
	p, err := b.view.Proposal(id)
	must(t, err)
	for n, truncated := range map[int]bool{maxAwaited: false, maxAwaited + 1: true} {
		got := describePending(b.view, slices.Repeat([]*diffpreview.Proposal{p}, n))
		if len(got.Pending) != maxAwaited || got.Truncated != truncated || truncated && got.Total != int64(n) {
			t.Errorf("%d: %s", n, fmt.Sprint(len(got.Pending), got.cut))
		}
	}
}
