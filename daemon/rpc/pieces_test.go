package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"testing"
)

// TestPieces: an answer in pieces arrives as one, between others.
func TestPieces(t *testing.T) {
	near, far := net.Pipe()
	long := append(append([]byte(`"`), bytes.Repeat([]byte("é"), 100_000)...), '"')
	server, client := NewConn(near, Options{}), NewConn(far, Options{})
	ended, written := make(chan struct{}, 2), make(chan struct{}, 3)
	go func() {
		_ = server.Run(context.Background(), func(_ context.Context, _ *Conn, req *Request) (any, error) {
			if req.Method == "none" {
				return Pieces{JSON: [][]byte{[]byte("[]")}}, nil
			}
			return Pieces{[][]byte{[]byte(`{"a":[1,`), []byte("2"), nil, []byte(`],"b":`), long, []byte("}")}, func() { written <- struct{}{} }}, nil
		})
		ended <- struct{}{}
	}()
	go func() { _ = client.Run(context.Background(), nil); ended <- struct{}{} }()
	defer func() { client.Close(); server.Close(); <-ended; <-ended }()
	for range 3 {
		var got struct {
			A []int
			B string
		}
		if err := client.Call(context.Background(), "some", nil, &got); err != nil {
			t.Fatal(err)
		}
		var want string
		if err := json.Unmarshal(long, &want); err != nil {
			t.Fatal(err)
		}
		if len(got.A) != 2 || got.A[1] != 2 || got.B != want {
			t.Errorf("got %v and %d bytes", got.A, len(got.B))
		}
		var none []int
		if err := client.Call(context.Background(), "none", nil, &none); err != nil || none == nil {
			t.Errorf("none: %v, %v", none, err)
		}
		<-written
	}
}
