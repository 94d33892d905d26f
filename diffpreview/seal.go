package diffpreview

import (
	"bufio"
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// seal keeps what is in the state directory from whoever reads its files without
// its key: a backup, a search over the home, an eye. The key lies beside them, so
// that it is no wall against a process of the same user.
//
// Lines are AES-256-GCM with a random nonce, in base64. A body is a header, a salt,
// and segments, each AES-256-GCM under a key of that body's own, numbered, and the
// last one marked.
type seal struct {
	key  []byte
	line cipher.AEAD
}

// What lines are sealed for.
const (
	sealJournal = "journal"
	sealHistory = "history"
)

const (
	sealKeySize = 32
	keyName     = "key"
	newKey      = ".key-" // begins the name of a key that is being written

	bodyHeader  = "loomd sealed body 1\n"
	bodySalt    = 32
	bodySegment = 1 << 20 // bytes of text in a segment: memory that a body of any size takes
)

// openSeal reads the key in dir, and makes one where there is none.
func openSeal(dir string) (*seal, error) {
	path := filepath.Join(dir, keyName)
	key, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		key, err = makeKey(dir, path)
	}
	if err != nil {
		return nil, fmt.Errorf("journal: its key: %w", err)
	}
	if len(key) != sealKeySize {
		return nil, fmt.Errorf("journal: its key %s has %d bytes, not %d", path, len(key), sealKeySize)
	}
	info, err := os.Stat(path)
	if err == nil {
		err = closeFile(path, info)
	}
	if err != nil {
		return nil, fmt.Errorf("journal: its key: %w", err)
	}
	line, err := newGCM(key, "lines", nil)
	if err != nil {
		return nil, fmt.Errorf("journal: its key: %w", err)
	}
	return &seal{key, line}, nil
}

func makeKey(dir, path string) ([]byte, error) {
	old, err := filepath.Glob(filepath.Join(dir, newKey+"*"))
	if err != nil {
		return nil, err
	}
	for _, left := range old { // by a crash
		if err := removeFile(left); err != nil {
			return nil, err
		}
	}
	key := make([]byte, sealKeySize)
	rand.Read(key) // never fails
	f, err := createPrivate(dir, newKey+"*")
	if err != nil {
		return nil, err
	}
	if err = writeSynced(f, key); err == nil {
		err = replaceFile(f.Name(), path)
	}
	if err != nil {
		removeFile(f.Name())
		return nil, err
	}
	return key, syncDir(dir)
}

// newGCM makes the cipher of one use of a key: with a nonce of its own choice, or
// for a body (that has a salt) with one that is given.
func newGCM(key []byte, use string, salt []byte) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, key, salt, "loomd "+use, sealKeySize)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	if salt == nil {
		return cipher.NewGCMWithRandomNonce(block)
	}
	return cipher.NewGCM(block)
}

// sealedHead begins what a sealed line holds, after what is before it in clear.
const sealedHead = `"sealed":"`

// sealed is a text that was sealed and is not yet a line.
type sealed []byte

// seal seals a line of JSON, whose memory is used for that. use keeps the lines of
// one file from being taken for those of another.
func (s *seal) seal(use string, line []byte) sealed {
	return s.line.Seal(line[:0], nil, line, []byte(use))
}

// line is a sealed line as it is in a file, without its end: a JSON object that
// shows in clear nothing, or members that end with a comma.
func (t sealed) line(clear string) []byte {
	out := make([]byte, 0, len(clear)+len(sealedHead)+base64.StdEncoding.EncodedLen(len(t))+len("{\"}\n"))
	out = append(append(append(out, '{'), clear...), sealedHead...)
	return append(base64.StdEncoding.AppendEncode(out, t), `"}`...)
}

// size is how many bytes a line takes in the journal, with its end.
func (t sealed) size() int {
	return len("{") + len(sealedHead) + base64.StdEncoding.EncodedLen(len(t)) + len("\"}\n")
}

