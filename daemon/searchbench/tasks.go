package main

// kind is what a task asks for.
type kind string

const (
	grepLines kind = "lines"
	grepFirst kind = "first 100"
	grepCount kind = "count"
	grepFiles kind = "files"
	globFiles kind = "glob"
	listFiles kind = "list"
)

// task is one thing to find. A held-out one was written down before anything was
// ever measured with it.
type task struct {
	name    string
	kind    kind
	pattern string
	fold    bool
	literal bool // the pattern holds a literal of 4 or more bytes that must be there
	heldOut bool
}

// tasks are what is measured, on every corpus.
var tasks = []task{
	{"literal, rare", grepLines, `errServerClosedIdle`, false, true, false},
	{"literal, medium", grepLines, `WriteString`, false, true, false},
	{"literal, common", grepLines, `return`, false, true, false},
	{"no match", grepLines, `zxqvNoSuchText`, false, true, false},
	{"any case", grepLines, `errserverclosedidle`, true, true, false},
	{"literal prefix", grepLines, `func \(s \*Server\) [A-Z][a-z]+`, false, true, false},
	{"literal suffix", grepLines, `[A-Za-z]+Unmarshaler`, false, true, false},
	{"alternation", grepLines, `errServerClosedIdle|ErrBodyNotAllowed|http2errClosed|SetKeepAlivesEnabled`, false, true, false},
	{"no literal", grepLines, `[A-Z]{3}_[0-9]+`, false, false, false},
	{"no literal, rare", grepLines, `[a-z]{3}[0-9]{5}[A-Z]`, false, false, false},
	{"words", grepLines, `\w{5}\s+\w{5}\s+\w{5}\s+\w{5}`, false, false, false},
	{"first, literal", grepFirst, `return`, false, true, false},
	{"first, no literal", grepFirst, `[A-Z]{3}_[0-9]+`, false, false, false},
	{"count", grepCount, `WriteString`, false, true, false},
	{"files", grepFiles, `WriteString`, false, true, false},
	{"glob", globFiles, `**/*_test.go`, false, false, false},
	{"list", listFiles, ``, false, false, false},

	{"literal", grepLines, `memclrNoHeapPointers`, false, true, true},
	{"literal", grepLines, `sync.Pool`, false, true, true},
	{"literal", grepLines, `unexpected EOF`, false, true, true},
	{"literal", grepLines, `import`, false, true, true},
	{"literal of 3", grepLines, `nil`, false, false, true},
	{"no match", grepLines, `quuxFrobnicator`, false, true, true},
	{"any case", grepLines, `unmarshaltext`, true, true, true},
	{"any case", grepLines, `deadlock`, true, true, true},
	{"any case", grepLines, `http2`, true, true, true},
	{"literal inside", grepLines, `func Test[A-Z]\w+\(t`, false, true, true},
	{"literal inside", grepLines, `\w+\.Errorf\("[a-z]+`, false, true, true},
	{"literal inside", grepLines, `case \*?ast\.\w+Stmt:`, false, true, true},
	{"literal prefix", grepLines, `runtime\.[A-Z]\w+Stack`, false, true, true},
	{"alternation", grepLines, `SIGSEGV|SIGBUS|SIGFPE`, false, true, true},
	{"alternation", grepLines, `mallocgc|newobject|makeslice|growslice`, false, true, true},
	{"no literal", grepLines, `[0-9]+\.[0-9]+\.[0-9]+`, false, false, true},
	{"no literal", grepLines, `^\s*[a-z]+\(\)$`, false, false, true},
	{"first, literal", grepFirst, `func`, false, true, true},
	{"first, no literal", grepFirst, `[0-9]+\.[0-9]+\.[0-9]+`, false, false, true},
	{"count", grepCount, `func`, false, true, true},
	{"count", grepCount, `panic\(`, false, true, true},
	{"files", grepFiles, `import`, false, true, true},
	{"files", grepFiles, `[a-z]+_amd64`, false, true, true},
	{"glob", globFiles, `**/testdata/**/*.txt`, false, false, true},
	{"glob", globFiles, `**/{doc,export_test}.go`, false, false, true},
}

// first is how many lines a first page has.
const first = 100

// How many rows the tools return at most: more rows, or more bytes than one
// message holds, come in pages.
const (
	pageRows  = 1_000_000
	pageFiles = 100_000
)

// isGrep tells searches from listings.
func (t task) isGrep() bool { return t.kind != globFiles && t.kind != listFiles }

// arguments are the tool's, for a page that begins after some rows.
func (t task) arguments(offset int) (tool string, args map[string]any) {
	switch t.kind {
	case listFiles:
		return "glob", map[string]any{"pattern": "**/*", "limit": pageFiles}
	case globFiles:
		return "glob", map[string]any{"pattern": t.pattern, "limit": pageFiles}
	}
	args = map[string]any{"pattern": t.pattern, "limit": pageRows}
	if t.fold {
		args["case"] = "insensitive"
	}
	if offset > 0 {
		args["offset"] = offset
	}
	switch t.kind {
	case grepFirst:
		args["limit"] = first
	case grepCount:
		args["mode"] = "count"
	case grepFiles:
		args["mode"] = "files"
	}
	return "grep", args
}

// goal is what a task must reach against rg, and how long it may take.
type goal struct {
	ratio  float64 // times faster than rg; 0: none
	millis float64 // at most; 0: none
	per130 bool    // millis is per 130 MB of text
}

// goalOf is the goal by kind and by how many lines there are.
func (t task) goalOf(rows int) goal {
	switch {
	case t.kind == globFiles:
		return goal{ratio: 200}
	case t.kind == listFiles:
		return goal{ratio: 50}
	case t.kind == grepFirst && t.literal:
		return goal{millis: 1}
	case t.kind == grepFirst:
		return goal{millis: 35, per130: true}
	case t.kind == grepCount, t.kind == grepFiles:
		return goal{ratio: 25}
	case rows == 0 && t.literal:
		return goal{millis: 0.2}
	case !t.literal:
		return goal{ratio: 3.5}
	case rows <= 300:
		return goal{ratio: 200, millis: 1}
	case rows <= 10_000:
		return goal{ratio: 25}
	case rows <= 100_000:
		return goal{ratio: 10}
	}
	return goal{ratio: 3}
}
