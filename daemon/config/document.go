package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// document is a TOML file as a tree, and where its keys stand.
type document struct {
	tree  map[string]any
	lines map[string]int    // by key: "review.rule[0].paths", "review.rule[0].paths[2]"; from 1
	from  map[string]string // by key: what stands above the file, see Override
}

// parseDocument reads TOML. The error is a *Problem without a file.
func parseDocument(data []byte) (document, *Problem) {
	d := document{lines: map[string]int{}}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if err := toml.Unmarshal(data, &d.tree); err != nil {
		p := &Problem{Text: strings.TrimPrefix(err.Error(), "toml: ")}
		var at *toml.DecodeError
		if errors.As(err, &at) {
			p.Line, _ = at.Position()
			p.Key = cut(strings.Join(at.Key(), "."))
		}
		p.Text = cut(p.Text)
		return document{}, p
	}
	d.locate(data)
	return d, nil
}

// locate fills lines. What the parser accepted before has no errors.
func (d *document) locate(data []byte) {
	var p unstable.Parser
	p.Reset(data)
	table := ""
	elements := map[string]int{} // of each array of tables so far
	for p.NextExpression() {
		switch e := p.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = d.header(&p, e, elements)
		case unstable.KeyValue:
			d.keyValue(&p, e, table)
		}
	}
}

// header notes where a table begins and returns its key. Of an array of tables
// on the way, the last element is meant.
func (d *document) header(p *unstable.Parser, e *unstable.Node, elements map[string]int) string {
	key := ""
	parts := e.Key()
	for parts.Next() {
		key = join(key, string(parts.Node().Data))
		d.note(key, lineOf(p, parts.Node()))
		if parts.IsLast() && e.Kind == unstable.ArrayTable {
			elements[key]++
		}
		if n := elements[key]; n > 0 {
			key = element(key, n-1)
			d.note(key, lineOf(p, parts.Node()))
		}
	}
	return key
}

func (d *document) keyValue(p *unstable.Parser, e *unstable.Node, table string) {
	key, line := table, 0
	parts := e.Key()
	for parts.Next() {
		key, line = join(key, string(parts.Node().Data)), lineOf(p, parts.Node())
		d.note(key, line)
	}
	d.value(p, e.Value(), key, line)
}

// value notes the parts of a value; line is that of what holds it.
func (d *document) value(p *unstable.Parser, v *unstable.Node, key string, line int) {
	parts := v.Children()
	switch v.Kind {
	case unstable.Array:
		for i := 0; parts.Next(); i++ {
			at := element(key, i)
			if n := lineOf(p, parts.Node()); n > 0 {
				line = n
			}
			d.note(at, line)
			d.value(p, parts.Node(), at, line)
		}
	case unstable.InlineTable:
		for parts.Next() {
			d.keyValue(p, parts.Node(), key)
		}
	}
}

// note keeps the first line of a key.
func (d *document) note(key string, line int) {
	if d.lines[key] == 0 {
		d.lines[key] = line
	}
}

// lineOf is the line of a node from 1, 0 when it does not know its place.
func lineOf(p *unstable.Parser, n *unstable.Node) int {
	if n.Raw.Length == 0 {
		return 0
	}
	return p.Shape(n.Raw).Start.Line
}

func join(table, key string) string {
	if table == "" {
		return key
	}
	return table + "." + key
}

func element(key string, i int) string { return fmt.Sprintf("%s[%d]", key, i) }

// maxQuoted is how many bytes of what a file says a problem repeats.
const maxQuoted = 80

// cut shortens text of the file for a problem.
func cut(s string) string {
	if len(s) <= maxQuoted {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ToValidUTF8(s[:maxQuoted], "") + "…"
}
