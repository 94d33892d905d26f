package diffpreview

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// opened is the text of a journal or a history as it was before it was sealed.
func (w *world) opened(text string) string {
	w.t.Helper()
	s, err := openSeal(w.state)
	if err != nil {
		w.t.Fatal(err)
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		use := sealJournal
		if strings.HasPrefix(line, `{"seq"`) {
			use = sealHistory
		}
		plain, err := s.openLine(use, []byte(line))
		if err != nil && strings.HasSuffix(line, "\n") {
			w.t.Errorf("%v: %.100q", err, line)
		}
		out.Write(bytes.TrimSuffix(plain, []byte("\n")))
		out.WriteByte('\n')
	}
	return out.String()
}

// records is the journal to be read, and no more.
func (w *world) records() *journal {
	w.t.Helper()
	s, err := openSeal(w.state)
	if err != nil {
		w.t.Fatal(err)
	}
	return &journal{bodies: &bodies{seal: s}, dir: w.state}
}

// sizeOf is how many bytes the files of a directory have.
func sizeOf(t *testing.T, dir string) int64 {
	t.Helper()
	total := int64(0)
	for _, text := range textsIn(t, dir) {
		total += int64(len(text))
	}
	return total
}

// textsIn are the files below a directory by their paths.
func textsIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		texts[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// opensTo reports whether a body's file is sealed and holds the text of this hash.
func opensTo(s *seal, file, hash string) bool {
	text, ok := s.openBody([]byte(file))
	return ok && hashBytes(text) == hash
}

func newSeal(t *testing.T) *seal {
	t.Helper()
	dir := t.TempDir()
	s, err := openSeal(dir)
	if err != nil {
		t.Fatal(err)
	}
	again, err := openSeal(dir)
	if err != nil || !bytes.Equal(again.key, s.key) {
		t.Fatalf("the key of a second start is another one (%v)", err)
	}
	return s
}

func TestSealedBodies(t *testing.T) {
	s, other := newSeal(t), newSeal(t)
	for _, size := range []int{0, 1, bodySegment - 1, bodySegment, bodySegment + 1, 3 * bodySegment} {
		text := make([]byte, size)
		rand.Read(text)
		var file bytes.Buffer
		n, err := s.writeBody(&file, text)
		if err != nil || n != int64(file.Len()) {
			t.Fatalf("%d bytes: %d written, %d said, %v", size, file.Len(), n, err)
		}
		if got, ok := s.openBody(file.Bytes()); !ok || !bytes.Equal(got, text) {
			t.Errorf("%d bytes come back as %d (%v)", size, len(got), ok)
		}
		if _, ok := other.openBody(file.Bytes()); ok {
			t.Errorf("%d bytes are opened with another key", size)
		}
		if size > 16 && bytes.Contains(file.Bytes(), text[:16]) {
			t.Errorf("%d bytes are in the file as they are", size)
		}
		// What is cut, at the border of a segment too, or put together anew, is noticed.
		segment := bodySegment + 16
		head := len(bodyHeader) + bodySalt
		for _, cut := range []int{1, 16, segment} {
			if at := file.Len() - cut; at > head {
				if _, ok := s.openBody(file.Bytes()[:at]); ok {
					t.Errorf("%d bytes, cut by %d, are opened", size, cut)
				}
			}
		}
		if size == 3*bodySegment {
			data := file.Bytes()
			swapped := append(bytes.Clone(data[:head]), data[head+segment:head+2*segment]...)
			swapped = append(append(swapped, data[head:head+segment]...), data[head+2*segment:]...)
			if _, ok := s.openBody(swapped); ok {
				t.Error("segments in another order are opened")
			}
		}
	}
}

func TestSealedLines(t *testing.T) {
	s, other := newSeal(t), newSeal(t)
	text := []byte(`{"a":"secret text"}`)
	line := s.seal(sealHistory, bytes.Clone(text)).line(`"seq":7,`)
	if bytes.Contains(line, []byte("secret")) || bytes.ContainsRune(line, '\n') || !strings.HasPrefix(string(line), `{"seq":7,"sealed":"`) {
		t.Errorf("sealed: %s", line)
	}
	if seq, ok := seqOf(line); !ok || seq != 7 {
		t.Errorf("its number is %d", seq)
	}
	if got, err := s.openLine(sealHistory, append(line, '\n')); err != nil || string(got) != string(text) {
		t.Errorf("opened: %s (%v)", got, err)
	}
	for what, open := range map[string]func() ([]byte, error){
		"with another key": func() ([]byte, error) { return other.openLine(sealHistory, line) },
		"in another file":  func() ([]byte, error) { return s.openLine(sealJournal, line) },
		"cut":              func() ([]byte, error) { return s.openLine(sealHistory, line[:len(line)-9]) },
		"with another byte": func() ([]byte, error) {
			return s.openLine(sealHistory, append(append(bytes.Clone(line[:40]), line[40]^1), line[41:]...))
		},
	} {
		if got, err := open(); err == nil {
			t.Errorf("a line %s is opened as %s", what, got)
		}
	}
	for _, size := range []int{10, longLine - 29, longLine, 3 * longLine} {
		long := bytes.Repeat([]byte("x"), size)
		sealed := s.seal(sealJournal, bytes.Clone(long))
		var file bytes.Buffer
		if err := sealed.write(&file, []byte("before\n")); err != nil || file.Len() != len("before\n")+sealed.size() {
			t.Errorf("%d bytes: %d in the file, %d said (%v)", size, file.Len(), sealed.size(), err)
		}
		last, ok := bytes.CutPrefix(file.Bytes(), []byte("before\n"))
		if got, err := s.openLine(sealJournal, last); err != nil || !ok || !bytes.Equal(got, long) || last[len(last)-1] != '\n' {
			t.Errorf("%d bytes come back as %d (%v)", size, len(got), err)
		}
	}
	for _, plain := range []string{`{"counters":{"proposals":1}}`, `{"proposals":[{"rel":"a\"sealed\":\"b"}]}`} {
		if got, err := s.openLine(sealJournal, []byte(plain)); err != nil || string(got) != plain {
			t.Errorf("a line of an older version comes as %s (%v)", got, err)
		}
	}
}

// Nothing of a text, a name or a comment is in the state directory as it is, and
// all of it is there after a restart; without its key nothing starts.
func TestStateIsSealed(t *testing.T) {
	w := newQuietWorld(t, Limits{})
	const mark = "never-in-the-clear"
	s := w.session("label " + mark)
	w.save(mark, "1\n")
	w.propose(s, mark, "2 "+mark+"\n")
	long := strings.Repeat(mark+"\n", 1000)
	p := w.propose(s, "long-"+mark, long)
	w.restart()
	if _, err := w.store.compact(); err != nil {
		t.Fatal(err)
	}
	for name, text := range textsIn(t, w.state) {
		if strings.Contains(name+text, mark) {
			t.Errorf("%s has it in the clear: %.200q", name, text)
		}
	}
	w.restart()
	got, err := w.store.Get(p.ID)
	if err != nil || string(got.Proposed().Data) != long {
		t.Errorf("after a restart the proposal is %v", err)
	}
	w.close()
	key := filepath.Join(w.state, keyName)
	if info, err := os.Stat(key); err != nil || info.Mode().Perm() != privateFileMode && os.PathSeparator == '/' {
		t.Errorf("the key has mode %v (%v)", info.Mode(), err)
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	ws, err := OpenWorkspace([]string{w.root})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	if _, err := Open(ws, Options{Dir: w.state}); err == nil || !strings.Contains(err.Error(), "sealed with another key") {
		t.Errorf("without its key it starts: %v", err)
	}
}

func BenchmarkSealBody(b *testing.B) {
	s, err := openSeal(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	for _, size := range []int{8 << 10, 1 << 20, 100 << 20} {
		text := bytes.Repeat([]byte("a line of text\n"), size/15+1)[:size]
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.SetBytes(int64(size))
			var sink countingWriter
			for b.Loop() {
				if _, err := s.writeBody(&sink, text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

type countingWriter int

func (c *countingWriter) Write(p []byte) (int, error) {
	*c += countingWriter(len(p))
	return len(p), nil
}
