package main

import (
	"bytes"
	"testing"

	"github.com/loomd/loomd/daemon/client"
)

// What is told of the progress after the answer came draws nothing over the answer.
func TestProgressAfterTheAnswer(t *testing.T) {
	var out bytes.Buffer
	half := 50
	bar := &progressBar{e: &env{stderr: &out, errWidth: 80}}
	bar.show(client.Progress{Percentage: &half, Message: "building"})
	bar.clear()
	shown := out.Len()
	bar.show(client.Progress{Percentage: &half, Message: "building"})
	bar.show(client.Progress{Message: "a decision"})
	if out.Len() != shown || shown == 0 {
		t.Errorf("%q", out.String())
	}
}
