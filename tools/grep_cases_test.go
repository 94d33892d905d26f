package tools

import (
	"fmt"
	"strings"
	"testing"
)

// A NUL far out ends the search of its file, and where something was found
// before it, that is said.
func TestC072_ANULFarOutIsSaidAloud(t *testing.T) {
	log := []byte(strings.Repeat("a line of a log\n", 12500) + "the last word\n")
	log[130000] = 0
	bothWays(t, map[string]string{"f": string(log)}, func(t *testing.T, b *bench) {
		a := b.ok("grep", args{"pattern": "line of", "limit": 100000})
		warnings := a["warnings"].([]any)
		if a["total"] == 0.0 || len(warnings) != 1 || !strings.Contains(fmt.Sprint(warnings[0]), "binary") {
			t.Errorf("total %v, warnings %v", a["total"], warnings)
		}
	})
}

func TestC098_InvalidPattern(t *testing.T) {
	b := newBench(t, map[string]string{"f": "x"})
	for _, pattern := range []string{"(", "[z-a]", "a**", "a{2,1}", "\\", "*a", "(?P<n", "[[:nope:]]"} {
		a := b.fails("invalid_arguments", "grep", args{"pattern": pattern})
		if a["field"] != "pattern" || len(a["message"].(string)) < len("pattern: ...") {
			t.Errorf("%s: %v", pattern, a)
		}
	}
	for _, pattern := range []string{"(?=x)", "(?!x)", "(?<=x)y", "(?<!x)y", `(a)\1`, "a++", "(?>a)"} {
		a := b.fails("unsupported_pattern", "grep", args{"pattern": pattern})
		if a["hint"] == "" {
			t.Errorf("%s: no word of what to write instead: %v", pattern, a)
		}
	}
}

