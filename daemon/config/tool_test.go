package config

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

const queryTool = `
[[tool]]
name = "query_{table}"
description = "Asks {table}.\nWith {q}."
command = ["psql", "--table={table}", "-v{{x}}", "--limit={limit}", "-c", "{q}", "--", "{files}", "{last}"]
cwd = "db"
timeout_secs = 9
read_only = true
[tool.parameters]
required = ["q"]
[tool.parameters.properties]
q = {type = "string"}
limit = {type = "integer"}
files = {type = "array", items = {type = "string"}}
last = {type = "string"}
[[tool.with]]
table = "users"
[[tool.with]]
table = "orders"
`

func TestConfiguredTool(t *testing.T) {
	c, problems := load(t, queryTool, "")
	if len(problems) > 0 || len(c.Tools) != 2 {
		t.Fatalf("%v, %+v", problems, c.Tools)
	}
	users := c.Tools[0]
	if users.Name != "query_users" || c.Tools[1].Name != "query_orders" || users.Description != "Asks users.\nWith {q}." || users.Cwd != "db" || users.TimeoutSecs != 9 || !users.ReadOnly || !strings.HasSuffix(users.Source, "config.toml:2") {
		t.Errorf("%+v", users)
	}
	if want := `{"additionalProperties":false,"properties":{"files":{"items":{"type":"string"},"type":"array"},"last":{"type":"string"},"limit":{"type":"integer"},"q":{"type":"string"}},"required":["q"],"type":"object"}`; string(users.Schema) != want {
		t.Errorf("%s", users.Schema)
	}
	for args, want := range map[string][]string{
		`{"q":"select 1; $(rm) 'x'"}`:                  {"psql", "--table=users", "-v{x}", "-c", "select 1; $(rm) 'x'", "--"},
		`{"q":"","limit":5,"files":["a b","-c"]}`:      {"psql", "--table=users", "-v{x}", "--limit=5", "-c", "", "--", "a b", "-c"},
		`{"q":"x","limit":-5,"files":[],"last":"--z"}`: {"psql", "--table=users", "-v{x}", "--limit=-5", "-c", "x", "--", "--z"},
	} {
		argv, err := users.Argv([]byte(args))
		if err != nil || !slices.Equal(argv, want) {
			t.Errorf("%s: %q (%v), want %q", args, argv, err, want)
		}
	}
	for args, field := range map[string]string{
		`{"q":"-f/etc/passwd"}`:   "q",
		`{"q":"a\u0000b"}`:        "q",
		`{"q":{}}`:                "q",
		`{"q":"x","files":[[1]]}`: "files[0]",
		`{"q":"x","files":["` + strings.Repeat("x", maxArgv) + `"]}`: "files",
	} {
		_, err := users.Argv([]byte(args))
		var wrong *ArgumentError
		if !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%.40s: %v, want field %s", args, err, field)
		}
	}
}

func TestConfiguredToolRefused(t *testing.T) {
	const base = "[[tool]]\nname = \"t\"\ndescription = \"d\"\n"
	params := "parameters = {properties = {q = {type = \"string\"}}}\n"
	known := Known{Tools: []string{"read_file"}, CheckSchema: func(schema []byte) error {
		if strings.Contains(string(schema), "strnig") {
			return errors.New("no type strnig")
		}
		return nil
	}}
	for text, want := range map[string]string{
		"[[tool]]\n": "has no name", base: "has no command",
		"[[tool]]\nname = \"t\"\ncommand = [\"a\"]\n":                                     "has no description",
		strings.Replace(base, `"t"`, `"read_file"`, 1) + "command = [\"a\"]\n":            "there is a tool read_file already",
		strings.Replace(base, `"t"`, `"command_x"`, 1) + "command = [\"a\"]\n":            "names of grants begin so",
		strings.Replace(base, `"t"`, `"a b"`, 1) + "command = [\"a\"]\n":                  "letters, digits",
		strings.Replace(base, `"d"`, `"\u001b[1m"`, 1) + "command = [\"a\"]\n":            "control characters",
		base + "command = [\"a\", \"{q\"]\n":                                              "begins no {parameter}",
		base + "command = [\"a\", \"q}\"]\n":                                              "without its {",
		base + "command = [\"a\", \"{p}\"]\n" + params:                                    "there is no such parameter; did you mean q?",
		base + "command = [\"{q}\"]\n" + params:                                           "the program itself is no parameter",
		base + "command = []\n":                                                           "empty",
		base + "command = [\"a\"]\nshell = true\n":                                        "there is no such setting",
		base + "command = [\"a\"]\ntimeout_secs = 301\n":                                  "must be from 1 to 300",
		base + "command = [\"a\"]\nparameters = 1\n":                                      "write [tool[0].parameters]",
		base + "command = [\"a\"]\nparameters = {properties = {q = {type = \"strnig\"}}}": "no type strnig",
		base + "command = [\"a\"]\n" + params + "[[tool.with]]\nq = \"x\"\n":              "q is a parameter, too",
		base + "command = [\"a\"]\n[[tool.with]]\na = \"x\"\n[[tool.with]]\na = \"y\"\n":  "is a tool of this file already",
		base + "command = [\"a\"]\n[[tool.with]]\na = 1\n":                                "a whole number, not a text",
	} {
		f := fileOf(text).parse(file{trusted: true, known: known}, nil)
		if len(f.problems) == 0 || !strings.Contains(f.problems[0].String(), want) {
			t.Errorf("%v, want %q, of\n%s", f.problems, want, text)
		}
	}
	// A file that is not understood adds nothing.
	c, _ := load(t, base+"command = [\"a\"]\n[reviwe]\n", "")
	if len(c.Tools) > 0 {
		t.Errorf("%+v", c.Tools)
	}
}

func fileOf(data string) text { return text{path: "f", data: []byte(data), stat: stat{exists: true}} }

// A workspace's tools wait for trust, and cannot take the place of the user's.
func TestWorkspaceToolWaits(t *testing.T) {
	const theirs = "[[tool]]\nname = \"t\"\ndescription = \"theirs\"\ncommand = [\"a\"]\n"
	c, problems := load(t, "", theirs)
	if len(c.Tools) > 0 || len(problems) != 1 || !problems[0].Waits || Broken(problems) || c.Files[1].Trust != TrustWaits {
		t.Errorf("%+v, %v", c.Tools, problems)
	}
}

// What others read by ranging over the names of a table is noted, too.
func TestShapeOfTablesWithNames(t *testing.T) {
	whole := newTable()
	f := file{}
	s := (&section{file: &f, doc: &document{}}).within("", whole)
	secrets := s.sub("secrets")
	for name := range secrets.table {
		one := secrets.sub(name)
		provider, _ := one.choice("provider", []string{"env", "file"})
		if _, there := one.get("file"); there && (provider == "" || provider == "file") {
			one.text("file")
		}
		one.done()
	}
	secrets.done()
	var keys []string
	whole.each("", func(key string, _ *shape) { keys = append(keys, key) })
	if want := []string{"secrets", "secrets.NAME", "secrets.NAME.provider", "secrets.NAME.file"}; !slices.Equal(keys, want) {
		t.Errorf("%v, want %v", keys, want)
	}
	if len(whole.scalars()) > 0 {
		t.Errorf("%v", whole.scalars())
	}
}
