package secret

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// knowing is a redactor that knows values by name.
func knowing(values map[string]string) *Redactor {
	r := &Redactor{}
	for name, value := range values {
		r.learn(name, value)
	}
	return r
}

// wrap breaks a text into lines of width bytes.
func wrap(text, end string, width int) string {
	var out strings.Builder
	for len(text) > width {
		out.WriteString(text[:width] + end)
		text = text[width:]
	}
	return out.String() + text
}

// encoders are the ways in which a program may print a text.
var encoders = map[string]func(string) string{
	"plain":      func(s string) string { return s },
	"base64":     func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64 raw": func(s string) string { return base64.RawStdEncoding.EncodeToString([]byte(s)) },
	"base64 url": func(s string) string { return base64.URLEncoding.EncodeToString([]byte(s)) },
	"base64 -w76": func(s string) string {
		return wrap(base64.StdEncoding.EncodeToString([]byte(s)), "\n", 76)
	},
	"base64 MIME": func(s string) string {
		return wrap(base64.StdEncoding.EncodeToString([]byte(s)), "\r\n", 64)
	},
	"base64 lines in JSON": func(s string) string {
		return inJSON(wrap(base64.StdEncoding.EncodeToString([]byte(s)), "\r\n", 60))
	},
	"hex":          func(s string) string { return hex.EncodeToString([]byte(s)) },
	"HEX":          func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
	"xxd -p":       func(s string) string { return wrap(hex.EncodeToString([]byte(s)), "\n", 60) },
	"query":        url.QueryEscape,
	"path":         url.PathEscape,
	"lower %":      func(s string) string { return lowerHex(url.QueryEscape(s)) },
	"every byte %": everyByte,
	"JSON":         inJSON,
	"JSON in JSON": func(s string) string { return inJSON(inJSON(s)) },
	"JSON ASCII":   func(s string) string { return asciiOnly(quoted(s, false)) },
	"html JSON":    func(s string) string { b, _ := json.Marshal(s); return string(b) },
}

func inJSON(s string) string { return `{"a":"` + quoted(s, false) + `"}` }

var (
	letters = rapid.StringMatching(`[A-Za-z0-9_-]{6,60}`)
	symbols = rapid.StringMatching(`[ -~é€😀]{6,40}`)
	several = rapid.StringMatching(`([A-Za-z0-9+/"\\]{12,64}\n){2,4}[A-Za-z0-9=]{12}`)
)

func aSecret() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		s := strings.Trim(rapid.OneOf(letters, symbols, several).Draw(t, "secret"), " \r\n")
		if len(s) < MinValue || unmarkable(s, []string{"A", "B", "C"}) {
			return "dull-secret-value"
		}
		return s
	})
}

// The text around a secret; it is in the encoding, too, so that base64 begins
// anywhere.
var around = rapid.StringMatching(`[a-z =:"/\n]{0,50}`)

// chunks writes text into w in pieces of drawn sizes.
func chunks(t *rapid.T, w interface{ Write([]byte) (int, error) }, text string) {
	for len(text) > 0 {
		n := min(len(text), rapid.IntRange(1, 40).Draw(t, "chunk"))
		if _, err := w.Write([]byte(text[:n])); err != nil {
			t.Fatal(err)
		}
		text = text[n:]
	}
}

func TestPropertyNoSecretComesThrough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := map[string]string{}
		for _, name := range []string{"A", "B", "C"}[:rapid.IntRange(1, 3).Draw(t, "secrets")] {
			values[name] = aSecret().Draw(t, name)
		}
		r := knowing(values)
		encoding := rapid.SampledFrom(sortedKeys(encoders)).Draw(t, "encoding")
		encode := encoders[encoding]
		var text, inside strings.Builder
		for name, value := range values {
			fmt.Fprintf(&inside, "%s%s=%s", around.Draw(t, "around"), strings.ToLower(name), value)
		}
		text.WriteString(around.Draw(t, "before") + encode(inside.String()+around.Draw(t, "after")) + around.Draw(t, "behind"))

		whole := string(r.Bytes([]byte(text.String())))
		var out bytes.Buffer
		w := r.Writer(&out)
		chunks(t, w, text.String())
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		for _, got := range []string{whole, out.String()} {
			for name, value := range values {
				if strings.Contains(got, value) || strings.Contains(unfolded(got), core(encode, value)) {
					t.Fatalf("%s %q comes through as %s: %q", name, value, encoding, got)
				}
			}
			if !strings.Contains(got, "[redacted:") {
				t.Fatalf("nothing was redacted in %q", got)
			}
		}
	})
}

