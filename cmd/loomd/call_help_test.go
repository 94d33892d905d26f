package main

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/loomd/loomd/daemon"
	"github.com/loomd/loomd/tools/schema"
)

// Every tool has an example whose arguments it has, none of the required ones
// left out.
func TestEveryToolHasAnExample(t *testing.T) {
	all, err := daemon.Tools()
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range all {
		var given map[string]any
		if err := json.Unmarshal([]byte(examples[tool.Name]), &given); err != nil {
			t.Errorf("%s: the example is %q: %v", tool.Name, examples[tool.Name], err)
			continue
		}
		args, err := schema.Parse(tool.InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range args.Properties {
			_, there := given[a.Name]
			if slices.Contains(args.Required, a.Name) && !there {
				t.Errorf("%s: the example lacks %s", tool.Name, a.Name)
			}
			delete(given, a.Name)
		}
		if len(given) > 0 {
			t.Errorf("%s: the example has %v, which the tool does not", tool.Name, given)
		}
	}
}
