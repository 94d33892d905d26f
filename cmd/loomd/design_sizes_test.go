package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"strings"
	"testing"
)

// What is longer than this wants a noun to split by.
const (
	maxFileLines     = 400
	maxFunctionLines = 60
)

// longer are the files and functions ("dir/file.go:Name") that may be longer,
// with the reason.
var longer = map[string]string{}

// sizes finds hand-written code that is too long.
func sizes(tree repository) []string {
	var findings []string
	for i := range tree.files {
		f := &tree.files[i]
		if path.Ext(f.name) == ".md" || f.generated() {
			continue
		}
		if n := strings.Count(f.text, "\n"); n > maxFileLines && longer[f.name] == "" {
			findings = append(findings, fmt.Sprintf("%s: %d lines, at most %d", f.name, n, maxFileLines))
		}
		if f.ast == nil {
			continue
		}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || longer[f.name+":"+fn.Name.Name] != "" {
				continue
			}
			if n := f.linesOf(fn); n > maxFunctionLines {
				findings = append(findings, f.at(fn.Pos(), fmt.Sprintf("%s has %d lines, at most %d", fn.Name.Name, n, maxFunctionLines)))
			}
		}
	}
	return findings
}

// linesOf counts a function's lines. A table of cases in a test is data: its
// rows are not counted.
func (f *sourceFile) linesOf(fn *ast.FuncDecl) int {
	line := func(pos token.Pos) int { return f.fset.Position(pos).Line }
	n := line(fn.End()) - line(fn.Pos()) + 1
	if !f.isTest() {
		return n
	}
	ast.Inspect(fn, func(node ast.Node) bool {
		if table, ok := node.(*ast.CompositeLit); ok {
			n -= line(table.Rbrace) - line(table.Lbrace)
			return false
		}
		return true
	})
	return n
}

// marks finds what no finished code holds: sleeps in tests, which are slow or
// flaky, and notes of what is still to do.
func marks(tree repository) []string {
	var findings []string
	unfinished := []string{"TO" + "DO", "FIX" + "ME", "XX" + "X:", "HA" + "CK:"}
	for i := range tree.files {
		f := &tree.files[i]
		for n, line := range strings.Split(f.text, "\n") {
			for _, mark := range unfinished {
				if strings.Contains(line, mark) {
					findings = append(findings, fmt.Sprintf("%s:%d: %s: finish it, or file an issue", f.name, n+1, mark))
				}
			}
		}
		if f.ast == nil || !f.isTest() {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok || s.Sel.Name != "Sleep" {
				return true
			}
			if id, ok := s.X.(*ast.Ident); ok && f.imported[id.Name] == "time" {
				findings = append(findings, f.at(s.Pos(), "time.Sleep in a test: await what must happen"))
			}
			return true
		})
	}
	return findings
}

func TestLongFilesAndFunctionsAreFound(t *testing.T) {
	function := func(lines int) string { return "func f() {\n" + strings.Repeat("\tg()\n", lines-2) + "}\n" }
	expect(t, sizes(in(t, "watch/a.go\npackage p\n"+function(60))))
	expect(t, sizes(in(t, "watch/a.go\npackage p\n"+function(61))), "watch/a.go:2: f has 61 lines, at most 60")
	expect(t, sizes(in(t, "watch/a.go\npackage p\n"+strings.Repeat("//\n", 400))), "watch/a.go: 401 lines, at most 400")
	expect(t, sizes(in(t, "editors/a.ts\n"+strings.Repeat("//\n", 401))), "editors/a.ts: 401 lines, at most 400")
	expect(t, sizes(in(t, "editors/a.gen.ts\n"+strings.Repeat("//\n", 401))))
	table := "func f() {\n\tx := []int{\n" + strings.Repeat("\t\t1,\n", 60) + "\t}\n}\n"
	expect(t, sizes(in(t, "watch/a_test.go\npackage p\n"+table)))
	expect(t, sizes(in(t, "watch/a.go\npackage p\n"+table)), "f has 64 lines")
}

func TestSleepsAndUnfinishedCodeAreFound(t *testing.T) {
	sleep := "\npackage p\nimport \"time\"\nfunc f() { time.Sleep(1) }\n"
	expect(t, marks(in(t, "watch/a.go"+sleep)))
	expect(t, marks(in(t, "watch/a_test.go"+sleep)), "watch/a_test.go:3: time.Sleep")
	expect(t, marks(in(t, "watch/a.go\npackage p\n\n// TO"+"DO: more")), "watch/a.go:3: TO"+"DO")
	expect(t, marks(in(t, "docs/a.md\nFIX"+"ME")), "docs/a.md:1: FIX"+"ME")
}
