//go:build unix

package diffpreview

import (
	"fmt"
	"io/fs"
	"os"
)

// scene is a tree and what is written to it.
type scene func(x *applyTree) []write

var scenes = map[string]scene{
	"everything": everything,
	"all kinds":  allKinds,
	"entangled":  entangled,
	"links":      linksOnly,
	"one move": func(x *applyTree) []write {
		x.put("d/f", "old\n", 0o640)
		return []write{x.move("d/f", "e/f/g", "old\n", "old\n")}
	},
	"one move with text": func(x *applyTree) []write {
		x.put("d/f", "old\n", 0o640)
		return []write{x.move("d/f", "e/f", "old\n", "new\n")}
	},
	"one move in place": func(x *applyTree) []write {
		x.put("d/f", "old\n", 0o640)
		x.hardLink("d/f", "twin")
		return []write{remode(x.move("d/f", "e/f", "old\n", "new and longer\n"), 0o640, 0o755)}
	},
	"one mode": func(x *applyTree) []write {
		x.put("f", "old\n", 0o640)
		return []write{remode(x.modify("f", "old\n", "old\n"), 0o640, 0o755)}
	},
	"one mode in place": func(x *applyTree) []write {
		x.put("f", "old\n", 0o640)
		x.hardLink("f", "twin")
		return []write{remode(x.modify("f", "old\n", "new and longer\n"), 0o640, 0o755)}
	},
	"file for directory": func(x *applyTree) []write {
		x.put("d/e/f", "old\n", 0o640)
		x.put("d/g", "old\n", 0o640)
		chmod(x, "d/e", 0o711)
		return []write{x.remove("d/e/f", "old\n"), x.move("d/g", "d", "old\n", "old\n")}
	},
	"undo of creates": func(x *applyTree) []write {
		x.put("d/e/f", "old\n", 0o640)
		x.put("d/g", "old\n", 0o640)
		f, g := x.remove("d/e/f", "old\n"), x.remove("d/g", "old\n")
		f.unmake = []Path{x.path("d/e"), x.path("d")}
		return []write{f, g}
	},
	"one exchange": func(x *applyTree) []write {
		x.put("f", "old\n", 0o640)
		return []write{x.modify("f", "old\n", "new\n")}
	},
	"one delete": func(x *applyTree) []write {
		x.put("d/f", "old\n", 0o640)
		return []write{x.remove("d/f", "old\n")}
	},
	"one create": func(x *applyTree) []write { return []write{x.create("d/e/f", "new\n", 0)} },
	"one in place": func(x *applyTree) []write {
		x.put("f", "old\n", 0o640)
		os.Link(x.abs("f"), x.abs("twin"))
		return []write{x.modify("f", "old\n", "a longer new text\n")}
	},
	"directory for file": func(x *applyTree) []write {
		x.put("a", "file\n", 0o640)
		return []write{x.remove("a", "file\n"), x.create("a/b/c", "below\n", 0)}
	},
	"many": func(x *applyTree) (writes []write) {
		for i := range syncOneByOne + 2 {
			name := fmt.Sprintf("d%d/f", i)
			x.put(name, "old\n", 0o640)
			writes = append(writes, x.modify(name, "old\n", "new\n"))
		}
		return writes
	},
}

func everything(x *applyTree) []write {
	x.put("a", "a\n", 0o600)
	x.put("d/b", "b\n", 0o755)
	x.put("gone", "g\n", 0o644)
	x.put("d/gone", "g\n", 0o644)
	x.put("grows", "short\n", 0o644)
	x.put("shrinks", "a longer text\n", 0o644)
	os.Link(x.abs("grows"), x.abs("grows-twin"))
	os.Link(x.abs("shrinks"), x.abs("shrinks-twin"))
	return []write{
		x.modify("a", "a\n", "A\n"), x.modify("d/b", "b\n", "B\n"), x.remove("gone", "g\n"), x.remove("d/gone", "g\n"),
		x.create("new/deep/n", "n\n", 0o600), x.create("new/m", "m\n", 0), x.create("e", "", 0),
		x.modify("grows", "short\n", "SHORT no more\n"), x.modify("shrinks", "a longer text\n", "A short one\n"),
	}
}

