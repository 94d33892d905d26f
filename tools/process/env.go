package process

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// passed are the variables that a command gets as the daemon has them, beside those
// that begin with LC_.
var passed = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR"}

// passedWindows are those without which little runs on Windows, in addition.
var passedWindows = []string{
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "USERNAME", "APPDATA", "LOCALAPPDATA",
	"PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432", "HOMEDRIVE", "HOMEPATH", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE",
}

// set are the variables of every command: nothing waits for somebody at a terminal.
var set = []string{
	"TERM=dumb", "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0",
	"EDITOR=false", "VISUAL=false", "GIT_EDITOR=false", "GIT_SEQUENCE_EDITOR=false",
}

const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Environment is that of a command: what is allowed of from (as [os.Environ] has it),
// what every command has, and added. Of a name that is there twice the last one
// counts, and there is no other; the result is sorted.
func Environment(from []string, added ...string) []string {
	env := map[string]string{}
	if runtime.GOOS != "windows" {
		env["PATH"] = "PATH=" + defaultPath
	}
	for _, v := range from {
		if name := nameOf(v); isPassed(name) && v != name+"=" {
			env[name] = v
		}
	}
	for _, v := range slices.Concat(set, added) {
		env[nameOf(v)] = v
	}
	var out []string
	for _, v := range env {
		if !hasNUL(v) {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}

// Find is the absolute path of the executable that a name means to a command with
// this environment, "" for none. Directories of PATH that are relative are passed over.
func Find(name string, env []string) string {
	for _, v := range env {
		if nameOf(v) != "PATH" {
			continue
		}
		for _, dir := range filepath.SplitList(v[len("PATH="):]) {
			if !filepath.IsAbs(dir) {
				continue
			}
			if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
				return path
			}
		}
	}
	return ""
}

func nameOf(variable string) string {
	name, _, _ := strings.Cut(variable, "=")
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

func isPassed(name string) bool {
	return slices.Contains(passed, name) || strings.HasPrefix(name, "LC_") ||
		runtime.GOOS == "windows" && slices.Contains(passedWindows, name)
}

func hasNUL(s string) bool { return strings.IndexByte(s, 0) >= 0 }
