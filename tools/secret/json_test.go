package secret

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The strings of a JSON text are redacted, its shape stays.
func TestPropertyJSONStaysJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := aSecret().Draw(t, "secret")
		r := knowing(map[string]string{"A": key})
		encode := encoders[rapid.SampledFrom(sortedKeys(encoders)).Draw(t, "encoding")]
		doc := map[string]any{
			"text": around.Draw(t, "before") + encode(key+around.Draw(t, "after")), key: 1.0, "n": 123456.0,
			"list": []any{key, true, nil, "héllo\u2028 \x7f<&>"},
		}
		inner, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		var pieces [][]byte
		for rest := inner; len(rest) > 0; {
			n := min(len(rest), rapid.IntRange(1, 50).Draw(t, "piece"))
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		text, changed := r.JSON(pieces...)
		var got map[string]any
		if err := json.Unmarshal(text, &got); err != nil || !changed {
			t.Fatalf("%v in %q (changed %v)", err, text, changed)
		}
		list := got["list"].([]any)
		if got[Mark("A")] != 1.0 || got["n"] != 123456.0 || list[0] != Mark("A") || list[3] != "héllo\u2028 \x7f<&>" {
			t.Fatalf("the shape is %v", got)
		}
		if s := got["text"].(string); strings.Contains(s, key) || !strings.Contains(s, Mark("A")) {
			t.Fatalf("%q is in %q", key, s)
		}
	})
}

func TestJSONOfOtherEncoders(t *testing.T) {
	r := knowing(map[string]string{"A": "nabcdef", "N": "123456", "Q": `x"y\z-long`})
	for _, c := range []struct{ text, want string }{
		{`{"a":"x\nabcdef"}`, ``}, // a line end and abcdef
		{`{"a":"xnabcdef"}`, `{"a":"x[redacted:A]"}`},
		{`{"a":"\\u006eabcdef \\/"}`, ``}, // a backslash and text
		{`{"a":"\u006eabcdef"}`, `{"a":"[redacted:A]"}`},
		{`{"n":123456,"s":"123456"}`, `{"n":123456,"s":"[redacted:N]"}`},
		{`["x\"y\\z-long"]`, `["[redacted:Q]"]`},
		{`["{\"a\":\"x\\\"y\\\\z-long\"}"]`, `["{\"a\":\"[redacted:Q]\"}"]`},
		{`{"a":"b"}`, ``},
	} {
		text, changed := r.JSON([]byte(c.text))
		if changed != (c.want != "") || changed && string(text) != c.want {
			t.Errorf("%s became %s (changed %v), want %s", c.text, text, changed, c.want)
		}
	}
	if text, changed := r.JSON([]byte(`"nabcdef`)); !changed || string(text) != `"[redacted:A]` {
		t.Errorf("what is no JSON became %s", text)
	}
}

type verbose struct{ Inner []string }

func TestLogHandler(t *testing.T) {
	const key = "log-secret-1234"
	r := &Redactor{}
	var out bytes.Buffer
	log := slog.New(r.Handler(slog.NewTextHandler(&out, nil)))
	log.Info("Before " + key) // not known yet
	if !strings.Contains(out.String(), key) {
		t.Fatal("a redactor without values changes the log")
	}
	r.learn("KEY", key)
	out.Reset()
	log.WithGroup("g").With("bound", key).Error("It is "+key, "s", "a "+key, "error", errors.New("no "+key), "list", []string{key},
		"v", verbose{[]string{key}}, slog.Group("deep", "er", key), "n", 7, "bytes", []byte("plain"))
	if strings.Contains(out.String(), "log-secret") || strings.Count(out.String(), "[redacted:KEY]") != 7 || !strings.Contains(out.String(), "g.n=7") {
		t.Errorf("logged: %s", out.String())
	}
}
