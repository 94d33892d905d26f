package daemon

import (
	"net/url"
	"path/filepath"
	"regexp"
	"strings"

	lsp "go.lsp.dev/protocol"
)

// driveForm is a URI's path that names a Windows drive.
var driveForm = regexp.MustCompile(`^/[A-Za-z]:(/|$)`)

// fileOf is the path that a file URI names, in the operating system's form.
// Editors spell the same file in several ways: escapes are decoded once, and
// drives are upper case.
func fileOf(u lsp.DocumentURI) (string, bool) {
	parsed, err := url.Parse(string(u))
	if err != nil || parsed.Scheme != "file" || parsed.Host != "" && parsed.Host != "localhost" {
		return "", false
	}
	path := parsed.Path
	if driveForm.MatchString(path) {
		path = strings.ToUpper(path[1:2]) + path[2:]
	}
	if path == "" || strings.IndexByte(path, 0) >= 0 {
		return "", false
	}
	return filepath.FromSlash(path), true
}
