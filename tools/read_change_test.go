package tools

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/loomd/loomd/diffpreview"
)

// writing runs a writer of the file until the reads are done; each of its turns
// comes after the one before, without a pause, until one returns io.EOF.
func writing(t *testing.T, name string, turn func(f *os.File, n int) error, reads func()) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	stop, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(ended)
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			switch err := turn(f, n); err {
			case nil:
			case io.EOF:
				return
			default:
				ended <- err
				return
			}
		}
	}()
	reads()
	close(stop)
	must(t, <-ended)
}

// TestReadWhileItIsWritten: what a result says of a file that is small enough to be
// read whole is of the same bytes, and these were in the file at one moment, unless
// it says that they may not.
func TestReadWhileItIsWritten(t *testing.T) {
	const size = 256 << 10
	letter := func(n int) []byte { return []byte(strings.Repeat(string(rune('a'+n%2)), size+n%2*4096)) }
	writers := map[string]func(f *os.File, n int) error{
		"over itself": func(f *os.File, n int) error {
			_, err := f.WriteAt(letter(n)[:size], 0)
			return err
		},
		"truncated first": func(f *os.File, n int) error {
			if err := f.Truncate(0); err != nil {
				return err
			}
			_, err := f.WriteAt(letter(n), 0)
			return err
		},
	}
	for name, turn := range writers {
		b := newBench(t, map[string]string{"f": string(letter(0))})
		p, err := b.view.Resolve("f")
		must(t, err)
		settled, changing := 0, 0
		writing(t, filepath.Join(b.dir, "f"), turn, func() {
			noticed := false
			for range 1000 {
				r, err := readOnce(t.Context(), &Context{View: b.view}, p, readArgs{MaxBytes: 1, Offset: 1})
				must(t, err)
				if noticed = r.Changing; noticed {
					break
				}
			}
			if !noticed {
				t.Errorf("%s: a thousand reads, and none noticed", name)
			}
			for range 15 {
				a := b.ok("read_file", args{"path": "f"})
				text := a["contents"].(string)
				if a["total_bytes"] != float64(len(text)) || a["hash"] != hashOf(text) || a["truncated"] != false {
					t.Errorf("%s: %d bytes of %v, hash %v", name, len(text), a["total_bytes"], a["hash"])
				}
				if a["changing"] == true {
					changing++
					continue
				}
				settled++
				if text != "" && strings.Trim(text, text[:1]) != "" {
					t.Errorf("%s: text of two moments, and not a word of it", name)
				}
			}
		})
		t.Logf("%s: %d of one moment, %d perhaps not", name, settled, changing)
		if a := b.ok("read_file", args{"path": "f"}); a["changing"] != nil {
			t.Errorf("%s: still changing when nobody writes", name)
		}
	}
}

// TestReadOfALogThatGrows: what was there is shown, whatever is appended.
func TestReadOfALogThatGrows(t *testing.T) {
	line := strings.Repeat("x", 99) + "\n"
	for name, start := range map[string]int{"small": 100, "over 8 MiB": wholeRead/100 + 1000} {
		b := newBench(t, map[string]string{"f": strings.Repeat(line, start)})
		writing(t, filepath.Join(b.dir, "f"), func(f *os.File, n int) error {
			if n == 20_000 {
				return io.EOF
			}
			_, err := f.WriteAt([]byte(line), int64(start+n)*100)
			return err
		}, func() {
			for range 8 {
				a := b.ok("read_file", args{"path": "f", "offset": start - 9, "max_bytes": 500})
				if a["contents"] != strings.Repeat(line, 5) || a["next_offset"] != float64(start-4) {
					t.Errorf("%s: %v", name, a)
				}
				if total := a["total_bytes"].(float64); total < float64(start*100) || int(total)%100 != 0 {
					t.Errorf("%s: total_bytes %v", name, total)
				}
				end := b.ok("read_file", args{"path": "f", "byte_offset": start * 100})
				if text := end["contents"].(string); end["truncated"] == false && end["total_bytes"] != float64(start*100+len(text)) {
					t.Errorf("%s: %d bytes from %d are all, but not up to %v", name, len(text), start*100, end["total_bytes"])
				}
			}
		})
	}
}

// changingSource is a file whose length somebody changes after its head was read.
type changingSource struct {
	diffpreview.Source
	change func()
}

