package main

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/loomd/loomd/"

// room is a part of the tree and what it may import. A directory belongs to
// the room with the longest name above it.
type room struct {
	dir    string
	ours   []string // packages of this module
	theirs []string // modules of others, with their packages
}

// rooms is the arrow: cmd/loomd → daemon → tools → {diffpreview, watch}. What
// is not listed is not imported.
var rooms = []room{
	{
		"cmd/loomd",
		[]string{"daemon", "daemon/client", "daemon/config", "daemon/place", "daemon/protocol", "tools/process", "tools/schema"},
		[]string{"github.com/alecthomas/kong", "golang.org/x/sys", "golang.org/x/term", "golang.org/x/text"},
	},
	{
		"daemon",
		[]string{"daemon/config", "daemon/place", "daemon/protocol", "daemon/rpc", "tools", "tools/grant", "tools/permission", "tools/process", "tools/sandbox", "tools/schema", "tools/secret", "diffpreview", "watch", "watch/index"},
		[]string{"go.lsp.dev/protocol", "go.lsp.dev/uri"},
	},
	{"docs/customtool", []string{"daemon", "daemon/config", "daemon/place", "tools"}, nil},
	{"daemon/client", []string{"daemon/place", "daemon/protocol", "daemon/rpc"}, []string{"go.lsp.dev/protocol", "go.lsp.dev/uri"}},
	{"daemon/config", nil, []string{"github.com/pelletier/go-toml", "github.com/bmatcuk/doublestar"}},
	{"daemon/daemontest", []string{"daemon/protocol"}, nil},
	{"daemon/place", nil, []string{"golang.org/x/sys"}},
	{"daemon/protocol", nil, []string{"go.lsp.dev/protocol"}},
	{"daemon/protocol/gen", []string{"daemon/protocol"}, nil},
	{"daemon/rpc", nil, []string{"go.lsp.dev/jsonrpc2"}},
	{"daemon/searchbench", nil, nil},
	{"tools", []string{"diffpreview", "tools/grant", "tools/patch", "tools/process", "tools/schema", "tools/secret", "tools/web", "watch", "watch/index", "watch/match"}, []string{"github.com/google/jsonschema-go", "golang.org/x/image", "golang.org/x/text"}},
	{"tools/gen", []string{"tools", "tools/schema"}, nil},
	{"tools/grant", nil, nil},
	{"tools/patch", nil, nil},
	{"tools/sandbox", []string{"tools", "diffpreview", "watch"}, []string{"golang.org/x/sys"}},
	{"tools/process", nil, []string{"golang.org/x/sys"}},
	{"tools/permission", nil, []string{"mvdan.cc/sh/v3/syntax"}},
	{"tools/schema", nil, nil},
	{"tools/web", nil, []string{"github.com/cenkalti/backoff/v5"}},
	{"tools/secret", nil, nil},
	{"diffpreview", nil, []string{"github.com/bmatcuk/doublestar/v4", "github.com/sergi/go-diff", "golang.org/x/sys"}},
	{"watch", nil, []string{"github.com/fsnotify/fsnotify", "golang.org/x/sys"}},
	{"watch/index", []string{"watch", "watch/match"}, []string{"github.com/bmatcuk/doublestar/v4", "golang.org/x/sys"}},
	{"watch/match", []string{"watch/match/vector"}, nil},
	{"watch/match/vector", nil, []string{"golang.org/x/sys"}},
}

// testModules may be imported by every test, and by the fakes that are made
// for tests; the echo of the benchmark is the JSON-RPC library alone.
var (
	testModules = []string{"github.com/rogpeppe/go-internal", "go.uber.org/goleak", "pgregory.net/rapid", "golang.org/x/sys", "go.lsp.dev/jsonrpc2", "github.com/google/jsonschema-go", "github.com/pelletier/go-toml"}
	testOurs    = []string{"daemon/daemontest"}
)

// imports finds imports against the arrow.
func imports(tree repository) []string {
	var findings []string
	for i := range tree.files {
		f := &tree.files[i]
		if f.ast == nil {
			continue
		}
		r := roomOf(f.dir())
		for _, spec := range f.ast.Imports {
			if why := r.refuses(f, spec); why != "" {
				findings = append(findings, f.at(spec.Pos(), why))
			}
		}
	}
	return findings
}

