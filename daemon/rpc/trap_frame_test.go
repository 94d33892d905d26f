package rpc

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
)

func TestTrapClaimedLengthAllocatesNothing(t *testing.T) {
	const claim = 2147483647
	in := newFrameReader(strings.NewReader(fmt.Sprintf("Content-Length: %d\r\n\r\n{}", claim)), claim)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := in.next()
	runtime.ReadMemStats(&after)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("got %v", err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
		t.Fatalf("%d bytes were allocated for 2 that came", got)
	}
}

func TestTrapHeaderLinesAreBounded(t *testing.T) {
	for name, header := range map[string]string{
		"one long line":        "X-Long: " + strings.Repeat("x", 9<<10),
		"one endless line":     "Content-Length: " + strings.Repeat("1", 9<<10),
		"many lines":           strings.Repeat("X-More: x\r\n", 1000),
		"garbage without end":  strings.Repeat("g", 9<<10),
		"garbage lines":        strings.Repeat("garbage\n", 2000),
		"empty lines":          strings.Repeat("\r\n", 5000),
		"exactly the limit + ": "X: " + strings.Repeat("x", maxHeader-3),
	} {
		t.Run(name, func(t *testing.T) {
			p := serve(t, Options{}, newBench().handle)
			go io.WriteString(p.nc, header) // may be cut short by the close
			m := p.recv()
			if strings.HasPrefix(name, "garbage lines") {
				m = p.recv() // the first answers the first line
			}
			if m.Error == nil || m.Error.Code != CodeParse || !strings.Contains(m.Error.Message, "8192") || string(m.ID) != "null" {
				t.Fatalf("got %s", m)
			}
			if err := p.ended(); err == nil || !strings.Contains(err.Error(), "header lines") {
				t.Fatalf("Run returned %v", err)
			}
		})
	}
}

func TestTrapHeaderForms(t *testing.T) {
	body := `{"jsonrpc":"2.0","id":1,"method":"echo","params":[1]}`
	for name, header := range map[string]string{
		"lower case":          "content-length: %d\r\n\r\n",
		"upper case":          "CONTENT-LENGTH: %d\r\n\r\n",
		"line feeds only":     "Content-Length: %d\n\n",
		"no space":            "Content-Length:%d\r\n\r\n",
		"more spaces":         "Content-Length:   %d  \r\n\r\n",
		"other headers":       "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\nX-Any: a:b\r\n\r\n",
		"stray line before":   "\r\n\r\nContent-Length: %d\r\n\r\n",
		"given twice, same":   "Content-Length: %d\r\nContent-Length: 53\r\n\r\n",
		"close to the limit":  "X: " + strings.Repeat("x", maxHeader-3-2-20-2) + "\r\nContent-Length: %d\r\n\r\n",
		"leading zeros":       "Content-Length: 000%d\r\n\r\n",
		"type after length":   "Content-Length: %d\r\nContent-Type: x\r\n\r\n",
		"mixed ends of lines": "Content-Length: %d\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			p := serve(t, Options{}, newBench().handle)
			p.send(fmt.Sprintf(header, len(body)) + body)
			p.wantResult("1", "[1]")
			p.usable()
		})
	}
}