func (s changingSource) ReadAt(buf []byte, at int64) (int, error) {
	n, err := s.Source.ReadAt(buf, at)
	s.change()
	return n, err
}

// TestReadOfAFileThatGrows: what is shown up to the end ends where it says.
func TestReadOfAFileThatGrows(t *testing.T) {
	const size, more = wholeRead + 1<<20, 16 << 10
	b := newBench(t, map[string]string{"f": strings.Repeat("0123456789abcde\n", size/16)})
	p, err := b.view.Resolve("f")
	must(t, err)
	source, err := b.view.Open(p)
	must(t, err)
	defer source.Close()
	r, at := readResult{Path: "f"}, int64(size-160)
	must(t, r.read(t.Context(), changingSource{source, func() { must(t, os.Truncate(filepath.Join(b.dir, "f"), size+more)) }}, readArgs{MaxBytes: 1 << 20, ByteOffset: &at}))
	if len(r.Contents) != 160+more || r.Truncated || *r.TotalBytes != size+more {
		t.Errorf("%d bytes of %d, %+v", len(r.Contents), *r.TotalBytes, r.cut)
	}
}

// TestReadOfAFileThatShrinks: a file that becomes short while it is read.
func TestReadOfAFileThatShrinks(t *testing.T) {
	const long, short = wholeRead + 1<<20, 3 << 20
	b := newBench(t, map[string]string{"f": strings.Repeat("0123456789abcde\n", long/16)})
	p, err := b.view.Resolve("f")
	must(t, err)
	for _, at := range []int64{0, long - 1<<16} {
		must(t, os.Truncate(filepath.Join(b.dir, "f"), long))
		source, err := b.view.Open(p)
		must(t, err)
		defer source.Close()
		r := readResult{Path: "f"}
		must(t, r.read(t.Context(), changingSource{source, func() { must(t, os.Truncate(filepath.Join(b.dir, "f"), short)) }}, readArgs{MaxBytes: 1000, ByteOffset: &at}))
		now, changed, err := source.Now()
		must(t, err)
		r.resize(now)
		if !changed || now != short || *r.TotalBytes != short {
			t.Errorf("at %d: %v, %d bytes, total_bytes %d", at, changed, now, *r.TotalBytes)
		}
		if r.Truncated != (at == 0) || r.Truncated && r.Total != short || (r.Contents == "") != (at > 0) {
			t.Errorf("at %d: %d bytes, %+v", at, len(r.Contents), r.cut)
		}
	}
}

// TestUnsettled: a file that was written just now is compared with itself.
func TestUnsettled(t *testing.T) {
	b := newBench(t, map[string]string{"f": strings.Repeat("x", 3*readChunk)})
	name := filepath.Join(b.dir, "f")
	p, err := b.view.Resolve("f")
	must(t, err)
	for _, tt := range []struct {
		at   int64
		text string
		cut  int64
		want bool
	}{
		{0, "x", 3 * readChunk, false},
		{readChunk + 5, "y", 3 * readChunk, true},
		{readChunk + 5, "x", 3*readChunk - 1, true},
		{readChunk + 5, "x", 2 * readChunk, true},
		{3*readChunk - 1, "xx", 3*readChunk + 1, true},
	} {
		must(t, os.WriteFile(name, []byte(strings.Repeat("x", 3*readChunk)), 0o644))
		for _, old := range []bool{false, true} {
			changed := time.Now().Add(time.Hour) // it is recent, however long the test waits for a processor
			if old {                             // settled long ago, as far as anybody can tell
				changed = time.Now().Add(-time.Hour)
			}
			must(t, os.Chtimes(name, changed, changed))
			source, err := b.view.Open(p)
			must(t, err)
			f, err := os.OpenFile(name, os.O_RDWR, 0)
			must(t, err)
			_, err = f.WriteAt([]byte(tt.text), tt.at)
			must(t, err)
			must(t, f.Truncate(tt.cut))
			must(t, f.Close())
			got, err := unsettled(source, []byte(strings.Repeat("x", 3*readChunk)))
			must(t, err)
			must(t, source.Close())
			if got != (tt.want && !old) {
				t.Errorf("%+v, old %v: %v", tt, old, got)
			}
		}
	}
}
