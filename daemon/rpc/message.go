package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf8"

	"go.lsp.dev/jsonrpc2"
)

const (
	// maxID bounds an id's JSON text in bytes; it is kept per request and sent
	// back. UUIDs and counters are under 50.
	maxID = 256

	// maxMethod bounds a method name in bytes; LSP's longest is under 50.
	maxMethod = 256
)

// The three kinds of message are the library's, with the payload kept as the
// bytes of the frame: the library would parse, compact and escape it again.
// On the way out payload is any value; encode.go turns it into JSON.

type call struct {
	*jsonrpc2.Call
	id     []byte // JSON text of the id, as the peer spelled it
	params any    // json.RawMessage when it came from the peer
}

type notification struct {
	*jsonrpc2.Notification
	params any
}

type response struct {
	*jsonrpc2.Response
	id     []byte // JSON text, nil: null
	result any
	err    *Error // nil: result counts
}

// parts are the members of a message as they stand in its text.
type parts struct {
	jsonrpc, id, method, params, result, err []byte
}

// decode checks a body and makes a message of it. The message keeps slices of
// body.
func decode(body []byte) (jsonrpc2.Message, *refusal) {
	if at := invalidUTF8(body); at >= 0 {
		return nil, &refusal{code: CodeParse, message: "invalid UTF-8 at byte " + strconv.Itoa(at)}
	}
	s := scanner{data: body}
	p, err := s.members()
	if err != nil {
		var bad *syntaxError
		if errors.As(err, &bad) {
			return nil, &refusal{code: CodeParse, message: err.Error()}
		}
		return nil, p.refuse(err.Error())
	}
	if s.deepest > maxDepth {
		return nil, p.refuse("message nests deeper than " + strconv.Itoa(maxDepth) + " levels")
	}
	if string(p.jsonrpc) != `"2.0"` && (p.jsonrpc == nil || p.jsonrpc[0] != '"' || unquote(p.jsonrpc) != jsonrpc2.Version) {
		return nil, p.refuse(`member "jsonrpc" is not "2.0"`)
	}
	if p.method == nil && (p.result != nil || p.err != nil) {
		return p.response()
	}
	return p.request()
}

// members splits the object that a message must be. The whole text is checked
// even after the first fault of form, so that what is no JSON is always called
// that.
func (s *scanner) members() (p parts, err error) {
	var fault error
	switch s.peek() {
	case '{':
	case '[':
		fault = errors.New("batches are not supported")
	default:
		fault = errors.New("message is not a JSON object")
	}
	if fault != nil {
		if err = s.value(); err == nil {
			err = s.end()
		}
		if err == nil {
			err = fault
		}
		return parts{}, err
	}
	s.pos++
	s.push(true)
	ended := s.peek() == '}'
	if ended {
		s.pos++
	}
	for !ended {
		name, err := s.key()
		if err != nil {
			return p, err
		}
		s.peek()
		start := s.pos
		if err := s.value(); err != nil {
			return p, err
		}
		if member := p.member(name); member != nil {
			if *member != nil {
				fault = errors.New("member " + string(name) + " is given twice")
			}
			*member = s.data[start:s.pos]
		}
		switch s.peek() {
		case ',':
		case '}':
			ended = true
		default:
			return p, s.fail("',' or '}'")
		}
		s.pos++
	}
	if err := s.end(); err != nil {
		return p, err
	}
	return p, fault
}

// member returns the place for a member of that name, nil for one that does
// not matter.
func (p *parts) member(name []byte) *[]byte {
	text := name[1 : len(name)-1]
	if bytes.IndexByte(text, '\\') >= 0 {
		text = []byte(unquote(name))
	}
	switch string(text) {
	case "jsonrpc":
		return &p.jsonrpc
	case "id":
		return &p.id
	case "method":
		return &p.method
	case "params":
		return &p.params
	case "result":
		return &p.result
	case "error":
		return &p.err
	}
	return nil
}

// refuse answers with the message's id when it has one that can be sent back,
// and not at all when the message is an answer itself.
func (p *parts) refuse(why string) *refusal {
	r := &refusal{code: CodeInvalidRequest, message: why}
	if len(p.id) > 0 && len(p.id) <= maxID && bytes.IndexByte([]byte(`"-0123456789`), p.id[0]) >= 0 {
		r.id = p.id
	}
	r.silent = p.method == nil && (p.result != nil || p.err != nil)
	return r
}

func (p *parts) request() (jsonrpc2.Message, *refusal) {
	if len(p.method) < 3 || p.method[0] != '"' || len(p.method) > maxMethod {
		return nil, p.refuse("method is not a string of 1 to " + strconv.Itoa(maxMethod-2) + " bytes")
	}
	method := unquote(p.method)
	var params json.RawMessage // absent and null are the same
	if p.params != nil && p.params[0] != 'n' {
		if p.params[0] != '{' && p.params[0] != '[' {
			return nil, p.refuse("params is neither an object nor an array")
		}
		params = p.params
	}
	if p.id == nil {
		n, err := jsonrpc2.NewNotification(method, nil)
		if err != nil {
			return nil, p.refuse(err.Error())
		}
		return &notification{Notification: n, params: params}, nil
	}
	id, ok := parseID(p.id)
	if !ok {
		return nil, p.refuse("id is neither an integer below 2^31 nor a string of 1 to " + strconv.Itoa(maxID-2) + " bytes")
	}
	c, err := jsonrpc2.NewCall(id, method, nil)
	if err != nil {
		return nil, p.refuse(err.Error())
	}
	return &call{Call: c, id: p.id, params: params}, nil
}

func (p *parts) response() (jsonrpc2.Message, *refusal) {
	var failure *Error
	if p.err != nil && p.err[0] != 'n' {
		failure = new(Error)
		if err := json.Unmarshal(p.err, failure); err != nil {
			return nil, p.refuse(err.Error())
		}
	}
	id, ok := parseID(p.id)
	if !ok {
		if failure != nil {
			return nil, p.refuse("peer refused a message with code " + strconv.FormatInt(failure.Code, 10))
		}
		return nil, p.refuse("answer without a usable id")
	}
	r, err := jsonrpc2.NewResponse(id, nil, nil)
	if err != nil {
		return nil, p.refuse(err.Error())
	}
	return &response{Response: r, id: p.id, result: json.RawMessage(p.result), err: failure}, nil
}

// parseID reads the JSON text of an id. The library's ids are 32-bit integers
// or strings, of which "" would be the number 0.
func parseID(text []byte) (id jsonrpc2.ID, ok bool) {
	if len(text) == 0 || len(text) > maxID {
		return id, false
	}
	if text[0] == '"' {
		name := unquote(text)
		return jsonrpc2.NewStringID(name), name != ""
	}
	n, err := strconv.ParseInt(string(text), 10, 32)
	return jsonrpc2.NewNumberID(int32(n)), err == nil
}

// invalidUTF8 returns the offset of the first byte that is not UTF-8, or -1.
func invalidUTF8(text []byte) int {
	if utf8.Valid(text) {
		return -1
	}
	for i := 0; ; {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
}
