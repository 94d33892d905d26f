package tools

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func noMatchOf(t *testing.T, file, old string) *Failure {
	t.Helper()
	_, err := applyEdits(t.Context(), nil, []byte(file), []edit{{OldStr: old, NewStr: "new"}})
	var f *Failure
	if !errors.As(err, &f) || f.Code != CodeNoMatch {
		t.Fatalf("%v", err)
	}
	return f
}

func TestNoMatchFindsTheNearestText(t *testing.T) {
	file := "package x\n\nfunc one() {\n\treturn 1\n}\n\nfunc two() {\n\tif true {\n\t\treturn 2\n\t}\n}\n"
	tests := []struct {
		old   string
		start int    // line of the nearest text
		line  int    // of the first difference
		found string // there
	}{
		{"func two() {\n\tif false {\n\t\treturn 2\n", 7, 8, "→if true {"},
		{"func two() {\n\tif true {\n\t\treturn 3\n", 7, 9, "→→return 2"},
		{"func two() {\n    if true {\n", 7, 8, "→if true {"},
		{"func one() {\n\treturn 1\n}\n\nfunc three()", 3, 7, "func two() {"},
		{"if  true {\n\t\treturn 2", 8, 8, "→if true {"},
		{"func one()  {", 3, 3, "func one() {"},
		{"retrun 1", 4, 4, "→return 1"},
	}
	for _, tt := range tests {
		f := noMatchOf(t, file, tt.old)
		near, _ := f.Extra["nearest"].(region)
		d, _ := f.Extra["difference"].(difference)
		if near.StartLine != tt.start || d.Line != tt.line || d.Found != tt.found {
			t.Errorf("%q: nearest %+v, difference %+v", tt.old, near, d)
		}
	}
}

func TestNoMatchSaysInWhatAlone(t *testing.T) {
	tests := []struct{ file, old, hint string }{
		{"a\nb\n", "a\r\nb\r\n", "line ends only"},
		{"\tx = 1\n", "    x = 1", "white space only"},
		{"x = 1\n", "x = 1  \n", "white space only"},
		{"cafe\u0301\n", "café", "Unicode form only"},
		{"it's\n", "it’s", "quotes or dashes only"},
		{"Return\n", "return", "upper and lower case only"},
		{"\tit's\n", "    it’s", "white space, quotes or Unicode form only"},
		{"it's\n", "that is", "read the file again"},
	}
	for _, tt := range tests {
		if f := noMatchOf(t, tt.file, tt.old); !strings.Contains(f.Hint, tt.hint) {
			t.Errorf("%q in %q: %s", tt.old, tt.file, f.Hint)
		}
	}
}

func TestNoMatchIsBounded(t *testing.T) {
	var file strings.Builder
	for n := range 80_000 {
		fmt.Fprintf(&file, "\tline %d is not very long but there are many\n", n)
	}
	long := strings.Repeat("€\x01", 1<<18)
	for _, tt := range []struct{ file, old string }{
		{file.String(), strings.Repeat("line 5 is not very lang\n", 10_000)},
		{file.String(), "line is not very lang"},
		{long, long[:1<<18] + "x"},
		{strings.Repeat("}\n", 1<<18), "}\n}\nx"},
	} {
		f := noMatchOf(t, tt.file, tt.old)
		text, err := encode(f)
		must(t, err)
		if len(text) > 16<<10 {
			t.Errorf("%d bytes of failure", len(text))
		}
	}
}

func TestNoMatchRefersToTheTextWithEarlierEdits(t *testing.T) {
	_, err := applyEdits(t.Context(), nil, []byte("a\n"), []edit{{OldStr: "a", NewStr: "x\ny\nsome text"}, {OldStr: "some test", NewStr: ""}})
	var f *Failure
	if !errors.As(err, &f) || f.Extra["nearest"].(region).StartLine != 3 || !strings.Contains(f.Message, "with edits[0] made") {
		t.Errorf("%v", err)
	}
}
