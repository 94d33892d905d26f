package tools

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/watch/index"
)

// maxGlob bounds a glob in characters; the index bounds it in bytes, and how many
// patterns its braces may stand for.
const maxGlob = 4096

// checkGlob says what is wrong with a glob, which may begin with "!".
func checkGlob(field, glob string) error {
	_, err := index.CompileGlobs([]string{glob})
	var bad *index.GlobError
	if !errors.As(err, &bad) {
		return err
	}
	f := badArgument(field, "%s", bad.Reason)
	if bad.Offset >= 0 {
		f = badArgument(field, "at character %d, %s", 1+utf8.RuneCountInString(glob[:bad.Offset]), bad.Reason)
	}
	f.Hint = bad.Instead
	return f
}

// globFor is a glob that [checkGlob] has passed as the index matches it against the paths of one root:
// relative to the root and cleaned. ok is false when it speaks of another root.
func globFor(ws *diffpreview.Workspace, root diffpreview.Root, field, glob string) (pattern string, ok bool, err error) {
	pattern, ok, err = rootOf(ws, root, field, glob)
	if err != nil || !ok {
		return "", ok, err
	}
	if below, dir := strings.CutSuffix(pattern, "/"); dir {
		pattern = below + "/**"
	}
	anywhere := !strings.Contains(pattern, "/")
	pattern = cleanGlob(pattern)
	if slices.Contains(strings.Split(pattern, "/"), "..") {
		return "", false, outsideGlob(field, glob)
	}
	if !anywhere && !strings.Contains(pattern, "/") {
		pattern = "{,./}" + pattern // with a "/" it is not matched at any depth
	}
	return pattern, true, nil
}

// rootOf makes a glob relative to its root: an absolute one must begin with the
// root's path, and with several roots one may begin with a root's name.
func rootOf(ws *diffpreview.Workspace, root diffpreview.Root, field, glob string) (string, bool, error) {
	roots := ws.Roots()
	if strings.HasPrefix(glob, "/") || filepath.IsAbs(glob) {
		for _, r := range roots {
			if rest, ok := strings.CutPrefix(glob, filepath.ToSlash(r.Path)+"/"); ok {
				return anchored(rest), r == root, nil
			}
		}
		return "", false, outsideGlob(field, glob)
	}
	first, rest, below := strings.Cut(glob, "/")
	if len(roots) > 1 && below && slices.ContainsFunc(roots, func(r diffpreview.Root) bool { return r.Name == first }) {
		return anchored(rest), root.Name == first, nil
	}
	return glob, true, nil
}

// anchored keeps a pattern without "/" where it was said to be.
func anchored(pattern string) string {
	if strings.Contains(pattern, "/") {
		return pattern
	}
	return "./" + pattern
}

// cleanGlob takes empty and "." parts out.
func cleanGlob(pattern string) string {
	parts := strings.Split(pattern, "/")
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "." || part == "" }), "/")
}

func outsideGlob(field, glob string) *Failure {
	f := failf(diffpreview.CodePathOutsideWorkspace, "%s: %s: outside the workspace", field, short(glob))
	f.Hint = "write a pattern relative to the workspace's root, as in src/**/*.go"
	return f.with("field", field)
}
