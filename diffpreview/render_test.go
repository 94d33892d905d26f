package diffpreview

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// What a reviewer is shown is what would be written: patch makes the proposed text of the base, whatever became of the
// hunks in between.
func TestPropertyDiffIsWhatIsProposed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := fresh(string(genBytes(t, "base")))
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"agent", "tree"}).Draw(t, "who") {
			case "agent":
				p = p.step(text(mutate(t, string(p.Proposed().Data), "agent")))
			case "tree":
				p, _ = p.rebase(text(mutate(t, string(p.Base.Data), "tree")), true)
			}
		}
		base, want := p.Base.Data, p.Proposed().Data
		diff, lossy := p.Diff()
		if lossy {
			return
		}
		if got := patched(t, base, []byte(diff)); !bytes.Equal(got, want) {
			t.Fatalf("%q and the diff\n%s\ngive %q, want %q", base, diff, got, want)
		}
	})
}

// The diff of a proposal that nobody moved is that of the two texts, in every encoding.
func TestPropertyDiffOfFreshProposal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mark := rapid.SampledFrom([]string{"", "\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"}).Draw(t, "mark")
		encoded := func(s string) Content {
			data, err := Encode(s, []byte(mark))
			if err != nil {
				t.Fatal(err)
			}
			return Content{Exists: true, Data: data}
		}
		before := genLines(t, "before")
		base := encoded(before)
		p := (&Proposal{Name: "f", Base: base, form: formOf(base)}).step(encoded(mutate(t, before, "agent")))
		got, gotLossy := p.Diff()
		want, wantLossy := RenderDiff("f", p.Base, p.Proposed())
		if got != want || gotLossy != wantLossy {
			t.Fatalf("the diff of the hunks is\n%s\n(lossy %t), of the texts\n%s\n(lossy %t)", got, gotLossy, want, wantLossy)
		}
	})
}

// A byte order mark at the start of the file is no text; the same character further on is.
func TestRenderUTF16(t *testing.T) {
	before := Content{Exists: true, Data: []byte("\xff\xfea\x00\n\x00\xff\xfeb\x00\n\x00")}
	after := Content{Exists: true, Data: []byte("\xff\xfea\x00\n\x00\xff\xfec\x00\n\x00")}
	const head = "diff --git a/f b/f\n--- a/f\n+++ b/f\n"
	got, lossy := RenderDiff("f", before, after)
	if want := head + "@@ -1,2 +1,2 @@\n a\n-\ufeffb\n+\ufeffc\n"; got != want || lossy {
		t.Errorf("%q (lossy %t), want %q", got, lossy, want)
	}
	after.Data = []byte("\xff\xfea\x00\n\x00\xff\xfe\x00\xd8\n\x00") // half a surrogate pair
	got, lossy = RenderDiff("f", before, after)
	if want := head + "@@ -1,2 +1,2 @@\n a\n-\ufeffb\n+\ufeff\ufffd\n"; got != want || !lossy {
		t.Errorf("%q (lossy %t), want %q", got, lossy, want)
	}
}
