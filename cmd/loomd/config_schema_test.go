package main

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/pelletier/go-toml/v2"

	"github.com/loomd/loomd/daemon/config"
)

var updateSchema = flag.Bool("update-schema", false, "write docs/config.schema.json anew")

const schemaFile = "../../docs/config.schema.json"

// TestConfigSchemaIsCommitted: the file in docs is what loomd config schema
// prints.
func TestConfigSchemaIsCommitted(t *testing.T) {
	want, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	if *updateSchema {
		if err := os.WriteFile(schemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(schemaFile)
	if err != nil || string(got) != string(want) {
		t.Errorf("%s is stale (%v): go test ./cmd/loomd -run ConfigSchema -update-schema writes it", schemaFile, err)
	}
}

func configSchema(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	text, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// asJSON is a TOML file as an editor's validator sees it.
func asJSON(t *testing.T, text string) any {
	t.Helper()
	var tree map[string]any
	if err := toml.Unmarshal([]byte(text), &tree); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	data, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// loaded is what the reader says of a file.
func loaded(t *testing.T, text string) []config.Problem {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, problems := config.Load(path, nil)
	return problems
}

var tomlBlock = regexp.MustCompile("(?s)```toml\n(.*?)```")

// TestConfigSchemaTakesTheExamples: all that the documents show is valid, for the
// schema and for the reader.
func TestConfigSchemaTakesTheExamples(t *testing.T) {
	schema, n := configSchema(t), 0
	for _, name := range []string{"configuration.md", "custom-tools.md"} {
		page, err := os.ReadFile(filepath.Join("../../docs", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range tomlBlock.FindAllStringSubmatch(string(page), -1) {
			n++
			if err := schema.Validate(asJSON(t, m[1])); err != nil {
				t.Errorf("%s: %v in\n%s", name, err, m[1])
			}
			if p := loaded(t, m[1]); len(p) > 0 {
				t.Errorf("%s: %v in\n%s", name, p, m[1])
			}
		}
	}
	if n < 2 {
		t.Errorf("the documents have %d examples", n)
	}
}

// TestConfigSchemaAndReaderAgree: what one refuses the other does, but for what a
// schema cannot say.
func TestConfigSchemaAndReaderAgree(t *testing.T) {
	schema := configSchema(t)
	for _, c := range []struct {
		text         string
		schema, read bool // whether it is taken
	}{
		{"", true, true},
		{"[review]\nmode = \"auto\"\nwait_secs = 1\nhold_defaults = false\n", true, true},
		{"[index]\nmemory = \"64 MiB\"\n[log]\nlevel = \"debug\"\nformat = \"json\"\n", true, true},
		{"[toolsets.a]\ntools = [\"grep\"]\n[toolsets.b_2]\ntools = [\"glob\"]\n", true, true},
		{"[[review.rule]]\neffect = \"hold\"\nkinds = [\"delete\"]\nsessions = [\"a*\"]\ntools = [\"grep\"]\nmin_lines = 3\n", true, true},
		{"[reviwe]\n", false, false},
		{"[review]\nmode = \"lax\"\n", false, false},
		{"[review]\nmode = 1\n", false, false},
		{"[review]\nwait_secs = 0\n", false, false},
		{"[review]\nwait_secs = 3601\n", false, false},
		{"[review]\nwait_secs = 1.5\n", false, false},
		{"[review]\nwait_secs = \"30\"\n", false, false},
		{"[review]\nhold_defaults = \"yes\"\n", false, false},
		{"[review]\nrule = {effect = \"hold\"}\n", false, false},
		{"[[review.rule]]\nname = \"x\"\n", false, false},
		{"[[review.rule]]\neffect = \"allow\"\n", false, false},
		{"[[review.rule]]\neffect = \"hold\"\nkinds = [\"remove\"]\n", false, false},
		{"[[review.rule]]\neffect = \"hold\"\npaths = []\n", false, false},
		{"[[review.rule]]\neffect = \"hold\"\npaths = \"a\"\n", false, false},
		{"[[review.rule]]\neffect = \"hold\"\nname = \"\"\n", false, false},
		{"[[review.rule]]\neffect = \"accept\"\nmax_lines = 0\n", false, false},
		{"[index]\nmemory = \"64\"\n", false, false},
		{"[index]\nmemory = 64\n", false, false},
		{"[log]\nlevel = \"loud\"\n", false, false},
		{"[log]\nfile = \"x\"\n", false, false},
		{"[toolsets.a]\n", false, false},
		{"[toolsets.a]\ntools = [1]\n", false, false},
		{"[toolsets]\na = [\"grep\"]\n", false, false},
		// What a schema of one key cannot say.
		{"[index]\nmemory = \"2TiB\"\n", true, false},
		{"[[review.rule]]\neffect = \"hold\"\npaths = [\"/a\"]\n", true, false},
		{"[[review.rule]]\neffect = \"hold\"\nmax_lines = 3\n", true, false},
	} {
		if err := schema.Validate(asJSON(t, c.text)); (err == nil) != c.schema {
			t.Errorf("the schema says %v of\n%s", err, c.text)
		}
		if problems := loaded(t, c.text); (len(problems) == 0) != c.read {
			t.Errorf("the reader says %v of\n%s", problems, c.text)
		}
	}
}

// TestConfigSchemaExplains: every key has its sentence, and says what it is of.
func TestConfigSchemaExplains(t *testing.T) {
	text, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), `"description"`); n < 20 {
		t.Errorf("%d descriptions", n)
	}
}
