//go:build unix

package diffpreview

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"pgregory.net/rapid"
)

// A rewrite that is killed leaves bytes that are recognised, whatever it was
// and wherever it stopped.
func TestTornIsRecognised(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old := rapid.SliceOfN(rapid.SampledFrom([]byte("ab\n")), 0, 30).Draw(t, "old")
		text := rapid.SliceOfN(rapid.SampledFrom([]byte("ab\n")), 0, 30).Draw(t, "text")
		both := min(len(old), len(text))
		if len(text) > len(old) {
			for k := both; k <= len(text); k++ {
				now := append(bytes.Clone(old), text[both:k]...)
				if !torn(now, old, text) {
					t.Fatalf("appending stopped at %d: %q", k, now)
				}
			}
		}
		for k := 0; k <= both; k++ {
			now := append(bytes.Clone(text[:k]), old[k:both]...)
			if len(text) > len(old) {
				now = append(now, text[both:]...)
			} else {
				now = append(now, old[both:]...)
			}
			if !torn(now, old, text) {
				t.Fatalf("writing stopped at %d: %q", k, now)
			}
		}
	})
}

func TestTornByCrashOfTheMachine(t *testing.T) {
	old := bytes.Repeat([]byte("o"), 3*block+100)
	text := bytes.Repeat([]byte("n"), 4*block)
	mixed := bytes.Clone(old)
	copy(mixed[block:], text[:block]) // only the second block reached the disk
	if !torn(mixed, old, text) || !torn(old[:3*block], old[:3*block], text) {
		t.Error("a mixture of blocks is not recognised")
	}
	mixed[block+1] = '!'
	if torn(mixed, old, text) {
		t.Error("a foreign byte is taken for a torn write")
	}
}

func TestTornIsNoEdit(t *testing.T) {
	old, text := []byte("one\ntwo\nthree\n"), []byte("one\nTWO\nthree\nfour\n")
	for _, now := range []string{
		"", "one\n", "one\ntwo\nthree\nfive\n", "one\ntwo\nthree\n\n", "one\nTwo\nthree\n", "ONE\nTWO\nthree\nfour\n",
		"one\nTWO\nthree\n", "one\nTWO\nthree\nfour\nfive\n", "one\ntWO\nthree\nfour\n",
	} {
		if torn([]byte(now), old, text) {
			t.Errorf("%q is taken for a torn write", now)
		}
	}
}

// Every form that a killed in-place write can leave is put back, and nothing
// else is touched.
func TestRecoverTornWrite(t *testing.T) {
	for _, c := range []struct{ old, text string }{
		{"one\ntwo\nthree\n", "one\nTWO!\nthree\nfour\n"}, {"one\ntwo\nthree\nfour\n", "1\n2\n"}, {"same length\n", "SAME LENGTH\n"}, {"", "new"}, {"old", ""},
	} {
		x := newApplyTree(t, memoryDir(t))
		x.put("f", c.old, 0o644)
		os.Link(x.abs("f"), x.abs("twin"))
		wr := x.modify("f", c.old, c.text)
		x.mustApply(wr)
		both := min(len(c.old), len(c.text))
		for k := 0; k <= both; k++ {
			now := c.text[:k] + c.old[k:both] + (c.old + c.text)[len(c.old)+both:]
			if len(c.old) > len(c.text) {
				now = c.text[:k] + c.old[k:]
			}
			os.WriteFile(x.abs("f"), []byte(now), 0o644)
			want := c.old
			if now == c.text {
				want = c.text
			}
			if applied := x.restart([]write{wr}); applied != (want == c.text) {
				t.Errorf("%q → %q, torn to %q: applied %v", c.old, c.text, now, applied)
			}
			x.want("f", want)
			x.want("twin", want)
		}
		os.WriteFile(x.abs("f"), []byte("somebody's\n"), 0o644)
		if x.restart([]write{wr}) {
			t.Error("an edited file is said to be written")
		}
		x.want("f", "somebody's\n")
	}
}

func TestRecoverWithoutBodies(t *testing.T) {
	x := newApplyTree(t, memoryDir(t))
	x.put("f", "old\n", 0o644)
	os.Link(x.abs("f"), x.abs("twin"))
	x.mustApply(x.modify("f", "old\n", "NEW\n"))
	os.WriteFile(x.abs("f"), []byte("NEd\n"), 0o644)
	for _, body := range []func(string) ([]byte, error){
		func(string) ([]byte, error) { return nil, os.ErrNotExist },
		func(string) ([]byte, error) { return []byte("wrong"), nil },
	} {
		if _, err := x.w.recover(x.log[0], body); err == nil {
			t.Error("no error")
		}
		x.want("f", "NEd\n")
	}
}

func TestRecoverUnservedRoot(t *testing.T) {
	x := newApplyTree(t, memoryDir(t))
	x.put("f", "old\n", 0o644)
	x.mustApply(x.modify("f", "old\n", "new\n"))
	other := newApplyTree(t, memoryDir(t))
	if _, err := other.w.recover(x.log[1], nil); CodeOf(err) != CodePathOutsideWorkspace {
		t.Errorf("recover: %v", err)
	}
}

// In each round a person saves while a write is on its way, with nothing to
// order them. Whoever is first, the person's text is there afterwards.
func TestApplyAgainstASaver(t *testing.T) {
	for _, linked := range []bool{false, true} {
		x := newApplyTree(t, memoryDir(t))
		x.put("f", "person 0\n", 0o644)
		if linked {
			os.Link(x.abs("f"), x.abs("twin"))
		}
		written := 0
		for round := 1; round <= 1000; round++ {
			old := x.text("f")
			typed := fmt.Sprintf("person %d\n", round)
			saved := make(chan error, 1)
			go func() {
				if linked || round%2 == 0 {
					saved <- os.WriteFile(x.abs("f"), []byte(typed), 0o644)
					return
				}
				os.WriteFile(x.abs("f~"), []byte(typed), 0o644)
				saved <- os.Rename(x.abs("f~"), x.abs("f"))
			}()
			err := x.apply(x.modify("f", old, old+"agent\n"))
			if e := <-saved; e != nil {
				t.Fatal(e)
			}
			if err == nil {
				written++
			} else if CodeOf(err) != CodeStale {
				t.Fatalf("round %d: %v", round, err)
			}
			if got := x.text("f"); got != typed {
				t.Fatalf("round %d: the file holds %q, want %q; apply said %v", round, got, typed, err)
			}
		}
		x.noTemps()
		t.Logf("linked %v: %d of 1000 writes came first", linked, written)
	}
}