// allKinds has each kind of write that may be in one set, more than are synced
// one by one.
func allKinds(x *applyTree) []write {
	x.put("modified", "m\n", 0o600)
	x.put("deleted", "d\n", 0o644)
	x.put("moved", "old\n", 0o640)
	x.put("d/moved with text", "old\n", 0o640)
	x.put("d/moved linked", "a long old text\n", 0o640)
	x.hardLink("d/moved linked", "d/twin-of-moved")
	x.put("script", "s\n", 0o644)
	x.put("script with text", "s\n", 0o644)
	x.put("linked", "a long old text\n", 0o644)
	x.hardLink("linked", "twin")
	x.putLink("link", "a")
	x.putLink("no link", "a")
	x.put("to link", "text\n", 0o640)
	x.put("dir/a", "a\n", 0o644)
	x.put("dir/sub/b", "b\n", 0o644)
	chmod(x, "dir/sub", 0o711)
	x.put("made/f", "f\n", 0o644)
	undo := x.remove("made/f", "f\n")
	undo.unmake = []Path{x.path("made")}
	return []write{
		x.modify("modified", "m\n", "M\n"), x.remove("deleted", "d\n"), x.create("new/deep/n", "n\n", 0o600), undo,
		x.move("moved", "new/moved", "old\n", "old\n"), x.move("d/moved with text", "new/deep/t", "old\n", "new\n"),
		remode(x.move("d/moved linked", "l", "a long old text\n", "short\n"), 0o640, 0o750),
		remode(x.modify("script", "s\n", "s\n"), 0o644, 0o755), remode(x.modify("script with text", "s\n", "S\n"), 0o644, 0o755),
		remode(x.modify("linked", "a long old text\n", "a long new text, longer\n"), 0o644, 0o755),
		x.relink("link", linkTo("a"), "b"), x.unlink("no link", "a", file("f\n")), x.relink("to link", file("text\n"), "b"), x.relink("new/link", Content{}, "c"),
		x.remove("dir/a", "a\n"), x.move("dir/sub/b", "b", "b\n", "b\n"), x.create("dir", "a file now\n", 0o644),
	}
}

// entangled has moves that need one another's names.
func entangled(x *applyTree) []write {
	for _, name := range []string{"a", "b", "c1", "c2", "under", "into", "p/q"} {
		x.put(name, name+"\n", 0o644)
	}
	return []write{
		x.move("a", "b", "a\n", "a\n"), x.move("b", "a", "b\n", "b\n"), x.move("c1", "c2", "c1\n", "c1\n"), x.move("c2", "c3", "c2\n", "C2\n"),
		x.move("under", "under/it", "under\n", "under\n"), x.move("into", "out", "into\n", "into\n"), x.create("into/new", "n\n", 0), x.move("p/q", "p", "p/q\n", "p/q\n"),
	}
}

func linksOnly(x *applyTree) []write {
	for _, name := range []string{"retargeted", "deleted", "no link", "moved", "moved on"} {
		x.putLink(name, "a")
	}
	x.put("file", "f\n", 0o640)
	return []write{
		x.relink("retargeted", linkTo("a"), "b"), x.unlink("deleted", "a", Content{}), x.unlink("no link", "a", file("a")),
		x.relink("file", file("f\n"), "f\n"), x.relink("d/new", Content{}, "c"),
		{path: x.path("d/moved"), from: x.path("moved"), base: linkTo("a"), want: linkTo("a")},
		{path: x.path("d/on"), from: x.path("moved on"), base: linkTo("a"), want: linkTo("b")},
	}
}

func chmod(x *applyTree, name string, mode fs.FileMode) {
	x.Helper()
	if err := os.Chmod(x.abs(name), mode); err != nil {
		x.Fatal(err)
	}
}
