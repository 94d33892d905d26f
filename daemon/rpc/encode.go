package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"go.lsp.dev/jsonrpc2"
)

// headerRoom is left free before a body so that header and body are one slice
// and one write: "Content-Length: ", at most 19 digits, two line ends.
const headerRoom = 16 + 19 + 4

// encode makes the frame of a message: header and body in one slice.
func encode(msg jsonrpc2.Message) ([]byte, error) {
	out := bytes.NewBuffer(make([]byte, headerRoom, 512))
	out.WriteString(`{"jsonrpc":"2.0"`)
	var err error
	switch m := msg.(type) {
	case *call:
		err = writeRequest(out, m.id, m.Method(), m.params)
	case *notification:
		err = writeRequest(out, nil, m.Method(), m.params)
	case *response:
		err = writeResponse(out, m)
	default:
		err = fmt.Errorf("message of type %T", msg)
	}
	if err != nil {
		return nil, err
	}
	out.WriteByte('}')
	frame := out.Bytes()
	if body := frame[headerRoom:]; !utf8.Valid(body) { // bytes of a json.RawMessage inside the payload
		frame = append(make([]byte, headerRoom, len(frame)+64), bytes.ToValidUTF8(body, []byte("\uFFFD"))...)
	}
	return putHeader(frame), nil
}

// putHeader writes the header right before the body and returns the frame.
func putHeader(frame []byte) []byte {
	var header [headerRoom]byte
	h := append(header[:0], "Content-Length: "...)
	h = strconv.AppendInt(h, int64(len(frame)-headerRoom), 10)
	h = append(h, "\r\n\r\n"...)
	start := headerRoom - len(h)
	copy(frame[start:], h)
	return frame[start:]
}

func writeRequest(out *bytes.Buffer, id []byte, method string, params any) error {
	if id != nil {
		out.WriteString(`,"id":`)
		out.Write(id)
	}
	out.WriteString(`,"method":`)
	if err := writeJSON(out, method); err != nil {
		return fmt.Errorf("encoding method: %w", err)
	}
	if params == nil {
		return nil // LSP wants no params member rather than null
	}
	out.WriteString(`,"params":`)
	if err := writeJSON(out, params); err != nil {
		return fmt.Errorf("encoding params of %s: %w", method, err)
	}
	return nil
}

func writeResponse(out *bytes.Buffer, r *response) error {
	out.WriteString(`,"id":`)
	if r.id == nil {
		out.WriteString("null")
	}
	out.Write(r.id)
	if r.err != nil {
		out.WriteString(`,"error":`)
		if err := writeJSON(out, r.err); err != nil {
			return fmt.Errorf("encoding error data: %w", err)
		}
		return nil
	}
	out.WriteString(`,"result":`)
	if err := writeJSON(out, r.result); err != nil {
		return fmt.Errorf("encoding result: %w", err)
	}
	return nil
}

// writeJSON writes v as encoding/json does, without its escapes for HTML. A
// json.RawMessage is checked and copied, not compacted: the way for a handler
// to answer with JSON it already has.
func writeJSON(out *bytes.Buffer, v any) error {
	if raw, ok := v.(json.RawMessage); ok && raw != nil {
		if s := (scanner{data: raw}); s.value() != nil || s.end() != nil {
			return errors.New("raw message is not JSON")
		}
		out.Write(raw)
		return nil
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	out.Truncate(out.Len() - 1) // the encoder ends with a line feed
	return nil
}