// longLine is the size in bytes from which a line is written in pieces: a record of
// tens of megabytes is not held a second time.
const longLine = 64 << 10

// write writes a line of the journal with its end, after what comes before it.
func (t sealed) write(w io.Writer, before []byte) error {
	if len(t) < longLine {
		_, err := w.Write(append(append(slices.Clip(before), t.line("")...), '\n'))
		return err
	}
	out := bufio.NewWriterSize(w, longLine)
	out.Write(before)
	out.WriteString("{" + sealedHead)
	text := base64.NewEncoder(base64.StdEncoding, out)
	_, err := text.Write(t)
	err = errors.Join(err, text.Close())
	out.WriteString("\"}\n")
	return errors.Join(err, out.Flush())
}

// openLine is the line that was sealed. A line that is not sealed, as older
// versions wrote it, is as it is.
func (s *seal) openLine(use string, line []byte) ([]byte, error) {
	const near = 64 // where it is in a sealed line; within a string of JSON its quotation marks would be escaped
	at := bytes.Index(line[:min(len(line), near)], []byte(sealedHead))
	if at < 0 {
		return line, nil
	}
	coded, ok := bytes.CutSuffix(bytes.TrimRight(line[at+len(sealedHead):], "\n"), []byte(`"}`))
	text, err := base64.StdEncoding.AppendDecode(nil, coded)
	if err == nil && ok {
		text, err = s.line.Open(text[:0], nil, text, []byte(use))
	}
	if err != nil || !ok {
		return nil, errors.New("it is damaged, or was sealed with another key")
	}
	return text, nil
}

// writeBody writes a text sealed into w and returns how many bytes that took.
func (s *seal) writeBody(w io.Writer, text []byte) (int64, error) {
	head := append(make([]byte, 0, len(bodyHeader)+bodySalt), bodyHeader...)
	head = head[:cap(head)]
	salt := head[len(bodyHeader):]
	rand.Read(salt)
	gcm, err := newGCM(s.key, "body", salt)
	if err != nil {
		return 0, err
	}
	total := int64(0)
	write := func(p []byte) error {
		n, err := w.Write(p)
		total += int64(n)
		return err
	}
	if err := write(head); err != nil {
		return total, err
	}
	var buf []byte
	for n := uint64(0); ; n++ {
		size := min(len(text), bodySegment)
		last := size == len(text)
		buf = gcm.Seal(buf[:0], bodyNonce(n, last), text[:size], nil)
		if err := write(buf); err != nil || last {
			return total, err
		}
		text = text[size:]
	}
}

// openBody is the text that was sealed; ok is false when data is not sealed.
func (s *seal) openBody(data []byte) (text []byte, ok bool) {
	rest, found := bytes.CutPrefix(data, []byte(bodyHeader))
	if !found || len(rest) < bodySalt {
		return nil, false
	}
	gcm, err := newGCM(s.key, "body", rest[:bodySalt])
	if err != nil {
		return nil, false
	}
	rest = rest[bodySalt:]
	text = make([]byte, 0, len(rest))
	for n := uint64(0); ; n++ {
		size := min(len(rest), bodySegment+gcm.Overhead())
		last := size == len(rest)
		if text, err = gcm.Open(text, bodyNonce(n, last), rest[:size], nil); err != nil {
			return nil, false
		}
		if last {
			return text, true
		}
		rest = rest[size:]
	}
}

func bodyNonce(n uint64, last bool) []byte {
	nonce := binary.BigEndian.AppendUint64(make([]byte, 0, 12), n)
	if last {
		return append(nonce, 0, 0, 0, 1)
	}
	return append(nonce, 0, 0, 0, 0)
}

// isSealed reports whether a file begins as a sealed body.
func isSealed(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, len(bodyHeader))
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, err
	}
	return strings.HasPrefix(string(head[:n]), bodyHeader), nil
}
