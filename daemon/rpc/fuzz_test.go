package rpc

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzFrames sends arbitrary bytes and then a good request: the connection
// answers with well-formed frames or ends; it never panics and never hangs.
func FuzzFrames(f *testing.F) {
	for _, seed := range []string{
		"", "\r\n", "Content-Length: 5\r\n\r\nhello", "Content-Length: 99999\r\n\r\n{",
		"content-length:2\n\n{}", "Content-Length: -1\r\n\r\n", "garbage\r\n",
		request("1", "echo", "[1]"), request(`"a"`, "fail", "{}"), notice("panic", "{}"),
		request("1", "echo", "[1]") + cancelOf("1") + request("1", "echo", "[2]"),
		frame(`[{"jsonrpc":"2.0"}]`), frame(strings.Repeat("[", 3000)), frame("\xff"),
		frame(`{"jsonrpc":"2.0","id":1,"result":1}`), frame(`{"id":1,"id":2}`),
		"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x", "X: y\r\n\r\n" + request("1", "echo", "[1]"),
	} {
		f.Add([]byte(seed))
	}
	good := request(`"good"`, "echo", `["ok"]`)
	f.Fuzz(func(t *testing.T, data []byte) {
		pipe := &onceBuffer{in: io.MultiReader(bytes.NewReader(data), strings.NewReader(good))}
		c := NewConn(pipe, Options{MaxFrame: 1 << 20})
		b := newBench()
		err := c.Run(context.Background(), b.handle)
		var refused *refusal
		if err != nil && !(errors.As(err, &refused) && refused.fatal) {
			t.Fatalf("Run returned %v", err)
		}
		for in := bufio.NewReader(&pipe.out); ; {
			body, err := readFrame(in)
			if errors.Is(err, io.EOF) {
				break
			}
			var m wire
			if err != nil || !utf8.Valid(body) || json.Unmarshal(body, &m) != nil || m.ID == nil {
				t.Fatalf("wrote %q, %v", body, err)
			}
		}
	})
}

// FuzzFrameBody puts arbitrary bytes into a good frame: what encoding/json does
// not take is a parse error, and the connection stays usable.
func FuzzFrameBody(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "[]", "null", `"\ud800"`, `{"a":[1,2,{"b":null}]}`, "01", "-", "1e", "1.5E+3", `"\u12G4"`, "[1,]", `{"a"}`,
		`{"jsonrpc":"2.0","id":1,"method":"echo","params":[true,false]}`, "\ufeff{}", "\"\x7f\"", "\"\x1f\"", "tru", "{\"a\":1 \t\r\n}", "-0", "[[]", "{]",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if s := (scanner{data: body}); (s.value() == nil && s.end() == nil) != json.Valid(body) {
			t.Fatalf("encoding/json says valid: %v", json.Valid(body))
		}
		in := newFrameReader(strings.NewReader(frame(string(body))+frame("{}")), 1<<20)
		got, err := in.next()
		if err != nil || !bytes.Equal(got, body) {
			t.Fatalf("got %q, %v", got, err)
		}
		_, refused := decode(got)
		wellFormed := json.Valid(body) && utf8.Valid(body)
		if !wellFormed && (refused == nil || refused.code != CodeParse) || wellFormed && refused != nil && refused.code == CodeParse {
			t.Fatalf("well-formed: %v, refused: %v", wellFormed, refused)
		}
		if got, err = in.next(); err != nil || string(got) != "{}" {
			t.Fatalf("the next frame: %q, %v", got, err)
		}
	})
}
