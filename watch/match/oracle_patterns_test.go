package match

// oraclePatterns are patterns that people and agents write, and those that ask for a
// corner of the dialect.
var oraclePatterns = []string{
	// Literals.
	`foo`, `return`, `func `, `WriteString`, `errServerClosedIdle`, `e`, `_`, `  `, `\t`, `é`, `日本`, `straße`, `€`, `É`, "\xff", `a\x00b`,
	`NOTE`, `panic`, `\.go`, `a\.b`, `\$1`, `\{2\}`, `\[3\]`, `\(4\)`, `\^5`, `\|6`, `\+8`, `\?9`, `\*0`, `\\b`, `/\*x\*/`, `#!/bin/sh`, `--`, `-w`,
	`interface\{\}`, `err != nil`, `\x66oo`, `\x{66}oo`, `\u0066oo`, `\U00000066oo`, `\u{66}`, `\x41`, `\a|\f`, `\v`, `\r`,
	// Alternations.
	`foo|bar`, `foo|foobar`, `foobar|foo`, `a|b|c`, `return|panic|defer|go `, `(foo|bar)(baz|bar)`, `foo|`, `|foo`, `()`, `(|a)`, `a(|b)c`,
	`Index|LastIndex|IndexByte|Contains`, `abc|abd|abe`, `f(oo|uu)b`, `é|à`, `(?:a|b)+|c`, `a|\n`,
	// Literals beside other things.
	`func \w+\(`, `func \(\w+ \*?\w+\) \w+\(`, `[A-Z]+_RESUME`, `\w+Index\(`, `\bfoo\b`, `\bfunc\b`, `\Bar\b`, `foo\B`, `s\[i:\]`, `if .* \{$`,
	`^func`, `^\s*return`, `return$`, `\{$`, `^}$`, `^$`, `^\s*$`, `^`, `$`, `^foo$`, `foo.*bar`, `foo.+bar`, `foo.?bar`, `f.o`, `.`, `..`, `^.$`, `^..$`, `^...$`,
	`.*`, `.+`, `^.*$`, `\s+$`, `\S+`, `\s*foo\s*`, `foo\w*`, `\w*foo`, `x*`, `x*y*`, `(x*)+foo`, `https?://`, `colou?r`, `a{3}`, `a{2,}`, `a{1,2}b`, `(ab){2}`, `(ab|c){2,3}`,
	`a{0}`, `a{0}b`, `(?:){5}`, `a{1000}`, `\w{20,}`, `\w{5}\s+\w{5}`, `(a+)+b`, `(a|aa)+b`, `(a*)*b`, `([a-c]*)+1`, `(?:a{0,2}){0,3}b`,
	// Without a literal.
	`[A-Z]{3}_[0-9]+`, `[a-z]{3}[0-9]{2}`, `[0-9]+\.[0-9]+`, `\d+`, `\d{2,}`, `\D\d\D`, `[a-z]+[A-Z][a-z]+`, `\w+\s+\w+`, `[^a-z]+`, `[^ -~]`, `[^\x00-\x7f]`,
	`\W\W\W\W`, `(\w)\W`, `[a-c]+[1-3]`, `[[:upper:]][[:lower:]]+[[:upper:]]`, `^[^a]`, `[^a]$`, `[aeiou]{3}`, `[bcdfg]{4}`,
	// Classes.
	`[abc]`, `[^abc]`, `[a-c1-3]`, `[]a]`, `[^]a]`, `[a-]`, `[-a]`, `[a\-c]`, `[\]]`, `[\\]`, `[^^]`, `[a^]`, `[.]`, `[$]`, `[*+?]`, `[(){}]`, `[|]`, `[\w]`, `[\W]`, `[\d\s]`, `[^\d\s]`,
	`[\s]`, `[\S]`, `[\t]`, `[\x00]`, `[\x00-\x1f]`, `[\x80-\xff]`, `[^\x80-\xff]`, `\xff`, `\xc3\xa9`, `[a-\xff]`, `[^\n]`, `[^\r]`, `[\r]`, `[\n ]`, `[^\s]`, `[--a]`, `[+--]`,
	`[[:alpha:]]`, `[[:^alpha:]]`, `[^[:alpha:]]`, `[[:digit:][:space:]]`, `[[:word:]]`, `[[:punct:]]`, `[[:xdigit:]]{4}`, `[[:blank:]]`, `[[:cntrl:]]`, `[[:graph:]]`, `[[:print:]]+`, `[[:ascii:]]`, `[[:alnum:]_]+`,
	`[a[bc]]`, `[a-z&&[^aeiou]]`, `[a-z--b]`, `[a-d~~c-f]`, `[\w&&\d]`, `[a&b]`, `[a&&b]`, `[&&]`, `[a&&]`, `[^a&&b]`, `[a-c-e]`, `[^\x00-\xff]`, `[\w--[aeiou]]+`, `[a-f&&c-z&&d]`, `[^a-z&&[^A-Z]]`,
	`\d`, `\D`, `\s`, `\S`, `\w`, `\W`, `a\sb`, `a\vb`, `\s\s`,
	// Characters beyond ASCII under repetitions.
	`é+`, `(?:é|b)+`, `日?x`, `é{2}`, `€c`, `[^€]`, `\x{e9}`, `\x{20ac}`, `\u20ac`,
	// Case.
	`(?i)foo`, `(?i:f)oo`, `f(?i)OO`, `f(?i:O)o`, `(?i)[f]oo`, `(?i)[^f]oo`, `(?i)k`, `(?i)[k-l]`, `(?i)É`, `(?i)STRASSE|straße`, `(?-i)foo`, `(?i)\x46oo`, `(?i)writestring`, `(?i)ERR\b`, `(?i)return|PANIC`, `(?i)_`, `(?i)a_b-c`,
	`(?i)f(?-i)oo`, `(?i)[[:upper:]]`, `(?i)[^[:upper:]]`, `((?i)a)b`, `(?i)a|b`, `a(?i)b|c`, `(a(?i)b|c)d`,
	// Flags.
	`(?s)a.b`, `(?s:.)`, `(?m)^foo`, `(?-m)^foo`, `(?-m)foo$`, `(?-m:^)b`, `(?U)a+`, `(?U)a+?`, `(?ms-U)foo$`, `(?x) f o o`, "(?x) f # comment\n oo", `(?x)f\ oo|[ f ]`, `(?-u)foo`, `(?-u:\w)`, `(?is)FOO.`,
	// Borders.
	`\Afoo`, `foo\z`, `\A`, `\z`, `\A\z`, `\b`, `\B`, `\b\w`, `\w\b`, `\<foo`, `foo\>`, `\<`, `\>`, `\b{start}foo`, `foo\b{end}`, `\b{start-half}foo`, `foo\b{end-half}`, `\b-`, `-\b`, `\B-\B`, `\bé`, `é\b`, `^\b`, `\b$`, `^\B`, `\B$`,
	`(^|,)foo`, `foo(,|$)`, `(?:^|\W)foo(?:\W|$)`, `^^foo`, `foo$$`, `(^)*foo`, `^*`, `(?:^)+a`, `a^`, `$a`, `a$b`, `^+a`, `(\b|x)foo`, `a\b\bb|c`,
	// Greedy and not.
	`a+?`, `a*?b`, `a??b`, `a{1,3}?`, `".*?"`, `".*"`, `\(.*?\)`, `<[^>]*>`, `a.*?c`, `(a|ab)(c|bcd)?`, `(?:a|ab)(?:c|bca)`, `a*`, `(a*)+`, `(a|b)*?c`, `(|a)+`, `(|a)*`, `(a|)+b?`,
	// Names and groups.
	`(?P<x>foo)`, `(?<x>foo)`, `(?P<a_1>f)(?P<b.c>o)`, `((((foo))))`, `(?:(?:(?:foo)))bar`,
	// Lines feeds: errors, unless with Multiline.
	`foo\nbar`, `\n`, `a\n`, `\na`, `\n\n`, `foo\n+`, `[\n]`, `(?s)foo.bar`, `(?s).*`, `foo\s+bar`, `\}\n\n`, `\)\s*\{\n\s*return`, `a\nb|b\nc`, `a\n|^b`, `$\n^`, `[^x]`, `[^x]+`, `a[^x]*b`, `\w+\n\w+`, `\n*`, `a\s*`, `\x0a`, `\x0aa`, `(?-m)a\n$`, `b\s*\z`, `^\s+`, `\s+`, `[\s\w]+`, `(?s)a.*?b`, `}\n$`, `\z\n?`,
}

// oracleCode has lines that oraclePatterns look for.
var oracleCode = []byte(`package x

import "fmt"

// NOTE: foo bar, foobar, barfoo foo_bar; color colour
func main() {
	var s []interface{} = nil
	if err != nil {
		return
	}
	fmt.Println("a", "b", s[i:], 0x1F, 3.14, ABC_123) // errServerClosedIdle

	https://example.com/x.go http://a.b
	PM_RESUME = XYZ_RESUME; aaaaab abab cc abcab "quoted" "twice" <tag> </tag>
}
` + "\tWriteString writestring WRITESTRING  \nfoo,bar\nbar,foo\nÉté straße STRASSE\nfoo\n\nbar\n   \n\t\n-w --flag\na\nb\nc\n")
