package sandbox

import (
	"context"
	"path"
	"slices"
	"strings"
)

// sweep removes from the copy what the view does not have any more.
func (b *bringing) sweep(ctx context.Context) error {
	var gone []string
	for rel, rec := range b.records {
		if _, over := b.over[rel]; !over && rec.seen != b.run {
			gone = append(gone, rel)
		}
	}
	slices.SortFunc(gone, func(x, y string) int { return strings.Compare(y, x) }) // what is below comes first
	for _, rel := range gone {
		if err := ctx.Err(); err != nil {
			return err
		}
		rec := b.records[rel]
		b.noteRules(rel)
		if rec.left && !rec.reset && rec.copy.kind != none {
			continue
		}
		removed, err := b.remove(rel, rec)
		if b.raced(err) {
			continue
		}
		if err != nil {
			return b.fail("removing", rel, err)
		}
		if removed {
			b.pack.drop(rec.body)
			delete(b.records, rel)
		}
	}
	return nil
}

// remove takes what is at a path out of the copy, unless a command has a hand on it or,
// of a directory, something is left in it.
func (b *bringing) remove(rel string, rec *record) (bool, error) {
	if rec.copy.kind == none || !b.inFolders(rel) {
		return true, nil
	}
	info, err := b.copy.Lstat(rel)
	switch {
	case gone(err):
		return b.alone, nil
	case err != nil:
		return false, err
	case !b.alone && (rec.reset || !rec.copy.same(stampOf(info, b.at))):
		return false, nil
	case rec.copy.kind != dir:
		err = removeAll(b.copy, rel)
	default:
		if err = b.copy.Remove(rel); err != nil {
			rec.tree = stamp{}
			return false, nil // something of the session's is in it
		}
	}
	if err == nil {
		b.touchAbove(rel)
	}
	return err == nil, err
}

// inFolders reports whether all above a path are directories in the copy, as far as is
// known. Else the path went with one of them, and what a link leads to is another.
func (b *bringing) inFolders(rel string) bool {
	for at := path.Dir(rel); at != "."; at = path.Dir(at) {
		if rec := b.records[at]; rec == nil || rec.copy.kind != dir {
			return false
		}
	}
	return true
}

// touchAbove gives the directory that an entry was changed in the tree's mtime.
func (b *bringing) touchAbove(rel string) {
	above := path.Dir(rel)
	if _, known := b.touched[above]; known || above == "." {
		return
	}
	if info, err := b.tree.Lstat(above); err == nil && info.IsDir() {
		b.touched[above] = info.ModTime().UnixNano()
	}
}