func TestTrapGarbageHeaders(t *testing.T) {
	body := `{"jsonrpc":"2.0","id":1,"method":"echo","params":[1]}`
	for name, c := range map[string]struct{ text, answer string }{
		"a line of text":          {"hello\r\n", "not a header line"},
		"JSON lines, as in MCP":   {body + "\n", "not a header line"},
		"no length":               {"Content-Type: x\r\n\r\n", "without Content-Length"},
		"no length, then a body":  {"Content-Type: x\r\n\r\n" + body, "without Content-Length"},
		"negative length":         {"Content-Length: -5\r\n\r\n", "not a number"},
		"length with sign":        {"Content-Length: +53\r\n\r\n" + body, "not a number"},
		"length as text":          {"Content-Length: many\r\n\r\n" + body, "not a number"},
		"length beyond 63 bits":   {"Content-Length: 9223372036854775808\r\n\r\n" + body, "not a number"},
		"two lengths":             {"Content-Length: 53\r\nContent-Length: 54\r\n\r\n" + body, "two different"},
		"garbage after length":    {"Content-Length: 53\r\ngarbage\r\n\r\n" + body, "not a header line"},
		"binary":                  {"\x00\xff\xfe\r\n", "not a header line"},
		"space in header name":    {"Content Length: 53\r\n", "not a header line"},
		"a length inside garbage": {"say Content-Length: x\r\n", "not a header line"},
	} {
		t.Run(name, func(t *testing.T) {
			p := serve(t, Options{}, newBench().handle)
			p.send(c.text)
			p.wantError("null", CodeParse, c.answer)
			p.usable()
			p.usable()
		})
	}
}

