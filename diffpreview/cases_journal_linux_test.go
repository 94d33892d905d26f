package diffpreview

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// On a full disk a record is refused and leaves nothing; with room again the
// journal goes on, and the end of a write that found no room comes first.
func TestJournalOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	mountOn(t, "tmpfs", dir, "tmpfs", 0, "size=64k")
	j, err := openJournal(filepath.Join(dir, "j"))
	if err != nil {
		t.Fatal(err)
	}
	if err := j.replay(nil); err != nil {
		t.Fatal(err)
	}
	if err := j.append(record{}, true); err != nil {
		t.Fatal(err)
	}
	defer j.close()
	session := func(label string) record { return record{Sessions: []Session{{Label: label}}} }
	filler := filepath.Join(dir, "filler")
	fillDisk(t, filler)

	// What is left is the rest of the journal's last block. Take it, but for the few
	// bytes that base64 leaves.
	info, err := os.Stat(j.path())
	if err != nil {
		t.Fatal(err)
	}
	block := int64(os.Getpagesize())
	rest := block - info.Size()%block
	padded := session("a" + strings.Repeat("x", int(rest)))
	for fits := false; !fits; {
		padded.Sessions[0].Label = strings.TrimSuffix(padded.Sessions[0].Label, "x")
		line, err := j.sealed(&padded)
		fits = err != nil || int64(line.size()) <= rest
	}
	if err := j.append(padded, true); err != nil {
		t.Fatal(err)
	}
	for _, rec := range []record{session("b"), {End: &endWrite{ID: 1, Applied: true}}, session("c"), {End: &endWrite{ID: 2}}, session("d")} {
		if err := j.append(rec, true); CodeOf(err) != CodeNoSpace {
			t.Errorf("a record without room gave %v", err)
		}
	}
	want := []string{"{}", "session a"}
	if got := recordsOf(t, j); !slices.Equal(got, want) {
		t.Errorf("full, the journal holds %q, want %q", got, want)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if err := j.append(session("e"), true); err != nil {
		t.Fatal(err)
	}
	if err := j.append(session("f"), false); err != nil {
		t.Fatal(err)
	}
	want = append(want, `{"end":{"id":1,"applied":true}}`, `{"end":{"id":2,"applied":false}}`, "session e", "session f")
	if got := recordsOf(t, j); !slices.Equal(got, want) {
		t.Errorf("with room again the journal holds %q, want %q", got, want)
	}
}

// recordsOf is the journal's records, sessions by their label without its
// padding.
func recordsOf(t *testing.T, j *journal) []string {
	t.Helper()
	var all []string
	err := (&journal{bodies: j.bodies, dir: j.dir}).read(func(rec record) error {
		text, err := json.Marshal(rec)
		if len(rec.Sessions) > 0 {
			text = []byte("session " + strings.TrimRight(rec.Sessions[0].Label, "x"))
		}
		all = append(all, string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// fillDisk takes what is left of a file system for a file.
func fillDisk(t *testing.T, name string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 4096); err == nil; {
		_, err = f.Write(block)
	}
}
