package diffpreview

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// genBytes draws the bytes of a file: line ends of all kinds, with and without
// an end of the last line, a BOM, bytes that are no UTF-8.
func genBytes(t *rapid.T, label string) []byte {
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{
		"a\n", "b\n", "c\r\n", "\n", "lone\rcr\n", "caf\xc3\xa9\n", "r\xe9sum\xe9\n", "-- looks like a header\n", "+++ b/f\n",
	}), 0, 20).Draw(t, label)
	s := strings.Join(lines, "")
	if rapid.Bool().Draw(t, label+" unterminated") {
		s += "last"
	}
	if rapid.IntRange(0, 4).Draw(t, label+" BOM") == 0 {
		s = "\xef\xbb\xbf" + s
	}
	return []byte(s)
}

// acceptedPatch is the unified diff without context of some of p's hunks.
func acceptedPatch(p *Proposal, accepted map[string]bool) []byte {
	old := p.form.split(p.Base.Data)
	var edits []edit
	for _, h := range p.Hunks {
		if accepted[h.ID] {
			edits = append(edits, edit{h.Start, h.Count, h.New})
		}
	}
	want := p.form.split(p.form.patch(p.Base.Data, edits))
	var spans []Span
	by := 0
	for _, e := range edits {
		n := len(p.form.split(e.text))
		spans = append(spans, Span{e.start, e.count, e.start + by, n})
		by += n - e.count
	}
	return Unified(FileSide{Name: "f", Exists: true, Lines: old}, FileSide{Name: "f", Exists: true, Lines: want}, spans, 0)
}

// What is on disk in the end is the base with exactly the accepted hunks, as
// patch(1) makes it, whatever the order of decisions and whenever the daemon
// is restarted in between.
func TestPropertyDiskIsBaseWithAcceptedHunks(t *testing.T) {
	if _, err := exec.LookPath("patch"); err != nil {
		t.Fatal("patch is the oracle of this test: ", err)
	}
	w := newWorld(t, nil)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		s := w.session("agent")
		base := genBytes(rt, "base")
		path := filepath.Join(w.root, "f")
		if err := os.WriteFile(path, base, 0o644); err != nil {
			rt.Fatal(err)
		}
		var p *Proposal
		for range rapid.IntRange(1, 3).Draw(rt, "steps") {
			want := []byte(mutate(rt, w.view(s, "f"), "agent"))
			if string(want) != w.view(s, "f") {
				p = w.propose(s, "f", string(want))
			}
		}
		if p == nil || len(p.Hunks) == 0 {
			return
		}
		accepted := map[string]bool{}
		var order []string
		for _, h := range p.Hunks {
			accepted[h.ID] = rapid.Bool().Draw(rt, "accept "+h.ID)
			order = append(order, h.ID)
		}
		expected := patched(rt, base, acceptedPatch(p, accepted))
		for _, id := range rapid.Permutation(order).Draw(rt, "order") {
			if rapid.IntRange(0, 5).Draw(rt, "restart") == 0 {
				w.restart()
			}
			d := DecideFile{ID: p.ID, Version: p.Version, By: "tester", Verdicts: []Verdict{{Hunk: id, Accept: accepted[id]}}}
			if _, _, err := w.store.Decide(context.Background(), d); err != nil {
				rt.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, expected) {
			rt.Fatalf("on disk is %q (%v), want %q", got, err, expected)
		}
		if v := w.view(s, "f"); v != string(expected) {
			rt.Fatalf("in the view is %q, want %q", v, expected)
		}
	})
	w.wantClean()
	t.Logf("%d files", n)
}

// patched applies a diff with patch(1).
func patched(t *rapid.T, base, diff []byte) []byte {
	if len(diff) == 0 {
		return base
	}
	dir, err := os.MkdirTemp("", "patched")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "f"), base, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("patch", "--binary", "-p1", "-s")
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(diff)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("patch: %v\n%s\n%s", err, out, diff)
	}
	data, err := os.ReadFile(filepath.Join(dir, "f"))
	if os.IsNotExist(err) {
		return nil // patch removes a file that is empty now
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}
