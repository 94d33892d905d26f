package diffpreview

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// What a file has besides its text comes along, whether the file itself moves
// or a new one is made like it.
func TestApplyMoveKeepsAttributes(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	for _, name := range []string{"pure", "text", "linked"} {
		x.put(name, "w\n", 0o640)
		x.chown(name, 1000, 1001)
		if err := unix.Setxattr(x.abs(name), "user.k", []byte("v"), 0); err != nil {
			t.Skipf("no extended attributes here: %v", err)
		}
	}
	x.hardLink("linked", "twin")
	x.mustApply(x.move("pure", "d/pure", "w\n", "w\n"), x.move("text", "d/text", "w\n", "W\n"), x.move("linked", "d/linked", "w\n", "W\n"))
	x.wantMethods("delete move move create inplace")
	for _, name := range []string{"d/pure", "d/text", "d/linked"} {
		x.wantOwner(name, 1000, 1001)
		value := make([]byte, 10)
		if n, err := unix.Getxattr(x.abs(name), "user.k", value); err != nil || string(value[:n]) != "v" || x.mode(name) != 0o640 {
			t.Errorf("user.k of %s is %q (%v), the mode %v", name, value[:max(n, 0)], err, x.mode(name))
		}
	}
	x.want("twin", "W\n")
}

func TestApplyLinkKeepsOwner(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	x.putLink("link", "a")
	x.putLink("moves", "a")
	x.chown("link", 1000, 1001)
	x.chown("moves", 1000, 1001)
	x.mustApply(
		x.relink("link", linkTo("a"), "b"),
		write{path: x.path("moved"), from: x.path("moves"), base: linkTo("a"), want: linkTo("b")},
	)
	x.wantOwner("link", 1000, 1001)
	x.wantOwner("moved", 1000, 1001)
}

// A user who may write a file but not own one like it moves it in place; who may
// not write its directory does not move it.
func TestApplyMoveByAnother(t *testing.T) {
	x := newApplyTree(t, t.TempDir())
	x.put("open/f", "w\n", 0o666)
	x.put("open/read-only", "r\n", 0o644)
	x.put("closed/f", "w\n", 0o666)
	x.put("mode", "m\n", 0o666)
	os.Chmod(x.dir, 0o777)
	os.Chmod(x.abs("open"), 0o777)
	inode := x.inode("open/f")
	asNobody(t, func() {
		ok := x.move("open/f", "g", "w\n", "w\n")
		x.mustFail(CodePermissionDenied, "closed/f", ok, x.move("closed/f", "h", "w\n", "w\n"))
		x.mustFail(CodePermissionDenied, "closed/g", x.move("open/f", "closed/g", "w\n", "w\n"))
		x.mustFail(CodePermissionDenied, "mode", ok, remode(x.modify("mode", "m\n", "m\n"), 0o666, 0o777))
		x.mustFail(CodePermissionDenied, "mode", ok, remode(x.modify("mode", "m\n", "M\n"), 0o666, 0o777))
		x.mustFail(CodePermissionDenied, "open/read-only", ok, x.move("open/read-only", "h", "r\n", "R\n"))
		x.mustFail(CodePermissionDenied, "closed/link", ok, x.relink("closed/link", Content{}, "a"))
		x.mustApply(x.move("open/f", "g", "w\n", "W, and more\n"), x.move("open/read-only", "h", "r\n", "r\n"))
	})
	x.wantMethods("move move inplace")
	x.want("g", "W, and more\n")
	x.wantOwner("g", 0, 0)
	if x.inode("g") != inode {
		t.Error("the file is another one")
	}
	x.noTemps()
}

// Intents that a program before this one wrote end as they did.
func TestRecoverOldIntent(t *testing.T) {
	x := newApplyTree(t, memoryDir(t))
	x.put(".loomd-00.tmp", "old\n", 0o644) // what was displaced
	x.put("f", "new\n", 0o644)
	x.put(".loomd-01.tmp", "gone\n", 0o644)
	text := strings.NewReplacer("ROOT", x.dir, "OLD", file("old\n").Hash(), "NEW", file("new\n").Hash(), "GONE", file("gone\n").Hash()).Replace(
		`{"phase":"commit","files":[
			{"root":"ROOT","rel":"gone","method":"delete","temp":".loomd-01.tmp","base":"GONE","baseLen":5,"wantLen":0},
			{"root":"ROOT","rel":"f","method":"exchange","temp":".loomd-00.tmp","base":"OLD","want":"NEW","baseLen":4,"wantLen":4,"inode":7},
			{"root":"ROOT","rel":"d/n","method":"create","temp":".loomd-02.tmp","want":"NEW","baseLen":0,"wantLen":4,"inode":8}],
			"made":[{"root":"ROOT","rel":"d"}]}`)
	var in intent
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		t.Fatal(err)
	}
	if applied, err := x.w.recover(in, nil); applied || err != nil {
		t.Errorf("recover: %v, %v", applied, err)
	}
	x.want("f", "old\n")
	x.want("gone", "gone\n")
	x.noTemps()
}