// The hint of a pattern that is wrong fits what is wrong with it.
func TestPatternHints(t *testing.T) {
	b := newBench(t, map[string]string{"f": "x"})
	for _, c := range []struct {
		tool          string
		args          args
		message, hint string
	}{
		{"grep", args{"pattern": "f(x"}, `pattern: missing closing ): this group is not closed (at byte 1)`, `write \( for the character; to search for the text itself set fixed: true`},
		{"grep", args{"pattern": "a[b"}, `pattern: missing closing ]: this class is not closed (at byte 1)`, `write \[ for the character; to search for the text itself set fixed: true`},
		{"grep", args{"pattern": "*.go"}, `pattern: missing argument to repetition operator: there is nothing that * could repeat (at byte 0)`, `write \* for the character, .* for any text; to search for the text itself set fixed: true`},
		{"grep", args{"pattern": "a\nb", "fixed": true}, `pattern: \n can match only when multiline is on, since lines are searched one by one (at byte 1)`, `set multiline: true`},
		{"grep", args{"pattern": "(?=x)"}, `pattern: look-ahead (at byte 0) is not supported`, `match what follows as part of the pattern, or search for both and compare the lines`},
		{"grep", args{"pattern": "x", "glob": "é/[a"}, `glob: at character 3, [ is not closed`, `write \[ for the character, or close the class with ]`},
		{"grep", args{"pattern": "x", "glob": "!{a"}, `glob: at character 2, { is not closed`, `write \{ for the character, or close the alternatives with }`},
		{"glob", args{"pattern": "a}"}, `pattern: at character 2, } closes nothing`, `write \} for the character`},
		{"glob", args{"pattern": `a\`}, `pattern: at character 2, \ has no character behind it`, `leave it out, or write \\ for the character`},
		{"glob", args{"pattern": strings.Repeat("{a,b}", 11)}, `pattern: its braces stand for more than 1024 patterns`, `use * in place of some of them, or several calls`},
	} {
		code := "invalid_arguments"
		if strings.HasSuffix(c.message, "not supported") {
			code = "unsupported_pattern"
		}
		if a := b.fails(code, c.tool, c.args); a["message"] != c.message || a["hint"] != c.hint {
			t.Errorf("%s %v:\n%v\n%v", c.tool, c.args, a["message"], a["hint"])
		}
	}
}

// Frameworks name routes like classes of characters.
func TestGlobHintsAtBrackets(t *testing.T) {
	b := newBench(t, map[string]string{"app/[id]/page.tsx": "", "x.txt": "", "[x].md": ""})
	for pattern, hint := range map[string]string{
		"app/[id]/page.tsx": `[ ] stand for one character of those between them: did you mean app/\[id\]/page.tsx, where they are part of the name?`,
		"**/[id]/*":         `[ ] stand for one character of those between them: did you mean **/\[id\]/*, where they are part of the name?`,
		"[x].md":            `[ ] stand for one character of those between them: did you mean \[x\].md, where they are part of the name?`,
		"[x].go":            "",
		`\[x\].go`:          "",
	} {
		a := b.ok("glob", args{"pattern": pattern})
		if got, _ := a["hint"].(string); got != hint || len(a["files"].([]any)) > 0 {
			t.Errorf("%s: %v", pattern, a)
		}
	}
	for _, pattern := range []string{"[x].txt", `app/\[id\]/*`} {
		if a := b.ok("glob", args{"pattern": pattern}); len(a["files"].([]any)) != 1 || a["hint"] != nil {
			t.Errorf("%s: %v", pattern, a)
		}
	}
}

func TestGrepCases(t *testing.T) {
	for _, c := range []struct {
		id   string
		text string // of the file f
		args args
		want []string
	}{
		{"C100_DashInFront", "use --flag\n-w\n", args{"pattern": "--flag"}, []string{"f:1:use --flag"}},
		{"C100_DashAlone", "use --flag\n-w\n", args{"pattern": "-w"}, []string{"f:2:-w"}},
		{"C102_DollarBeforeCRLF", "needle\r\nneedles\r\n", args{"pattern": "needle$"}, []string{"f:1:needle"}},
		{"C102_BothEnds", "needle\r\nneedles\r\n", args{"pattern": "^needle$"}, []string{"f:1:needle"}},
		{"C103_LoneCRIsData", "abc\rdef", args{"pattern": "def"}, []string{"f:1:abc\rdef"}},
		{"C111_MultiLine", "alpha\nbeta\ngamma\n", args{"pattern": `alpha\nbeta`, "multiline": true}, []string{"f:1:alpha", "f:2:beta"}},
		{"C111_MultiLineCRLF", "alpha\r\nbeta\r\n", args{"pattern": `alpha\r?\nbeta`, "multiline": true}, []string{"f:1:alpha", "f:2:beta"}},
		{"fixed", "a.c\nabc\n", args{"pattern": "a.c", "fixed": true}, []string{"f:1:a.c"}},
		{"word", "cat\nconcat\n", args{"pattern": "cat", "word": true}, []string{"f:1:cat"}},
		{"invert", "cat\ndog\n", args{"pattern": "cat", "invert": true}, []string{"f:2:dog"}},
		{"insensitive", "Cat\ncat\n", args{"pattern": "CAT", "case": "insensitive"}, []string{"f:1:Cat", "f:2:cat"}},
		{"smart, small", "Cat\ncat\n", args{"pattern": "cat", "case": "smart"}, []string{"f:1:Cat", "f:2:cat"}},
		{"smart, capital", "Cat\ncat\n", args{"pattern": "Cat", "case": "smart"}, []string{"f:1:Cat"}},
		{"smart, a class", "Cat\ncat\n", args{"pattern": `\Scat|\Aca`, "case": "smart"}, []string{"f:1:Cat", "f:2:cat"}},
		{"context", "1\n2\n3 x\n4\n5 x\n6\n7\n", args{"pattern": "x", "context": 1}, []string{"f-2-2", "f:3:3 x", "f-4-4", "f:5:5 x", "f-6-6"}},
		{"context, offset", "1\n2\n3 x\n4\n5 x\n6\n7\n", args{"pattern": "x", "context": 1, "offset": 1}, []string{"f-4-4", "f:5:5 x", "f-6-6"}},
		{"Latin-1", "caf\xe9\n", args{"pattern": "caf"}, []string{"f:1:caf\ufffd"}},
		{"UTF-16", "\xff\xfeh\x00i\x00\n\x00", args{"pattern": "hi"}, []string{"f:1:hi"}},
		{"a mark", "\xef\xbb\xbfhi\n", args{"pattern": "^hi"}, []string{"f:1:hi"}},
		{"type", "hi\n", args{"pattern": "hi", "type": "go"}, nil},
	} {
		t.Run(c.id, func(t *testing.T) {
			bothWays(t, map[string]string{"f": c.text}, func(t *testing.T, b *bench) {
				want(t, fmt.Sprint(c.args), b.lines(c.args), c.want...)
			})
		})
	}
}

func TestC105_BinaryBesideSources(t *testing.T) {
	bothWays(t, map[string]string{"lib.a": "\x7fELF\x00\x00hit\x00", "m.c": "hit\n"}, func(t *testing.T, b *bench) {
		want(t, "grep", b.lines(args{"pattern": "hit"}), "m.c:1:hit")
		if a := b.ok("grep", args{"pattern": "hit"}); a["skipped_binary"] != 1.0 {
			t.Errorf("not said: %v", a)
		}
	})
}

func TestC107_MatchFarOutOnALongLine(t *testing.T) {
	line := strings.Repeat("abcdefg ", 1<<17)
	line = line[:700000] + "NEEDLE" + line[700006:]
	bothWays(t, map[string]string{"f": line + "\n", "g": strings.Repeat("é", 1<<19) + "NEEDLE" + strings.Repeat("é", 2000)},
		func(t *testing.T, b *bench) {
			out, a := b.call("grep", args{"pattern": "NEEDLE"})
			if len(out.Structured) > 64<<10 {
				t.Errorf("the answer has %d bytes", len(out.Structured))
			}
			matches := a["matches"].([]any)
			if len(matches) != 2 {
				t.Fatalf("%d matches", len(matches))
			}
			for _, m := range matches {
				m := m.(map[string]any)
				text := m["text"].(string)
				if m["line"] != 1.0 || m["cut"] != true || !strings.Contains(text, "NEEDLE") || strings.Contains(text, "\ufffd") {
					t.Errorf("%v", m)
				}
			}
		})
}

func TestC109_ColonsInNamesAndText(t *testing.T) {
	bothWays(t, map[string]string{"d:9:x/n:1.txt": "hit:2:a\n"}, func(t *testing.T, b *bench) {
		m := b.ok("grep", args{"pattern": "hit"})["matches"].([]any)[0].(map[string]any)
		if m["path"] != "d:9:x/n:1.txt" || m["line"] != 1.0 || m["text"] != "hit:2:a" {
			t.Errorf("%v", m)
		}
	})
}
