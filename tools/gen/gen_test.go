package main

import (
	"bytes"
	"encoding/json"
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

// TestPage holds what a row looks like: nested arguments, defaults, bounds,
// values, and that the order is the schema's.
func TestPage(t *testing.T) {
	text := []byte(`{"type":"object","required":["z"],"additionalProperties":false,"properties":{
		"z":{"type":"string","minLength":1,"maxLength":9,"description":"a|b"},
		"a":{"type":"integer","default":3,"minimum":0,"maximum":9007199254740991},
		"hash":{"type":"string","minLength":4,"maxLength":4},
		"least":{"type":"integer","minimum":-2},"most":{"type":"array","maxItems":5,"items":{"type":"string"}},
		"mode":{"type":"string","enum":["x","y"]},
		"list":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"object","required":["in"],"properties":{"in":{"type":"boolean"}}}},
		"one":{"type":"object","properties":{"deep":{"type":"string"}}}}}`)
	input, err := tools.ParseSchema(text)
	if err != nil {
		t.Fatal(err)
	}
	s, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, f := range s.fields("") {
		rows = append(rows, strings.Join([]string{f.name, f.schema.kind(), string(f.schema.Default), f.schema.limits()}, "|"))
	}
	got := strings.Join(rows, "\n")
	if !strings.HasPrefix(got, "z|") || !strings.HasSuffix(got, "one.deep|string||") {
		t.Errorf("another order:\n%s", got)
	}
	for _, want := range []string{
		"z|string||1 to 9 characters", "a|integer|3|0 to 9007199254740991", "hash|string||4 characters", "least|integer||at least -2",
		"most|list of strings||at most 5 items", "mode|string||`x`, `y`", "list|list of objects||1 to 2 items\nlist[].in|boolean||",
		"one|object||\none.deep|string||",
	} {
		if !strings.Contains(got+"\n", want+"\n") {
			t.Errorf("no row %s in\n%s", want, got)
		}
	}
	tool := tools.Tool{
		Name: "t", Description: "Does.", Input: input, Output: input,
		Failures: []tools.FailureCode{{Code: "own", Meaning: "a|b"}, {Code: "of_all", Meaning: "c"}},
	}
	var b strings.Builder
	if err := section(&b, tool, tool.Failures[1:]); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"## t\n\nDoes.\n", `| *required* | 1 to 9 characters | a\|b |`, "| `a` | integer | *may be absent* |", "| `own` | a\\|b |"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "of_all") {
		t.Error("what all tools fail with is said again")
	}
}

// TestUnknownKeyword: a schema that says more than the page can show is refused.
func TestUnknownKeyword(t *testing.T) {
	for _, text := range []string{`{"type":"object","minProperties":1}`, `{"type":"object","properties":{"a":{"pattern":"x"}}}`} {
		if _, err := parse(json.RawMessage(text)); err == nil {
			t.Errorf("%s is shown in part", text)
		}
	}
}
