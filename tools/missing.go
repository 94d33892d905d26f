package tools

import (
	"path"

	"github.com/loomd/loomd/diffpreview"
)

// maxScanned bounds the names of a directory that a missing file is compared
// with.
const maxScanned = 10_000

// missingHint says what a missing file could have been meant for: a name like it
// in its directory, or the part of its path that does not exist.
func missingHint(view *diffpreview.View, p diffpreview.Path) string {
	name := view.Name(p)
	dir := path.Dir(name)
	parent, err := view.Resolve(dir)
	if err != nil {
		return ""
	}
	entries, err := view.List(parent)
	switch diffpreview.CodeOf(err) {
	case "":
	case diffpreview.CodeFileNotFound:
		return "there is no directory " + dir
	default:
		return ""
	}
	var names []string
	for _, e := range entries[:min(len(entries), maxScanned)] {
		names = append(names, e.Name)
	}
	near := nearest(path.Base(name), names)
	for i := range near {
		near[i] = path.Join(dir, near[i])
	}
	if len(near) == 0 {
		return "list_files shows what is in " + dir
	}
	return asQuestion(near)
}
