package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loomd/loomd/tools"
)

// TestGenerated fails when the committed page is not what the registry says now.
func TestGenerated(t *testing.T) {
	want, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join("../..", docsFile))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is stale: run go generate ./tools\n%s", docsFile, firstDifference(string(got), string(want)))
	}
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	n := 0
	for n < min(len(a), len(b))-1 && a[n] == b[n] {
		n++
	}
	return "committed: " + a[n] + "\ngenerated: " + b[n]
}

// TestPage holds what a section looks like.
func TestPage(t *testing.T) {
	input, err := tools.ParseSchema([]byte(`{"type":"object","required":["z"],"properties":{
		"z":{"type":"string","minLength":1,"maxLength":9,"description":"a|b"},"a":{"type":"integer","default":3},"mode":{"type":"string","enum":["x","y"]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	tool := tools.Tool{
		Name: "t", Description: "Does.", Input: input, Output: input,
		Failures: []tools.FailureCode{{Code: "own", Meaning: "a|b"}, {Code: "of_all", Meaning: "c"}},
	}
	var b strings.Builder
	if err := section(&b, tool, tool.Failures[1:]); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"## t\n\nDoes.\n", `| *required* | 1 to 9 characters | a\|b |`, "| `a` | integer | *may be absent* |", "| `mode` | string |  | `x`, `y` |", "| `own` | a\\|b |"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "of_all") {
		t.Error("what all tools fail with is said again")
	}
}
