package watch

import (
	"io/fs"
	"strings"
	"testing"
	"time"
)

// memoryIgnore returns the rules of a root whose files are given by path.
func memoryIgnore(files map[string]string, around Surroundings) *Ignore {
	return NewIgnore(IgnoreOptions{
		ReadFile: func(rel string) ([]byte, error) {
			if text, ok := files[rel]; ok {
				return []byte(text), nil
			}
			return nil, fs.ErrNotExist
		},
		Around: around,
	})
}

// FuzzIgnore: no bytes in an ignore file, a path or git's configuration make the
// rules panic or hang, and some laws hold for all of them.
func FuzzIgnore(f *testing.F) {
	for _, c := range patternCases {
		f.Add([]byte(c.files[".gitignore"]), "d/foo", false)
	}
	f.Add([]byte("[[:alpha:][:digit:]]**/\\"), "a/b", true)
	f.Add([]byte("[core]\n\texcludesFile = \"~/x\\\ny\" ; z\n[a \"b\\\"c\"]x=y"), "a", true)
	f.Fuzz(func(t *testing.T, rules []byte, name string, fold bool) {
		parseGitConfig(string(rules), func(_, _, _ string, _ bool) {})
		around := Surroundings{FoldCase: fold}
		ask := func(text string) bool {
			return memoryIgnore(map[string]string{".gitignore": text}, around).Path(name, false, nil)
		}
		got := ask(string(rules))
		if strings.HasPrefix(name, ".git/") || strings.Contains(name, "/.git/") {
			return
		}
		// A comment or an empty line behind the rules changes nothing.
		if more := ask(string(rules) + "\n#x\n\n"); more != got {
			t.Errorf("%q: %q ignored %v, with a comment behind %v", rules, name, got, more)
		}
		// Rules counted one level deeper answer the same one level deeper.
		deep := memoryIgnore(map[string]string{"deep/.gitignore": string(rules)}, around).Path("deep/"+name, false, nil)
		if deep != got && name != "" && !strings.HasPrefix(name, "/") && !strings.Contains(name, "..") && !strings.Contains(name, "./") && !strings.Contains(name, "//") && name != "." {
			t.Errorf("%q: %q ignored %v, one level deeper %v", rules, name, got, deep)
		}
	})
}

// TestIgnoreHostilePatterns: patterns made to make a backtracking matcher run
// for ever answer at once.
func TestIgnoreHostilePatterns(t *testing.T) {
	segment := strings.Repeat("a", 200)
	deep := strings.Repeat(segment+"/", 18) + segment
	for _, pattern := range []string{
		strings.Repeat("*a", 100) + "b",
		"/" + strings.Repeat("*a", 100) + "b",
		"**/" + strings.Repeat("*a*/", 15) + strings.Repeat("*a", 60) + "b",
		strings.Repeat("**/", 200) + "b",
		strings.Repeat("**/*a/", 100) + "b",
		strings.Repeat("[a-z]*", 100) + "b/**/c",
	} {
		start := time.Now()
		if memoryIgnore(top(strings.Repeat(pattern+"\n", 20)), Surroundings{}).Path(deep, false, nil) {
			t.Errorf("%.40q… matches", pattern)
		}
		// Far above what it takes (milliseconds), far below what backtracking would.
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%.40q…: %v", pattern, took)
		}
	}
}
