package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/loomd/loomd/daemon/client"
	"github.com/loomd/loomd/daemon/protocol"
)

// omitting is a daemon whose only proposal has a diff that it leaves out. Its
// texts come in pages of four bytes.
type omitting struct {
	*fakeDaemon
	p              protocol.Proposal
	base, proposed string
	onPage         func()
}

func (d *omitting) Proposals(context.Context, protocol.ProposalsListParams) (protocol.ProposalsListResult, error) {
	if !pending(d.p.Hunks[0]) {
		return protocol.ProposalsListResult{}, nil
	}
	return protocol.ProposalsListResult{Proposals: []protocol.Proposal{d.p}}, nil
}

func (d *omitting) Proposal(_ context.Context, params protocol.ProposalsGetParams) (protocol.ProposalsGetResult, error) {
	res := protocol.ProposalsGetResult{Proposal: d.p}
	if params.Texts {
		if d.onPage != nil {
			d.onPage()
			res.Proposal = d.p
		}
		res.Base, res.Proposed = page(d.base, params.Offset), page(d.proposed, params.Offset)
	}
	return res, nil
}

func page(text string, offset int) *protocol.Text {
	const size = 4
	offset = min(offset, len(text))
	if offset+size >= len(text) {
		return &protocol.Text{Text: text[offset:], Exists: true}
	}
	return &protocol.Text{Text: text[offset : offset+size], NextOffset: offset + size, Exists: true}
}

func omitted(t *testing.T, kind string, h protocol.Hunk, base, proposed string) *omitting {
	h.ID, h.Kind, h.State = "h1", kind, protocol.HunkOpen
	return &omitting{
		fakeDaemon: &fakeDaemon{t: t}, base: base, proposed: proposed,
		p: protocol.Proposal{
			ID: "p9", Path: "long", Kind: "modify", Version: 2, State: protocol.ProposalOpen, DiffOmitted: true,
			HunkCount: 1, Added: h.NewLines, Removed: h.OldLines, Hunks: []protocol.Hunk{h},
		},
	}
}

// Nobody is told that a file is empty because it was too long to show.
func TestWhatIsTooLongIsNotShown(t *testing.T) {
	long := omitted(t, "create", protocol.Hunk{NewStart: 1, NewLines: 3}, "", "1\n2\n3\n").p
	empty := omitted(t, "create", protocol.Hunk{}, "", "").p
	empty.DiffOmitted = false
	text := omitted(t, "text", protocol.Hunk{OldStart: 2, OldLines: 2, NewStart: 2, NewLines: 1}, "", "").p
	gone := omitted(t, "delete", protocol.Hunk{OldStart: 1, OldLines: 7}, "", "").p
	binary := omitted(t, "create", protocol.Hunk{NewStart: 1, NewLines: 1}, "", "").p
	binary.DiffOmitted, binary.Diff = false, "Binary files /dev/null and b/long differ\n"
	many := protocol.Proposal{ID: "p9", Path: "many", HunksOmitted: true, HunkCount: 3000, Added: 5, Removed: 4}
	for _, c := range []struct {
		p    protocol.Proposal
		want string
	}{
		{long, "h1:  new file: too long to show here, it was NOT shown (+3 −0 lines)\n"},
		{empty, "h1:  new empty file\n"},
		{text, "h1:  lines 2,2 become lines 2: too long to show here, it was NOT shown (+1 −2 lines)\n"},
		{gone, "h1:  the file is deleted: too long to show here, it was NOT shown (+0 −7 lines)\n"},
		{binary, "Binary files /dev/null and b/long differ\n"},
		{many, "3000 hunks: too many to show here, they were NOT shown (+5 −4 lines); loomd review show p9 has them\n"},
	} {
		var out strings.Builder
		diffView{w: &out}.proposal(c.p)
		if _, body, _ := strings.Cut(out.String(), "\n"); body != c.want {
			t.Errorf("shown: %q, want %q", body, c.want)
		}
	}
	if text, hidden := wordsFor(binary, binary.Hunks[0]); text != "new binary file" || hidden {
		t.Errorf("of a binary file: %q, hidden %v", text, hidden)
	}
}

// In the walk the same is said, and p prints the text from its pages.
func TestWalkFetchesWhatIsTooLong(t *testing.T) {
	for name, c := range map[string]struct {
		kind           string
		hunk           protocol.Hunk
		base, proposed string
		want           string
	}{
		"create":      {"create", protocol.Hunk{NewStart: 1, NewLines: 3}, "", "first\n2\nthe third", "@@ -0,0 +1,3 @@ h1\n+first\n+2\n+the third\n\\ No newline at end of file\n"},
		"modify":      {"text", protocol.Hunk{OldStart: 2, OldLines: 1, NewStart: 2, NewLines: 2}, "a\nbb\nccc\n", "a\nBBBBBB\nB2\nccc\n", "@@ -2 +2,2 @@ h1\n-bb\n+BBBBBB\n+B2\n(1/1)"},
		"lines added": {"text", protocol.Hunk{OldStart: 1, NewStart: 2, NewLines: 1}, "a\nc\n", "a\nb\nc\n", "@@ -1,0 +2 @@ h1\n+b\n(1/1)"},
	} {
		d := omitted(t, c.kind, c.hunk, c.base, c.proposed)
		s := &script{t: t, input: []string{"p", "q"}, wide: 80}
		if err := newWalk(d, s, false, "").run(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.says(`NOT shown \(\+\d −\d lines\)\np fetches and prints it\n`)
		if !strings.Contains(s.out.String(), c.want) {
			t.Errorf("%s: no %q in\n%s", name, c.want, s.out.String())
		}
	}
}

// What changes while it is fetched is not shown as what would be accepted.
func TestWalkFetchedTextChanges(t *testing.T) {
	d := omitted(t, "create", protocol.Hunk{NewStart: 1, NewLines: 3}, "", "1\n2\n3\n4\n5\n6\n")
	pages := 0
	d.onPage = func() {
		if pages++; pages == 2 {
			d.p.Version++
		}
	}
	s := &script{t: t, input: []string{"p", "q"}, wide: 80}
	if err := newWalk(d, s, false, "").run(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.says(`the proposal has changed meanwhile`, `NOT shown`, `\(1/1\)`)
}

// A daemon that goes away while a key is awaited is reached again, once.
func TestWalkReconnects(t *testing.T) {
	d := twoFiles(t)
	gone := &brokenDaemon{d, fmt.Errorf("calling it: %w", client.ErrClosed)}
	s := &script{t: t, input: []string{"y", "y", "q"}, wide: 80}
	w := newWalk(gone, s, false, "")
	reached := 0
	w.reconnect = func(context.Context) (reviewer, error) {
		reached++
		d.proposals[1].hunks[0].state = protocol.HunkRejected // by somebody else
		return d, nil
	}
	if err := w.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	expectDecisions(t, d, "p1@3 accept:h2")
	s.says(`\(1/4\)`, `the daemon had ended and was reached again`, `(?m)^f$`, `@@ h2`, `\(1/4\)`, `wrote f`, `\(2/4\)`,
		`1 accepted, 0 rejected, 2 hunks left`)

	w = newWalk(gone, &script{t: t, input: []string{"y", "y"}, wide: 80}, false, "")
	w.reconnect = func(context.Context) (reviewer, error) { reached++; return gone, nil }
	if err := w.run(t.Context()); !errors.Is(err, client.ErrClosed) || reached != 2 {
		t.Errorf("run = %v after %d connections", err, reached)
	}
}