func roomOf(dir string) *room {
	var found *room
	for i := range rooms {
		if r := &rooms[i]; under(dir, r.dir) && (found == nil || len(r.dir) > len(found.dir)) {
			found = r
		}
	}
	return found
}

// under reports whether a slash path is dir or below it.
func under(p, dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }

func (r *room) refuses(f *sourceFile, spec *ast.ImportSpec) string {
	imported := strings.Trim(spec.Path.Value, `"`)
	among := func(modules []string) bool {
		return slices.ContainsFunc(modules, func(m string) bool { return under(imported, m) })
	}
	switch {
	case spec.Name != nil && spec.Name.Name == ".":
		return "dot import of " + imported + ": a reader cannot see where a name is from"
	case imported == "C" || imported == "unsafe" || imported == "plugin":
		return "import of " + imported + ": what it does cannot be guarded"
	case r == nil:
		return "Go code outside of every room"
	case strings.HasPrefix(imported, module):
		imported = strings.TrimPrefix(imported, module)
		if imported == f.dir() || slices.Contains(r.ours, imported) || f.isTest() && slices.Contains(testOurs, imported) {
			return ""
		}
		return r.dir + " may not import " + imported
	case !strings.Contains(strings.Split(imported, "/")[0], "."):
		return "" // the standard library
	case among(r.theirs), f.isTest() && among(testModules):
		return ""
	}
	return r.dir + " may not import " + imported
}

func TestImportsAgainstTheArrowAreFound(t *testing.T) {
	file := func(name, spec string) string {
		return name + "\npackage p\nimport " + spec + "\n"
	}
	ours := func(pkg string) string { return `"` + path.Join(module, pkg) + `"` }
	expect(t, imports(in(t,
		file("cmd/loomd/a.go", ours("daemon")),
		file("cmd/loomd/try/a.go", ours("daemon/client")),
		file("daemon/a.go", ours("tools")),
		file("daemon/a.go", `lsp "go.lsp.dev/protocol"`),
		file("daemon/rpc/a.go", `"go.lsp.dev/jsonrpc2"`),
		file("tools/a.go", ours("diffpreview")),
		file("tools/a_test.go", `"pgregory.net/rapid"`),
		file("watch/a.go", `"os"`),
	)))
	expect(t, imports(in(t, file("diffpreview/a.go", ours("watch")))), "diffpreview/a.go:2: diffpreview may not import watch")
	expect(t, imports(in(t, file("watch/a.go", ours("diffpreview")))), "watch may not import diffpreview")
	expect(t, imports(in(t, file("tools/a.go", ours("daemon")))), "tools may not import daemon")
	expect(t, imports(in(t, file("tools/a_test.go", ours("daemon")))), "tools may not import daemon")
	expect(t, imports(in(t, file("daemon/place/a.go", ours("daemon/rpc")))), "daemon/place may not import daemon/rpc")
	expect(t, imports(in(t, file("cmd/loomd/a.go", ours("diffpreview")))), "cmd/loomd may not import diffpreview")
	expect(t, imports(in(t, file("cmd/loomd/a.go", ours("daemon/daemontest")))), "cmd/loomd may not import daemon/daemontest")
	expect(t, imports(in(t, file("daemon/a.go", ours("daemon/client")))), "daemon may not import daemon/client")
	expect(t, imports(in(t, file("daemon/a.go", `"go.lsp.dev/jsonrpc2"`))), "daemon may not import go.lsp.dev/jsonrpc2")
	expect(t, imports(in(t, file("tools/a.go", `"go.lsp.dev/protocol"`))), "tools may not import go.lsp.dev/protocol")
	expect(t, imports(in(t, file("tools/a.go", `"github.com/fsnotify/fsnotify"`))), "tools may not import github.com/fsnotify/fsnotify")
	expect(t, imports(in(t, file("watch/a.go", `"github.com/sergi/go-diff/diffmatchpatch"`))), "watch may not import")
	expect(t, imports(in(t, file("util/a.go", `"os"`))), "outside of every room")
	expect(t, imports(in(t, file("watch/a.go", `"unsafe"`), file("watch/b.go", `. "os"`))), "import of unsafe", "dot import of os")
}
