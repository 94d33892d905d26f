//go:build unix

package diffpreview

// raced is a write that is raced for, of the file f.
type raced struct {
	prepare func(x *applyTree) write
	from    string // where the file comes from, when f is its new name
}

var kinds = map[string]raced{
	"exchange": {prepare: func(x *applyTree) write {
		x.put("f", "base\n", 0o644)
		return x.modify("f", "base\n", "accepted\n")
	}},
	"inplace": {prepare: func(x *applyTree) write {
		x.put("f", "base\n", 0o644)
		x.hardLink("f", "twin")
		return x.modify("f", "base\n", "accepted\n")
	}},
	"create": {prepare: func(x *applyTree) write { return x.create("f", "accepted\n", 0) }},
	"delete": {prepare: func(x *applyTree) write {
		x.put("f", "base\n", 0o644)
		return x.remove("f", "base\n")
	}},
	"mode": {prepare: func(x *applyTree) write {
		x.put("f", "base\n", 0o644)
		return remode(x.modify("f", "base\n", "base\n"), 0o644, 0o755)
	}},
	"mode in place": {prepare: func(x *applyTree) write {
		x.put("f", "base\n", 0o644)
		x.hardLink("f", "twin")
		return remode(x.modify("f", "base\n", "accepted\n"), 0o644, 0o755)
	}},
	"move away": {prepare: func(x *applyTree) write {
		x.put("f", "base\n", 0o644)
		return x.move("f", "moved/to", "base\n", "base\n")
	}},
	"move away with text": {prepare: func(x *applyTree) write {
		x.put("f", "base\n", 0o644)
		return x.move("f", "moved/to", "base\n", "accepted\n")
	}},
	"move away in place": {prepare: func(x *applyTree) write {
		x.put("f", "base\n", 0o644)
		x.hardLink("f", "twin")
		return x.move("f", "moved/to", "base\n", "accepted\n")
	}},
	"move below itself": {prepare: func(x *applyTree) write {
		x.put("f", "base\n", 0o644)
		return x.move("f", "f/to", "base\n", "base\n")
	}},
	"move here": {from: "from", prepare: func(x *applyTree) write {
		x.put("from", "base\n", 0o644)
		return x.move("from", "f", "base\n", "base\n")
	}},
	"move here with text": {from: "from", prepare: func(x *applyTree) write {
		x.put("from", "base\n", 0o644)
		return x.move("from", "f", "base\n", "accepted\n")
	}},
	"move here in place": {from: "from", prepare: func(x *applyTree) write {
		x.put("from", "base\n", 0o644)
		x.hardLink("from", "twin")
		return x.move("from", "f", "base\n", "accepted\n")
	}},
	"link": {prepare: func(x *applyTree) write { // nobody can save through it
		x.putLink("f", "no/such")
		return x.relink("f", linkTo("no/such"), "no/where")
	}},
	"new link": {prepare: func(x *applyTree) write { return x.relink("f", Content{}, "no/where") }},
	"no link": {prepare: func(x *applyTree) write {
		x.putLink("f", "no/such")
		return x.unlink("f", "no/such", Content{})
	}},
	"file to link": {prepare: func(x *applyTree) write {
		x.put("f", "base\n", 0o644)
		return x.relink("f", file("base\n"), "no/where")
	}},
	"link to file": {prepare: func(x *applyTree) write {
		x.putLink("f", "no/such")
		return x.unlink("f", "no/such", file("accepted\n"))
	}},
}
