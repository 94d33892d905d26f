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

// Pieces is a result that is JSON already, cut anywhere: it is sent as it is, and
// not copied. It is not looked at either, so whoever makes it answers for its
// being JSON in valid UTF-8, and does not touch it until it was written.
type Pieces struct {
	JSON [][]byte
	// Written is called when all was written, so that its memory can be used
	// again; not when the connection ended before. May be nil.
	Written func()
}

// packet is a message as it is sent: header and body, in one piece or, with
// [Pieces], in several.
type packet []piece

// piece is a part of a message.
type piece struct {
	data    []byte
	written func() // called after it was written; nil: nobody asks
}

func (p packet) size() (n int64) {
	for i := range p {
		n += int64(len(p[i].data))
	}
	return n
}

// encode makes the frame of a message.
func encode(msg jsonrpc2.Message) (packet, error) {
	if r, ok := msg.(*response); ok && r.err == nil {
		if pieces, ok := r.result.(Pieces); ok {
			return enclose(r, pieces), nil
		}
	}
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
	text := out.Bytes()
	if body := text[headerRoom:]; !utf8.Valid(body) { // bytes of a json.RawMessage inside the payload
		text = append(make([]byte, headerRoom, len(text)+64), bytes.ToValidUTF8(body, []byte("\uFFFD"))...)
	}
	return packet{{data: putHeader(text, len(text)-headerRoom)}}, nil
}

// enclose puts an answer around pieces.
func enclose(r *response, pieces Pieces) packet {
	head := append(make([]byte, headerRoom, 512), `{"jsonrpc":"2.0","id":`...)
	if r.id == nil {
		head = append(head, "null"...)
	}
	head = append(append(head, r.id...), `,"result":`...)
	out := make(packet, 1, len(pieces.JSON)+2)
	out[0].data = head[headerRoom:]
	for _, data := range pieces.JSON {
		out = append(out, piece{data: data})
	}
	out = append(out, piece{[]byte{'}'}, pieces.Written})
	out[0].data = putHeader(head, int(out.size()))
	return out
}

// putHeader writes the header right before the text, which begins after
// headerRoom bytes, and returns both. length is that of the whole body.
func putHeader(text []byte, length int) []byte {
	var header [headerRoom]byte
	h := append(header[:0], "Content-Length: "...)
	h = strconv.AppendInt(h, int64(length), 10)
	h = append(h, "\r\n\r\n"...)
	start := headerRoom - len(h)
	copy(text[start:], h)
	return text[start:]
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
