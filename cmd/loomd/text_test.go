package main

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain ü 漢字 👩\u200d💻":     "plain ü 漢字 👩\u200d💻",
		"a\tb":                    "a\tb",
		"\x1b[2K\x1b[1A\r":        "^[[2K^[[1A^M",
		"\x7f\x00":                "^?^@",
		"\u009b31m":               "<U+009B>31m",
		"if (\u202e\u2066admin)":  "if (<U+202E><U+2066>admin)",
		"a\u200bb\ufeffc\u2028d":  "a<U+200B>b<U+FEFF>c<U+2028>d",
		"tag \U000e0041":          "tag <U+E0041>",
		"soft\u00adhyphen":        "soft<U+00AD>hyphen",
		"e\u0301 stays composite": "e\u0301 stays composite",
	} {
		if got := visible(in); got != want {
			t.Errorf("visible(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestOneLine(t *testing.T) {
	if got := oneLine("a\n\nb\r\nc\x1b[m"); got != "a b c^[[m" {
		t.Errorf("oneLine = %q", got)
	}
}

func TestWrapLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringOf(rapid.SampledFrom([]rune("ab 漢e\u0301👩"))).Draw(t, "line")
		limit := rapid.IntRange(2, 12).Draw(t, "limit")
		pieces := wrap(line, limit)
		if got := strings.Join(pieces, ""); got != line {
			t.Fatalf("wrap(%q, %d) = %q", line, limit, pieces)
		}
		for _, p := range pieces {
			if columnsOf(p) > limit {
				t.Fatalf("%q is wider than %d", p, limit)
			}
		}
		for _, s := range []string{shorten(line, limit), shortenEnd(line, limit)} {
			if columnsOf(s) > limit {
				t.Fatalf("%q is wider than %d", s, limit)
			}
			if columnsOf(line) <= limit && s != line {
				t.Fatalf("%q was shortened to %q for %d columns", line, s, limit)
			}
		}
	})
}

func TestWrapTabs(t *testing.T) {
	got := wrap("a\tb\tc", 10)
	if want := "a       b |      c"; strings.Join(got, "|") != want {
		t.Errorf("wrap = %q, want %q", strings.Join(got, "|"), want)
	}
	if got := wrap("a\tb", 0); len(got) != 1 || got[0] != "a\tb" {
		t.Errorf("without a limit: %q", got)
	}
}

func TestTable(t *testing.T) {
	got := table([][]string{{"ID", "PATH"}, {"1", "漢\n字"}, {"long", "x"}, {"2", ""}})
	want := "ID    PATH|1     漢 字|long  x|2"
	if strings.Join(got, "|") != want {
		t.Errorf("table = %q, want %q", strings.Join(got, "|"), want)
	}
}

func TestShorten(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"daemon/protocol/types.go", 11, "daemo…es.go"},
		{"abc", 3, "abc"},
		{"abcd", 2, ".."},
		{"abcd", 0, "abcd"},
	} {
		if got := shorten(c.in, c.limit); got != c.want {
			t.Errorf("shorten(%q, %d) = %q, want %q", c.in, c.limit, got, c.want)
		}
	}
}
