package secret

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// needle is one form of a secret that is looked for.
type needle struct {
	text    string
	name    int  // of the secret: its place in matcher.names
	wrapped bool // line breaks may stand between its bytes, as in long base64 and hex
}

// minLine is the length in bytes from which a line of a value of several lines is
// looked for by itself: searches and diffs show one line at a time.
const minLine = 12

// jsonDepth is how many times over a value may stand in JSON: in a JSON file, that
// is shown in a result, that is repeated as text within another one.
const jsonDepth = 3

// needlesOf are the forms of a value: its own, and those of its long lines.
func needlesOf(value string, name int) []needle {
	texts := []string{value}
	if strings.Contains(value, "\n") {
		if unix := strings.ReplaceAll(value, "\r\n", "\n"); unix != value {
			texts = append(texts, unix)
		} else {
			texts = append(texts, strings.ReplaceAll(value, "\n", "\r\n"))
		}
		for line := range strings.Lines(value) {
			line = strings.TrimSpace(line)
			if len(line) >= minLine && !strings.HasPrefix(line, "-----") { // the frame of a PEM block is no secret
				texts = append(texts, line)
			}
		}
	}
	var out []needle
	seen := map[needle]bool{}
	for _, text := range texts {
		for _, form := range append(plainForms(text), wrappedForms(text)...) {
			form.name = name
			if len(form.text) >= MinValue && !seen[form] {
				seen[form] = true
				out = append(out, form)
			}
		}
	}
	return out
}

// plainForms are the text itself, and in percent-encoding and JSON as encoders
// differ.
func plainForms(text string) []needle {
	forms := []string{text}
	for _, keep := range []string{"-_.~", "-_.~/", "-_.!~*'()", ""} {
		escaped := percent(text, keep)
		plus := strings.ReplaceAll(escaped, "%20", "+")
		forms = append(forms, escaped, lowerHex(escaped), plus, lowerHex(plus))
	}
	forms = append(forms, url.PathEscape(text), everyByte(text), lowerHex(everyByte(text)))
	level := []string{text}
	for range jsonDepth {
		var next []string
		for _, t := range level {
			for _, form := range jsonForms(t) {
				if !slices.Contains(next, form) {
					next = append(next, form)
				}
			}
		}
		forms, level = append(forms, next...), next
	}
	slices.Sort(forms)
	var out []needle
	for _, form := range slices.Compact(forms) {
		out = append(out, needle{text: form})
	}
	return out
}

// percent is text in percent-encoding, with ASCII letters, digits and what keep
// has as they are.
func percent(text, keep string) string {
	var out strings.Builder
	for i := range len(text) {
		c := text[i]
		if c < utf8.RuneSelf && (isAlnum(c) || strings.IndexByte(keep, c) >= 0) {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}

func isAlnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// everyByte is text with each of its bytes in percent-encoding.
func everyByte(text string) string {
	var out strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&out, "%%%02X", text[i])
	}
	return out.String()
}

// lowerHex writes the digits behind each % in lower case.
func lowerHex(escaped string) string {
	out := []byte(escaped)
	for i := 0; i+2 < len(out); i++ {
		if out[i] == '%' {
			copy(out[i+1:], bytes.ToLower(out[i+1:i+3]))
			i += 2
		}
	}
	return string(out)
}

// jsonForms are text as it stands between the quotation marks of JSON.
func jsonForms(text string) []string {
	plain := quoted(text, false)
	forms := []string{plain}
	if html := quoted(text, true); html != plain {
		forms = append(forms, html)
	}
	if strings.Contains(plain, "/") {
		forms = append(forms, strings.ReplaceAll(plain, "/", `\/`))
	}
	if ascii := asciiOnly(plain); ascii != plain {
		forms = append(forms, ascii, strings.ReplaceAll(ascii, "/", `\/`))
	}
	return forms
}

// quoted is text as encoding/json writes it, with or without its escapes for HTML.
func quoted(text string, html bool) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(html)
	_ = enc.Encode(text) // a string has no error
	line := out.String()
	return line[1 : len(line)-2] // without the quotation marks and the line end
}

// asciiOnly escapes what is not ASCII, as encoders for cautious readers do.
func asciiOnly(text string) string {
	var out strings.Builder
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			out.WriteRune(r)
		case r > 0xFFFF:
			r -= 0x10000
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xD800+r>>10, 0xDC00+r&0x3FF)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// wrappedForms are text in hex and base64. Of base64, where the text may begin at
// any of three places in a group of four characters, they are those characters
// that the text alone decides; the one before and after them hold at most four
// bits of it.
func wrappedForms(text string) []needle {
	var out []needle
	add := func(form string) { out = append(out, needle{text: form, wrapped: true}) }
	add(hex.EncodeToString([]byte(text)))
	add(strings.ToUpper(hex.EncodeToString([]byte(text))))
	for before := range 3 {
		group := make([]byte, before, before+len(text)+3)
		group = append(append(group, text...), 0, 0, 0)
		first, last := (8*before+5)/6, 8*(before+len(text))/6
		standard := base64.StdEncoding.EncodeToString(group)[first:last]
		add(standard)
		if urls := base64.URLEncoding.EncodeToString(group)[first:last]; urls != standard {
			add(urls)
		}
	}
	return out
}
