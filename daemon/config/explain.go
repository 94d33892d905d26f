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

	"permission":                 "Which commands may run.",
	"permission.wait_secs":       "How many seconds a call waits for a person who is asked. In your own file alone.",
	"permission.rule":            "Rules about commands. Deny beats ask, ask beats allow, whatever the order.",
	"permission.rule[].effect":   "allow: the command runs (in your own file alone). ask: a person is asked. deny: it does not run.",
	"permission.rule[].name":     "What answers call the rule; each once in a file.",
	"permission.rule[].command":  "Patterns of the command's words, one for each: * is any text, ** alone and last any further words. Absent: every command.",
	"permission.rule[].tools":    "The tools that would run it.",
	"permission.rule[].sessions": "Patterns on the session's label.",

	"grants":                  "Programs that agents may call by themselves, without a shell, as command_NAME. In your own file alone.",
	"grants.NAME":             "One program, and with which arguments it may be called.",
	"grants.NAME.preset":      "A policy that is shipped: an allow list of sub-commands and options.",
	"grants.NAME.description": "What the agent is told; a preset has one.",
	"grants.NAME.path":        "Of the executable: absolute, outside of the workspace.",
	"grants.NAME.commands":    "Allowed sub-commands, by their words; of a preset, some of its own.",
	"grants.NAME.options":     "Allowed options: --name takes no value, --name=CLASS one, --name[=CLASS] an attached one or none. Not with a preset.",
	"grants.NAME.refuse":      "Options that are refused. Without a preset it is instead of options, and weaker.",
	"grants.NAME.operands":    "A class for the other arguments, or none. Not with a preset.",
	"grants.NAME.env":         "Variables for the program.",
	"grants.NAME.env.NAME":    "The value of a variable.",
	"grants.NAME.secrets":     "The names of secrets that it gets.",
	"grants.NAME.host":        "true: it runs on the host and on the files themselves, not in the session's sandbox, and asks by default.",

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
