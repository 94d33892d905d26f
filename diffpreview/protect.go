package diffpreview

import (
	"strings"
	"unicode"
)

// protect refuses the places that no tool writes: git's directory, because
// what lies there runs, and the workspace's own configuration of loomd.
func protect(name string, p Path) error {
	parts := strings.Split(p.rel, "/")
	for i, part := range parts {
		if isGit(part) {
			return &Error{Code: CodeProtectedPath, Path: name, Message: "git's own files are not edited"}
		}
		if i == 1 && len(parts) == 2 && plainName(parts[0]) == ".loom" && plainName(part) == "config.toml" {
			return &Error{Code: CodeProtectedPath, Path: name, Message: "loomd's configuration is not edited by a tool"}
		}
	}
	return nil
}

// Protected fails with protected_path where no tool writes.
func (w *Workspace) Protected(p Path) error { return protect(w.Name(p), p) }

// IsGit reports whether a name is ".git" as some file system may spell it.
func IsGit(name string) bool { return isGit(name) }

// isGit recognises ".git" as the file systems of the three platforms may spell
// it: in any case, with trailing dots and spaces or a stream name (NTFS), by
// its short name (git~1), with ignorable characters in it (HFS+).
func isGit(part string) bool {
	name := plainName(part)
	return name == ".git" || name == "git~1"
}

func plainName(part string) string {
	part, _, _ = strings.Cut(part, ":")
	part = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, part)
	return strings.TrimRight(part, ". ")
}
