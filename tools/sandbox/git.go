package sandbox

import (
	"strings"

	"github.com/loomd/loomd/diffpreview"
)

// isGit recognises ".git" in any spelling that a file system may take for it.
func isGit(name string) bool { return diffpreview.IsGit(name) }

// inGit reports whether a path is a .git or below one.
func inGit(rel string) bool {
	for part := range strings.SplitSeq(rel, "/") {
		if isGit(part) {
			return true
		}
	}
	return false
}

// isLock recognises the lock of a git that is at work in the tree just now: in the copy
// nobody would ever take it away.
func isLock(name string) bool { return strings.HasSuffix(name, ".lock") }

// gitEnv is what makes git fit for a copy. It finds no repository above the copy; it
// takes a file for unchanged by its size and mtime, since the copy has other inodes; it
// writes down nothing that it could do without, since .git is put back; it leaves no
// process behind that watches files.
func gitEnv(above string) []string {
	env := []string{"GIT_CEILING_DIRECTORIES=" + above, "GIT_OPTIONAL_LOCKS=0", "GIT_CONFIG_COUNT=3"}
	for i, kv := range [][2]string{{"core.checkStat", "minimal"}, {"core.trustctime", "false"}, {"core.fsmonitor", "false"}} {
		n := string(rune('0' + i))
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+kv[0], "GIT_CONFIG_VALUE_"+n+"="+kv[1])
	}
	return env
}
