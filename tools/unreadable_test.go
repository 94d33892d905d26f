package tools

import (
	"strings"
	"testing"
)

// Nothing a reviewer could not read becomes a proposal: one NUL character would
// turn the whole diff into "Binary files differ".
func TestNoBinaryProposals(t *testing.T) {
	b := newBench(t, map[string]string{"run.sh": "echo hi\n", "bin": "\x7fELF\x00\x01", "utf16": "\xff\xfea\x00\n\x00"})
	for _, c := range []struct {
		tool string
		args args
		code string
	}{
		{"edit_file", args{"path": "run.sh", "edits": []args{{"old_str": "hi", "new_str": "ho"}, {"old_str": "", "new_str": "#\x00\n"}}}, "not_text"},
		{"write_file", args{"path": "run.sh", "content": "a\x00b\n"}, "not_text"},
		{"write_file", args{"path": "new.sh", "content": "\x00"}, "not_text"},
		{"write_file", args{"path": "bin", "content": "text\n"}, "not_text"},
		{"edit_file", args{"path": "bin", "edits": []args{{"old_str": "", "new_str": "text\n"}}}, "not_text"},
		{"write_file", args{"path": "utf16", "content": "b\n"}, ""},
		// Behind the first 8000 bytes a NUL is a character like others, as for git.
		{"write_file", args{"path": "late", "content": strings.Repeat("a line\n", 2000) + "\x00\n"}, ""},
	} {
		if out, _ := b.call(c.tool, c.args); out.Code != c.code {
			t.Errorf("%s %.60v: code %q, want %q", c.tool, c.args, out.Code, c.code)
		}
	}
}
