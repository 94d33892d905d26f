package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
)

// wire is a connection to a daemon that does nothing with an answer but take all
// of its bytes: what a client makes of them is not loomd's time.
type wire struct {
	conn net.Conn
	in   *bufio.Reader
	body []byte // of the last answer, reused
	id   int
}

func dial(socket string) (*wire, error) {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return nil, err
	}
	w := &wire{conn: conn, in: bufio.NewReaderSize(conn, 1<<20)}
	hello := map[string]any{
		"processId": nil, "capabilities": map[string]any{},
		"initializationOptions": map[string]any{"loom": map[string]any{"role": "agent", "session": map[string]any{"label": "searchbench"}}},
	}
	if _, err := w.call("initialize", hello); err != nil {
		conn.Close()
		return nil, fmt.Errorf("greeting the daemon: %w", err)
	}
	return w, w.send(map[string]any{"jsonrpc": "2.0", "method": "initialized", "params": map[string]any{}})
}

func (w *wire) Close() error { return w.conn.Close() }

func (w *wire) send(message any) error {
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w.conn, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return err
}

// call returns the whole answer, which is good until the next call.
func (w *wire) call(method string, params any) ([]byte, error) {
	w.id++
	if err := w.send(map[string]any{"jsonrpc": "2.0", "id": w.id, "method": method, "params": params}); err != nil {
		return nil, err
	}
	for {
		if err := w.receive(); err != nil {
			return nil, err
		}
		if w.isAnswer() {
			return w.body, w.refused(method)
		}
	}
}

// isAnswer tells an answer from what a daemon says of its own accord, without
// reading a large body through.
func (w *wire) isAnswer() bool {
	ends := w.body
	if len(ends) > 400 {
		ends = append(bytes.Clone(ends[:200]), ends[len(ends)-200:]...)
	}
	return !bytes.Contains(ends, []byte(`"method":`))
}

func (w *wire) refused(method string) error {
	var answer struct {
		Error *struct{ Message string }
	}
	if len(w.body) < 10_000 && json.Unmarshal(w.body, &answer) == nil && answer.Error != nil {
		return fmt.Errorf("%s: %s", method, answer.Error.Message)
	}
	return nil
}

func (w *wire) receive() error {
	length := 0
	for {
		line, err := w.in.ReadString('\n')
		if err != nil {
			return err
		}
		line = strings.TrimSpace(line)
		if line == "" {
			break
		}
		if value, ok := strings.CutPrefix(line, "Content-Length:"); ok {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return err
			}
		}
	}
	if cap(w.body) < length {
		w.body = make([]byte, length)
	}
	w.body = w.body[:length]
	_, err := io.ReadFull(w.in, w.body)
	return err
}

// result is a tool's answer, read.
type result struct {
	Result struct {
		IsError           bool            `json:"isError"`
		StructuredContent json.RawMessage `json:"structuredContent"`
	} `json:"result"`
}

// tool calls a tool and returns the bytes of its answer.
func (w *wire) tool(name string, args map[string]any) ([]byte, error) {
	return w.call("loom/tools/call", map[string]any{"name": name, "arguments": args})
}

// read decodes the structured content of a tool's answer.
func read(body []byte, into any) error {
	var r result
	if err := json.Unmarshal(body, &r); err != nil {
		return fmt.Errorf("reading a tool's answer: %w", err)
	}
	if r.Result.IsError {
		return fmt.Errorf("the tool failed: %.300s", r.Result.StructuredContent)
	}
	if err := json.Unmarshal(r.Result.StructuredContent, into); err != nil {
		return fmt.Errorf("reading a tool's result: %w", err)
	}
	return nil
}
