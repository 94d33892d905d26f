//go:build unix

package diffpreview

import (
	"errors"
	"io/fs"
	"os"
	"testing"
)

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

// A person changes the permissions while a write does the same. Theirs are there
// in the end.
func TestApplyLosesNoChmod(t *testing.T) {
	const theirs = 0o600
	for _, kind := range []string{"exchange", "inplace", "mode", "mode in place", "delete"} {
		for fsName, lacks := range without {
			t.Run(kind+"/"+fsName, func(t *testing.T) {
				for at, more := 1, true; more; at++ {
					more = chmodAt(t, at, lacks, kind, theirs)
				}
			})
		}
	}
}

func chmodAt(t *testing.T, at int, lacks lacks, kind string, theirs fs.FileMode) bool {
	t.Helper()
	x := newApplyTree(t, memoryDir(t))
	wr := kinds[kind].prepare(x)
	if kind == "exchange" {
		wr = remode(wr, 0o644, 0o755)
	}
	n, where, did := 0, "", false
	x.w.step = func(stage string) {
		if n++; n == at {
			where = stage
			did = os.Chmod(x.abs("f"), theirs) == nil
		}
	}
	err := x.run(lacks, x.create("a", "a\n", 0), wr)
	if did && (wr.want.Exists || err != nil) && x.mode("f") != theirs {
		t.Errorf("at %q: the mode is %v, want %v; apply said %v", where, x.mode("f"), theirs, err)
	}
	if err != nil && CodeOf(err) != CodeStale {
		t.Errorf("at %q: %v", where, err)
	}
	x.noTemps()
	return n >= at
}

// A file that somebody puts in the place of one with a new mode keeps the mode
// that it has, when the write is taken back.
func TestApplyModeOfNewcomerStays(t *testing.T) {
	x := newApplyTree(t, memoryDir(t))
	x.put("f", "f\n", 0o644)
	x.put("z", "z\n", 0o644)
	x.hardLink("z", "twin")
	x.w.step = func(stage string) {
		if stage == "placed" {
			savesByRename(x.abs("f"))
			os.Chmod(x.abs("f"), 0o755)
			saves(x.abs("z"))
			x.w.step = func(string) {}
		}
	}
	err := x.apply(remode(x.modify("f", "f\n", "f\n"), 0o644, 0o755), x.modify("z", "z\n", "Z\n"))
	if CodeOf(err) != CodeStale || x.mode("f") != 0o755 {
		t.Errorf("the mode is %v; apply said %v", x.mode("f"), err)
	}
	x.want("f", "typed and renamed\n")
}

// After a move one person saves the file under its new name, and another makes a
// file of the old name; then the write is taken back. Both texts stay.
func TestApplyMoveBetweenTwoPeople(t *testing.T) {
	for _, move := range []func(x *applyTree) write{
		func(x *applyTree) write { return x.move("f", "to", "f\n", "f\n") },
		func(x *applyTree) write { return x.move("f", "d/to", "f\n", "f\n") },
	} {
		x := newApplyTree(t, memoryDir(t))
		x.put("f", "f\n", 0o644)
		x.put("z", "z\n", 0o644)
		x.hardLink("z", "twin")
		wr := move(x)
		x.w.step = func(stage string) {
			if stage == "placed" {
				saves(x.abs(wr.path.rel))
				savesByRename(x.abs("f"))
				saves(x.abs("z"))
				x.w.step = func(string) {}
			}
		}
		if err := x.apply(wr, x.modify("z", "z\n", "Z\n")); CodeOf(err) != CodeStale || errors.Is(err, errHalfDone) {
			t.Errorf("apply said %v", err)
		}
		x.want(wr.path.rel, "typed by a person\n")
		x.want("f", "typed and renamed\n")
		x.noTemps()
	}
}
