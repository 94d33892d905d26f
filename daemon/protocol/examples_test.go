package protocol_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/loomd/loomd/daemon/protocol"
)

type example struct {
	About  string          `json:"about"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// The parts of LSP's initialize that are loomd's.
type (
	initializeParams struct {
		InitializationOptions struct {
			Loom *protocol.LoomOptions `json:"loom,omitempty"`
		} `json:"initializationOptions"`
	}
	initializeResult struct {
		Capabilities struct {
			PositionEncoding string `json:"positionEncoding,omitempty"`
			Experimental     struct {
				Loom protocol.LoomCapabilities `json:"loom"`
			} `json:"experimental"`
		} `json:"capabilities"`
	}
	errorResponse struct {
		Code    int64              `json:"code"`
		Message string             `json:"message"`
		Data    protocol.ErrorData `json:"data"`
	}
)

// TestExamples decodes every example strictly and encodes it again. What comes
// out is what went in, so no field is lost, renamed, or written when absent.
func TestExamples(t *testing.T) {
	table := append([]protocol.Method{
		{Name: "initialize", Params: initializeParams{}, Result: initializeResult{}},
	}, protocol.Methods...)
	for _, method := range table {
		name := strings.ReplaceAll(strings.TrimPrefix(method.Name, "loom/"), "/", "_") + ".json"
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Errorf("reading examples: %v", err)
			continue
		}
		var examples []example
		if err := strict(text, &examples); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, e := range examples {
			t.Run(name+"/"+e.About, func(t *testing.T) {
				if e.About == "" || e.Params == nil {
					t.Error("an example says what it is about and has params")
				}
				if e.Result != nil && e.Error != nil {
					t.Error("an answer is a result or an error")
				}
				if method.Result == nil && (e.Result != nil || e.Error != nil) {
					t.Error("a notification has no answer")
				}
				if method.Result != nil && e.Result == nil && e.Error == nil {
					t.Error("a request has an answer")
				}
				roundTrip(t, "params", method.Params, e.Params)
				roundTrip(t, "result", method.Result, e.Result)
				roundTrip(t, "error", errorResponse{}, e.Error)
			})
		}
	}
}

func roundTrip(t *testing.T, part string, zero any, text json.RawMessage) {
	t.Helper()
	if text == nil || zero == nil {
		return
	}
	value := reflect.New(reflect.TypeOf(zero))
	if err := strict(text, value.Interface()); err != nil {
		t.Errorf("%s: %v", part, err)
		return
	}
	out, err := json.Marshal(value.Interface())
	if err != nil {
		t.Errorf("%s: %v", part, err)
		return
	}
	if want, got := canonical(t, text), canonical(t, out); want != got {
		t.Errorf("%s changed on its way through Go\n in: %s\nout: %s", part, want, got)
	}
}

func strict(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// canonical returns the JSON with its keys sorted and without white space.
func canonical(t *testing.T, text []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
