//go:build unix

package diffpreview

import (
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
