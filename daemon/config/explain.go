package config

// explanations are what an editor shows of a key, in one or two sentences. A key of
// a [[table]] has [] after the table's, one of a table that has a name of its own
// has NAME. Every key that the reader asks for has one: the schema's test says
// which do not.
var explanations = map[string]string{
	"review":               "How what agents propose is reviewed.",
	"review.mode":          "The laxest mode that a session gets, and the one it gets when it asks for none. auto: what no rule holds is accepted at once; staged (default): what no rule accepts waits; blocking: as staged, and the call answers when its change is decided.",
	"review.wait_secs":     "In mode blocking: how many seconds a call waits for the decision (default 30). In your own file alone.",
	"review.hold_defaults": "Whether the built-in holds are on (default true). In your own file alone.",

	"review.rule":             "Rules decide in your place. Hold beats accept, whatever the order.",
	"review.rule[].effect":    "accept: what the rule fits is written at once (in your own file alone). hold: no rule accepts it.",
	"review.rule[].name":      "What results and the history call the rule; each once in a file.",
	"review.rule[].paths":     "Patterns of doublestar on the path, relative to the root. One without / matches at any depth.",
	"review.rule[].kinds":     "The kinds of change that fit.",
	"review.rule[].min_lines": "Of a hold: at least so many lines added and removed, together.",
	"review.rule[].max_lines": "Of an accept: at most so many lines added and removed, together.",
	"review.rule[].max_bytes": "Of an accept: at most so many bytes, old and new text together.",
	"review.rule[].sessions":  "Patterns on the session's label.",
	"review.rule[].tools":     "The tools that made the steps.",

	"index":        "The index of files.",
	"index.memory": "How much text the index keeps in memory, as \"512MiB\" (default: a quarter of the machine's, at most 2 GiB). From the daemon's next start, in your own file alone.",

	"log":        "What the daemon logs. From its next start, in your own file alone.",
	"log.level":  "The least grave messages that are logged (default info: a line for each call, without content).",
	"log.format": "How a line is written (default text).",

	"tool":                "Tools of your own: commands that agents run by a name, in the session's sandbox, without a shell. In a workspace's file they count when you trust the file.",
	"tool[].name":         "What agents call it; {option} of [[tool.with]] is put in.",
	"tool[].description":  "What the model is told of it; {option} is put in.",
	"tool[].command":      "The program and its arguments. {parameter} is what the call gives, {{ is a brace. An argument with a parameter that is not given is left out; {list} alone is as many arguments as the list has.",
	"tool[].parameters":   "The JSON schema of the arguments (default: none). Unless it says otherwise it is of an object without other properties.",
	"tool[].cwd":          "The folder to start in, relative to the workspace's root (default: the root).",
	"tool[].timeout_secs": "How long a call may take, in seconds (default 60).",
	"tool[].read_only":    "Tells models that it changes nothing; nothing is changed by that (default false).",
	"tool[].with":         "The tool as often as there are these tables, each with its options in the place of {option}.",
	"tool[].with[].NAME":  "The value of an option.",

	"toolsets":            "Toolsets of your own: a session that asks for one has these tools and no others.",
	"toolsets.NAME":       "One toolset. In a workspace's file it counts when you trust the file.",
	"toolsets.NAME.tools": "The names of its tools.",
}