// core is the middle of an encoded secret, which is the same wherever it stands.
func core(encode func(string) string, value string) string {
	form := unfolded(encode(value))
	form = strings.TrimSuffix(strings.TrimPrefix(form, `{"a":"`), `"}`)
	form = strings.TrimRight(strings.Trim(form, `"`), "=")
	return form[:max(1, len(form)-1)]
}

// unfolded is a text without line breaks.
func unfolded(s string) string {
	return strings.NewReplacer("\r", "", "\n", "", `\r`, "", `\n`, "").Replace(s)
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	for i := range keys {
		for j := range i {
			if keys[i] < keys[j] {
				keys[i], keys[j] = keys[j], keys[i]
			}
		}
	}
	return keys
}

func TestPropertyTextWithoutSecretsIsUnchanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// The texts have no digit, and every form of these has one.
		r := knowing(map[string]string{"A": "1" + letters.Draw(t, "a"), "B": "2e3é" + letters.Draw(t, "b")})
		text := rapid.StringMatching(`([a-zA-Z \r\n\\"nré]|eyJh){0,400}`).Draw(t, "text")
		if got := r.Bytes([]byte(text)); string(got) != text {
			t.Fatalf("%q became %q", text, got)
		}
		var out bytes.Buffer
		w := r.Writer(&out)
		chunks(t, w, text)
		w.Close()
		if out.String() != text {
			t.Fatalf("%q became %q", text, out.String())
		}
	})
}

// Whatever comes in pieces is what comes at once.
func TestPropertyChunksMakeNoDifference(t *testing.T) {
	few := rapid.StringMatching(`[ab]{6,9}`)
	rapid.Check(t, func(t *rapid.T) {
		r := knowing(map[string]string{"X": few.Draw(t, "x"), "Y": few.Draw(t, "y")})
		text := rapid.StringMatching(`[ab]{0,80}c`).Draw(t, "text")
		var out bytes.Buffer
		w := r.Writer(&out)
		chunks(t, w, text)
		w.Close()
		want := r.String(text)
		plain := func(s string) string { return strings.ReplaceAll(s, ":Y]", ":X]") } // of two that overlap either may name the mark
		if plain(out.String()) != plain(want) {
			t.Fatalf("%q in chunks is %q, at once %q", text, out.String(), want)
		}
		for _, name := range []string{"X", "Y"} {
			if strings.Contains(want, r.values[name][0]) {
				t.Fatalf("%q is in %q", r.values[name][0], want)
			}
		}
	})
}

func TestRedaction(t *testing.T) {
	const key = "sk-live/4f+9\"Q"
	pem := "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\n9w0BAQEFAASCBKcwggSj\n-----END KEY-----"
	r := knowing(map[string]string{"KEY": key, "LONG": key + "-and-more", "OTHER": "4f+9\"Qxyz", "PEM": pem})
	for _, c := range []struct{ text, want string }{
		{"a " + key + " b", "a [redacted:KEY] b"},
		{key + key, "[redacted:KEY][redacted:KEY]"},
		{key + "-and-more", "[redacted:LONG]"},
		{key + "-and-less", "[redacted:KEY]-and-less"},
		{key + "xyz", "[redacted:KEY]"}, // overlaps OTHER: nothing of either is left
		{key[:13], key[:13]},
		{"q=sk-live%2F4f%2B9%22Q&b", "q=[redacted:KEY]&b"},
		{`"sk-live\/4f+9\"Q"`, `"[redacted:KEY]"`},
		{pem, "[redacted:PEM]"},
		{strings.ReplaceAll(pem, "\n", "\r\n"), "[redacted:PEM]"},
		{"+MIIEvQIBADANBgkqhkiG\n+9w0BAQEFAASCBKcwggSj\n", "+[redacted:PEM]\n+[redacted:PEM]\n"},
		{"-----BEGIN KEY-----\nof somebody else", "-----BEGIN KEY-----\nof somebody else"},
		{"", ""},
	} {
		if got := r.String(c.text); got != c.want {
			t.Errorf("%q became %q, want %q", c.text, got, c.want)
		}
	}
	var none *Redactor
	if none.String(key) != key || string(none.Bytes([]byte(key))) != key || none.Margin() != 0 || !none.Idle() {
		t.Error("a nil redactor changes something")
	}
}