func TestTrapBadMessagesAreAnswered(t *testing.T) {
	for name, c := range map[string]struct {
		body, id string
		code     int64
		text     string
	}{
		"no JSON":              {`hello`, "null", CodeParse, "at byte 0"},
		"cut JSON":             {`{"jsonrpc":"2.0","id":1,"method":"echo"`, "null", CodeParse, "invalid JSON"},
		"empty body":           {``, "null", CodeParse, "invalid JSON"},
		"two values":           {`{"jsonrpc":"2.0","id":1,"method":"echo"}{}`, "null", CodeParse, "end of message"},
		"unbalanced":           {`{"jsonrpc":"2.0","id":1,"method":"echo","params":{]}`, "null", CodeParse, "invalid JSON"},
		"trailing comma":       {`{"jsonrpc":"2.0","id":1,"method":"echo",}`, "null", CodeParse, "member name"},
		"invalid UTF-8":        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", "null", CodeParse, "UTF-8 at byte 34"},
		"raw control":          {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\nb\"}", "null", CodeParse, "control character"},
		"batch":                {`[{"jsonrpc":"2.0","id":1,"method":"echo"}]`, "null", CodeInvalidRequest, "batches"},
		"empty batch":          {`[]`, "null", CodeInvalidRequest, "batches"},
		"broken batch":         {`[{]`, "null", CodeParse, "invalid JSON"},
		"scalar":               {`7`, "null", CodeInvalidRequest, "not a JSON object"},
		"null":                 {`null`, "null", CodeInvalidRequest, "not a JSON object"},
		"empty object":         {`{}`, "null", CodeInvalidRequest, "jsonrpc"},
		"no version":           {`{"id":1,"method":"echo"}`, "1", CodeInvalidRequest, "jsonrpc"},
		"wrong version":        {`{"jsonrpc":"1.0","id":1,"method":"echo"}`, "1", CodeInvalidRequest, "jsonrpc"},
		"version as number":    {`{"jsonrpc":2.0,"id":1,"method":"echo"}`, "1", CodeInvalidRequest, "jsonrpc"},
		"fractional id":        {`{"jsonrpc":"2.0","id":1.5,"method":"echo"}`, "1.5", CodeInvalidRequest, "id is neither"},
		"id of 2^31":           {`{"jsonrpc":"2.0","id":2147483648,"method":"echo"}`, "2147483648", CodeInvalidRequest, "id is neither"},
		"null id":              {`{"jsonrpc":"2.0","id":null,"method":"echo"}`, "null", CodeInvalidRequest, "id is neither"},
		"object id":            {`{"jsonrpc":"2.0","id":{},"method":"echo"}`, "null", CodeInvalidRequest, "id is neither"},
		"true id":              {`{"jsonrpc":"2.0","id":true,"method":"echo"}`, "null", CodeInvalidRequest, "id is neither"},
		"empty id":             {`{"jsonrpc":"2.0","id":"","method":"echo"}`, `""`, CodeInvalidRequest, "id is neither"},
		"long id":              {`{"jsonrpc":"2.0","id":"` + strings.Repeat("i", 300) + `","method":"echo"}`, "null", CodeInvalidRequest, "id is neither"},
		"no method":            {`{"jsonrpc":"2.0","id":1}`, "1", CodeInvalidRequest, "method is not"},
		"empty method":         {`{"jsonrpc":"2.0","id":1,"method":""}`, "1", CodeInvalidRequest, "method is not"},
		"method as number":     {`{"jsonrpc":"2.0","id":1,"method":12345}`, "1", CodeInvalidRequest, "method is not"},
		"long method":          {`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("m", 300) + `"}`, "1", CodeInvalidRequest, "method is not"},
		"scalar params":        {`{"jsonrpc":"2.0","id":1,"method":"echo","params":5}`, "1", CodeInvalidRequest, "params"},
		"id given twice":       {`{"jsonrpc":"2.0","id":1,"method":"echo","id":2}`, "2", CodeInvalidRequest, "twice"},
		"twice, by an escape":  {`{"jsonrpc":"2.0","id":1,"method":"echo","\u0069d":2}`, "2", CodeInvalidRequest, "twice"},
		"byte order mark":      {"\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"echo"}`, "null", CodeParse, "at byte 0"},
		"bad escape":           {`{"jsonrpc":"2.0","id":1,"method":"\x"}`, "null", CodeParse, "an escape"},
		"notification, no 2.0": {`{"method":"echo"}`, "null", CodeInvalidRequest, "jsonrpc"},
	} {
		t.Run(name, func(t *testing.T) {
			p := serve(t, Options{}, newBench().handle)
			p.send(frame(c.body))
			p.wantError(c.id, c.code, c.text)
			p.usable()
		})
	}
}

func TestTrapAnswersAreNeverAnswered(t *testing.T) {
	p := serve(t, Options{}, newBench().handle)
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":99,"result":1}`,
		`{"jsonrpc":"2.0","id":"x","result":1}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}`,
		`{"jsonrpc":"2.0","error":{"code":-32700,"message":"what?"}}`,
		`{"jsonrpc":"2.0","id":1.5,"result":1}`,
		`{"jsonrpc":"2.0","id":1,"error":"text"}`,
		`{"id":1,"result":1}`,
		`{"jsonrpc":"2.0","id":1,"result":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`,
	} {
		p.send(frame(body))
	}
	p.usable()
}

func TestTrapDeepNestingIsRefused(t *testing.T) {
	nested := func(levels int) string {
		return `{"jsonrpc":"2.0","id":1,"method":"echo","params":` + strings.Repeat("[", levels) + strings.Repeat("]", levels) + `}`
	}
	p := serve(t, Options{}, newBench().handle)
	p.send(frame(nested(maxDepth - 1)))
	if m := p.recv(); m.Error != nil {
		t.Fatalf("at the limit: %s", m)
	}
	for _, levels := range []int{maxDepth, 100_000, 5_000_000} {
		p.send(frame(nested(levels)))
		p.wantError("1", CodeInvalidRequest, "nests deeper than 1000")
	}
	p.send(frame(strings.Repeat(`{"a":`, 1_000_000)))
	p.wantError("null", CodeParse, "invalid JSON")
	p.usable()
}

func TestTrapFrameOverTheLimitIsSkipped(t *testing.T) {
	p := serve(t, Options{MaxFrame: 1000}, newBench().handle)
	p.send("Content-Length: 30000000\r\n\r\n")
	p.wantError("null", CodeInvalidRequest, "over the limit of 1000 bytes") // before the body came
	chunk := strings.Repeat("x", 100_000)
	for range 300 {
		p.send(chunk)
	}
	p.usable()
	p.send(frame(strings.Repeat(" ", 1001)))
	p.wantError("null", CodeInvalidRequest, "message of 1001 bytes")
	body := `{"jsonrpc":"2.0","id":1,"method":"echo","params":[]}`
	p.send(frame(body + strings.Repeat(" ", 1000-len(body))))
	p.wantResult("1", "[]")
}
