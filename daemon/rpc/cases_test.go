package rpc

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestC192SplitAndJoinedFrames(t *testing.T) {
	t.Run("one request in 1-byte writes", func(t *testing.T) {
		p := serve(t, Options{}, newBench().handle)
		for _, b := range []byte(request("1", "echo", `["你好"]`)) {
			if _, err := p.nc.Write([]byte{b}); err != nil {
				t.Fatal(err)
			}
		}
		p.wantResult("1", `["你好"]`)
	})
	t.Run("1-byte reads", func(t *testing.T) {
		near, far := socketPair(t)
		p := serveOn(t, byteByByte{near}, far, Options{}, newBench().handle)
		p.send(request("1", "echo", `["你好"]`) + request(`"二"`, "echo", `[2]`))
		seen := map[string]string{}
		for range 2 {
			m := p.recv()
			seen[string(m.ID)] = string(m.Result)
		}
		if seen["1"] != `["你好"]` || seen[`"二"`] != "[2]" {
			t.Fatalf("got %q", seen)
		}
	})
	t.Run("10 requests in one write", func(t *testing.T) {
		p := serve(t, Options{}, newBench().handle)
		var all strings.Builder
		for i := range 10 {
			all.WriteString(request(fmt.Sprint(i), "echo", fmt.Sprintf("[%d]", i)))
		}
		p.send(all.String())
		seen := map[string]bool{}
		for range 10 {
			m := p.recv()
			if string(m.Result) != "["+string(m.ID)+"]" || seen[string(m.ID)] {
				t.Fatalf("got %s", m)
			}
			seen[string(m.ID)] = true
		}
	})
	t.Run("every cut, also inside 你", func(t *testing.T) {
		p := serve(t, Options{}, newBench().handle)
		text := request("1", "echo", `["你"]`)
		for cut := range len(text) {
			p.send(text[:cut])
			p.send(text[cut:])
			p.wantResult("1", `["你"]`)
		}
	})
	t.Run("a frame, and half of the next", func(t *testing.T) {
		p := serve(t, Options{}, newBench().handle)
		one, two := request("1", "echo", `["你"]`), request("2", "echo", `["好"]`)
		for cut := range len(two) {
			p.send(one + two[:cut])
			p.wantResult("1", `["你"]`)
			p.send(two[cut:])
			p.wantResult("2", `["好"]`)
		}
	})
}

// byteByByte is a pipe that gives one byte per read.
type byteByByte struct{ io.ReadWriteCloser }

func (b byteByByte) Read(to []byte) (int, error) {
	if len(to) > 1 {
		to = to[:1]
	}
	return b.ReadWriteCloser.Read(to)
}

func TestC198LateAndUnknownCancels(t *testing.T) {
	b := newBench()
	p := serve(t, Options{}, b.handle)
	p.send(request("1", "echo", "[]"))
	p.wantResult("1", "[]")
	p.send(cancelOf("1"))               // finished
	p.send(cancelOf("999"))             // never seen
	p.send(cancelOf(`"999"`))           //
	p.send(notice(cancelMethod, "{}"))  // no id
	p.send(notice(cancelMethod, "[7]")) // no object
	p.send(cancelOf("[1]") + cancelOf("1.5") + cancelOf("null"))
	p.send(frame(`{"jsonrpc":"2.0","method":"$/cancelRequest"}`))
	p.usable()
	p.send(request("7", "hold", "{}"))
	await(t, b.started, "the request to start")
	p.send(cancelOf("7") + cancelOf("7"))
	p.wantError("7", CodeRequestCancelled, "cancelled")
	p.send(cancelOf("7"))
	p.usable() // nothing else was answered
	p.send(request("7", "echo", `["again"]`))
	p.wantResult("7", `["again"]`)
}

func TestC191MessageOf5MiB(t *testing.T) {
	p := serve(t, Options{}, newBench().handle)
	params := `["` + strings.Repeat("line of text <你> \\\"quoted\\\"\\n", 5<<20/30) + `"]`
	go io.WriteString(p.nc, request("1", "echo", params))
	m := p.recv()
	if string(m.ID) != "1" || string(m.Result) != params {
		t.Fatalf("%d bytes came back of %d", len(m.Result), len(params))
	}
	p.usable()
}