func TestCutTexts(t *testing.T) {
	const key = "abcdefghijklmnop-1234"
	r := knowing(map[string]string{"KEY": key})
	for _, c := range []struct{ text, want string }{
		{"is abcdefgh", "is [redacted:KEY]"},
		{"is abcd", "is [redacted:KEY]"},
		{"is abc", "is abc"},
		{"1234 was", "[redacted:KEY] was"},
		{"nop-1234" + key, "[redacted:KEY][redacted:KEY]"},
		{"abcd in the middle 1234 too.", "abcd in the middle 1234 too."},
	} {
		if got := r.Cut([]byte(c.text)); string(got) != c.want {
			t.Errorf("%q became %q, want %q", c.text, got, c.want)
		}
	}
	text := []byte("a=" + key + ";")
	for from := range len(text) {
		for to := from; to <= len(text); to++ {
			part := string(r.Part(text, from, to))
			want := string(text[from:to])
			if from < 2+len(key) && to > 2 && from < to {
				want = string(text[min(from, 2):2]) + "[redacted:KEY]" + string(text[2+len(key):max(to, 2+len(key))])
			}
			if part != want {
				t.Fatalf("%d to %d is %q, want %q", from, to, part, want)
			}
		}
	}
}

func TestWriterHoldsBackOnlyWhatMayBeASecret(t *testing.T) {
	r := knowing(map[string]string{"KEY": "abcdef-12345_"})
	var out bytes.Buffer
	w := r.Writer(&out)
	for _, c := range []struct{ text, passed string }{
		{"Password: ", "Password: "},
		{"abc", ""},
		{"de", ""},
		{"x", "abcdex"},
		{"abcdef-12", ""},
		{"345_", "[redacted:KEY]"},
		{"\n", "\n"},
	} {
		out.Reset()
		w.Write([]byte(c.text))
		if out.String() != c.passed {
			t.Errorf("after %q comes %q, want %q", c.text, out.String(), c.passed)
		}
	}
	out.Reset()
	w.Write([]byte("abcdef-1"))
	r.learn("NEW", "ef-1now-known") // loaded meanwhile: what is held back is searched for it
	w.Write([]byte("now-known"))
	w.Close()
	if out.String() != "abcd[redacted:NEW]" {
		t.Errorf("a secret that is learned on the way comes out as %q", out.String())
	}
	out.Reset()
	w = r.Writer(&out)
	w.Write([]byte("it is abcdef-12"))
	w.Close()
	if out.String() != "it is [redacted:KEY]" {
		t.Errorf("a text cut within a secret ends as %q", out.String())
	}
	// A run of overlapping secrets takes no room.
	r.learn("RUN", "aaaaaa")
	w = r.Writer(&out)
	for range 1000 {
		w.Write([]byte(strings.Repeat("a", 1000)))
	}
	if held := cap(w.(*writer).buf); held > 64<<10 {
		t.Errorf("%d bytes are held back", held)
	}
	w.Close()
}

// Rings keep a head and a tail of a stream: the marks are in it before it is cut.
func TestRingsNeverSeeASecret(t *testing.T) {
	const key = "ring-secret-0123456789"
	r := knowing(map[string]string{"KEY": key})
	for shift := range 64 {
		ring := &ringOf{size: 64}
		w := r.Writer(ring)
		text := strings.Repeat(".", shift) + key + strings.Repeat("-", 64) + key + strings.Repeat(".", 64-shift)
		for i := range len(text) {
			w.Write([]byte(text[i : i+1]))
		}
		w.Close()
		for size := 4; size <= len(key); size++ {
			for at := 0; at+size <= len(key); at++ {
				if part := key[at : at+size]; strings.Contains(string(ring.head)+"|"+string(ring.tail), part) && part != "----" {
					t.Fatalf("%q of the secret is in %q and %q", part, ring.head, ring.tail)
				}
			}
		}
	}
}

// ringOf keeps the first and the last size bytes.
type ringOf struct {
	size       int
	head, tail []byte
}

func (r *ringOf) Write(p []byte) (int, error) {
	room := r.size - len(r.head)
	r.head = append(r.head, p[:min(room, len(p))]...)
	r.tail = append(r.tail, p[min(room, len(p)):]...)
	r.tail = r.tail[max(0, len(r.tail)-r.size):]
	return len(p), nil
}

// A text of nothing but secrets does not grow without bound.
func TestMarksAreBounded(t *testing.T) {
	r := knowing(map[string]string{"A_NAME_THAT_IS_LONG": "123456"})
	text := strings.Repeat("123456\n", 4*maxMarks)
	if got := r.String(text); strings.Contains(got, "123456") || len(got) > len(text)+maxMarks*len(Mark("A_NAME_THAT_IS_LONG")) {
		t.Errorf("%d bytes became %d", len(text), len(got))
	}
	list, changed := r.JSON([]byte("[" + strings.Repeat(`"123456",`, 2*maxMarks) + "1]"))
	if !changed || strings.Count(string(list), "[redacted:") != maxMarks || strings.Contains(string(list), "123456") {
		t.Errorf("a list has %d marks", strings.Count(string(list), "[redacted:"))
	}
}
