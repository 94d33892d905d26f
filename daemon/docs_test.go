package daemon

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestToolResultsInTheDocs compares the table of results in docs/protocol.md with
// the schemas that are advertised. What a result has only when it was cut is told
// below the table.
func TestToolResultsInTheDocs(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "protocol.md"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := Tools()
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range all {
		row := regexp.MustCompile("(?m)^\\| `" + tool.Name + "` \\| `([^`]*)`").FindSubmatch(text)
		if row == nil {
			t.Errorf("%s: there is no row", tool.Name)
			continue
		}
		var schema resultSchema
		if err := json.Unmarshal(tool.OutputSchema, &schema); err != nil {
			t.Fatal(err)
		}
		got, rest := shapeOf(string(row[1]))
		if want := schema.shape(true); got != want || rest != "" {
			t.Errorf("%s: docs/protocol.md has\n%s%s\nthe schema is\n%s", tool.Name, got, rest, want)
		}
	}
}

type resultSchema struct {
	Properties map[string]resultSchema
	Items      *resultSchema
	Required   []string
}

// shape is the names of an object's members, sorted, "?" behind those that may be
// absent, with the shape of their items.
func (s resultSchema) shape(top bool) string {
	var members []string
	for name, p := range s.Properties {
		optional := !slices.Contains(s.Required, name)
		if top && optional && slices.Contains([]string{"shown", "total", "unit", "next"}, name) {
			continue
		}
		if optional {
			name += "?"
		}
		if p.Items != nil && p.Items.Properties != nil {
			name += p.Items.shape(false)
		}
		members = append(members, name)
	}
	slices.Sort(members)
	return "{" + strings.Join(members, ", ") + "}"
}

var memberInDocs = regexp.MustCompile(`^[a-z_]+\??`)

// shapeOf is the shape of an object as the docs write it: "{a, b?: [{c}], d: [e]}".
// rest is what stands behind it.
func shapeOf(text string) (shape, rest string) {
	text = strings.TrimPrefix(text, "{")
	var members []string
	for {
		name := memberInDocs.FindString(text)
		if name == "" {
			return "?", text
		}
		text = text[len(name):]
		if items, ok := strings.CutPrefix(text, ": ["); ok {
			if strings.HasPrefix(items, "{") {
				var inner string
				inner, items = shapeOf(items)
				name += inner
			}
			_, text, _ = strings.Cut(items, "]")
		}
		members = append(members, name)
		var more bool
		if text, more = strings.CutPrefix(text, ", "); !more {
			slices.Sort(members)
			return "{" + strings.Join(members, ", ") + "}", strings.TrimPrefix(text, "}")
		}
	}
}
