//go:build unix

package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/loomd/loomd/diffpreview"
)

// cell is one combination of the byte matrix.
type cell struct {
	number  int
	ends    string
	final   bool
	bom     bool
	charset charset
	file    string // what kind of file it is
	act     string // what the reviewer does
}

const (
	readOnly    = "0444"
	linked      = "link"
	hardLinked  = "hard link"
	unwritable  = "unwritable directory"
	acceptAll   = "accept"
	acceptOne   = "one hunk"
	rejectAll   = "reject"
	acceptUndo  = "undo"
	matrixCells = 4 * 2 * 2 * 7 * 7 * 4
)

func (c cell) String() string {
	return fmt.Sprintf("%d: %s final=%t bom=%t %s %s %s", c.number, c.ends, c.final, c.bom, c.charset.name, c.file, c.act)
}

func allCells() []cell {
	var out []cell
	for _, ends := range []string{"lf", "crlf", "cr", "mixed"} {
		for _, final := range []bool{true, false} {
			for _, bom := range []bool{true, false} {
				for _, charset := range charsets {
					for _, file := range []string{"0644", "0755", "0600", readOnly, linked, hardLinked, unwritable} {
						for _, act := range []string{acceptAll, acceptOne, rejectAll, acceptUndo} {
							out = append(out, cell{len(out), ends, final, bom, charset, file, act})
						}
					}
				}
			}
		}
	}
	return out
}

// restOfMatrix is set in the process that does what root cannot.
const restOfMatrix = "LOOMD_TEST_REST_OF_MATRIX"

// Every form of a text file, on every kind of file, under every decision: bytes
// outside accepted hunks are the same, the accepted ones those that the line
// lists of the test say, mode, owner, links are kept, nothing is left behind;
// or the call is refused with the code that the rules name ([cell.form],
// [cell.run]). Root is refused nothing, so read-only files and directories are
// tried as nobody; root tries the others with files of somebody else.
func TestByteMatrix(t *testing.T) {
	cells := allCells()
	rest := func(c cell) bool { return c.file == readOnly || c.file == unwritable }
	asRest := os.Getenv(restOfMatrix) != ""
	byNobody, want := 0, matrixCells
	switch {
	case asRest:
		want = matrixCells * 2 / 7
		cells = slices.DeleteFunc(cells, func(c cell) bool { return !rest(c) })
	case os.Geteuid() == 0:
		said := runAsNobody(t, restOfMatrix+"=1")
		m := regexp.MustCompile(`byte matrix: (\d+) cells`).FindStringSubmatch(said)
		if m == nil {
			t.Fatalf("nobody did not count:\n%s", said)
		}
		byNobody, _ = strconv.Atoi(m[1])
		cells = slices.DeleteFunc(cells, rest)
	}
	done, refused := runCells(t, cells)
	t.Logf("byte matrix: %d cells, %d as nobody; of %d here %d had no edit that is allowed", done+byNobody, byNobody, done, refused)
	if done+byNobody != want {
		t.Errorf("%d cells, want %d", done+byNobody, want)
	}
}

// matrixBench is a workspace for many cells. It lies in memory where it can, since
// a cell syncs a dozen times.
func matrixBench(t *testing.T) *bench {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "loomd")
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	tree := filepath.Join(dir, "tree")
	must(t, os.Mkdir(tree, 0o755))
	ws, err := diffpreview.OpenWorkspace([]string{tree})
	must(t, err)
	store, err := diffpreview.Open(ws, diffpreview.Options{Dir: filepath.Join(dir, "state")})
	must(t, err)
	t.Cleanup(func() {
		must(t, store.Close())
		must(t, ws.Close())
	})
	registry, err := Builtin()
	must(t, err)
	b := &bench{t: t, dir: tree, store: store, registry: registry}
	b.view = b.session("agent")
	return b
}

// cellsOfBench is how many cells share a workspace. Every call looks through the
// proposals of all those before it.
const cellsOfBench = 448

func runCells(t *testing.T, cells []cell) (done, refused int) {
	t.Helper()
	for some := range slices.Chunk(cells, cellsOfBench) {
		b := matrixBench(t)
		for _, c := range some {
			s := &setting{cell: c, t: t, b: b, dir: fmt.Sprint("c", c.number), form: c.form(t)}
			s.lay()
			if !s.run() {
				refused++
			}
			s.clear()
			done++
			if t.Failed() {
				t.Fatalf("in cell %s", c)
			}
		}
	}
	return done, refused
}

// setting is a cell in its directory.
type setting struct {
	cell
	t    *testing.T
	b    *bench
	dir  string // in the workspace
	form form
	seen map[string]look // as it was laid
}

// look is all that is kept of a name besides bytes.
type look struct {
	mode       os.FileMode
	uid, gid   uint32
	inode      uint64
	links      uint64
	target     string
	modifiedNs int64
}

func (s *setting) at(name string) string { return filepath.Join(s.b.dir, s.dir, name) }

// asked is the name that the agent uses.
func (s *setting) asked() string {
	if s.file == linked {
		return s.dir + "/alias"
	}
	return s.dir + "/file"
}

func (s *setting) lay() {
	s.t.Helper()
	must(s.t, os.Mkdir(s.at("."), 0o755))
	must(s.t, os.WriteFile(s.at("file"), s.form.before(), 0o600))
	mode := os.FileMode(0o644)
	if m, err := strconv.ParseUint(s.file, 8, 32); err == nil {
		mode = os.FileMode(m)
	}
	switch s.file {
	case linked:
		must(s.t, os.Symlink("file", s.at("alias")))
	case hardLinked:
		must(s.t, os.Link(s.at("file"), s.at("twin")))
	}
	if os.Geteuid() == 0 {
		must(s.t, os.Chown(s.at("file"), 4711, 4712))
	}
	must(s.t, os.Chmod(s.at("file"), mode))
	if s.file == unwritable {
		must(s.t, os.Chmod(s.at("."), 0o555))
	}
	s.seen = s.look()
}

// look is every name in the cell's directory.
func (s *setting) look() map[string]look {
	s.t.Helper()
	out := map[string]look{}
	entries, err := os.ReadDir(s.at("."))
	must(s.t, err)
	for _, e := range append(entries, nil) {
		name := "."
		if e != nil {
			name = e.Name()
		}
		info, err := os.Lstat(s.at(name))
		must(s.t, err)
		st := info.Sys().(*syscall.Stat_t)
		l := look{mode: info.Mode(), uid: st.Uid, gid: st.Gid, inode: st.Ino, modifiedNs: info.ModTime().UnixNano()}
		if name != "." {
			l.links = uint64(st.Nlink) //nolint:unconvert // uint16 on darwin
		}
		if info.Mode()&os.ModeSymlink != 0 {
			l.target, err = os.Readlink(s.at(name))
			must(s.t, err)
		}
		out[name] = l
	}
	return out
}

// want compares the directory with how it was laid, and the bytes with these.
// What was written in place, or not at all, is the same file.
func (s *setting) want(when string, data []byte, written bool) {
	s.t.Helper()
	now := s.look()
	was := maps.Clone(s.seen)
	for name, l := range was {
		n, ok := now[name]
		if written {
			l.modifiedNs = n.modifiedNs
		}
		if written && name == "file" && s.file != hardLinked && s.file != unwritable {
			l.inode = n.inode
		}
		if !ok || n != l {
			s.t.Errorf("%s: %s is %+v, want %+v", when, name, n, l)
		}
	}
	if len(now) != len(was) {
		s.t.Errorf("%s: there is %v, want %v", when, slices.Sorted(maps.Keys(now)), slices.Sorted(maps.Keys(was)))
	}
	for _, name := range []string{"file", "twin", "alias"} {
		if _, ok := was[name]; !ok {
			continue
		}
		if got, err := os.ReadFile(s.at(name)); err != nil || !bytes.Equal(got, data) {
			s.t.Errorf("%s: %s holds %q (%v), want %q", when, name, got, err, data)
		}
	}
}

func (s *setting) clear() {
	must(s.t, os.Chmod(s.at("."), 0o755))
	must(s.t, os.RemoveAll(s.at(".")))
}

// edit calls edit_file and wants this code.
func (s *setting) edit(p probe, code diffpreview.Code) {
	s.t.Helper()
	raw, err := encode(args{"path": s.asked(), "edits": edits(p.old, p.new)})
	must(s.t, err)
	out, err := s.b.registry.Run(context.Background(), "edit_file", "call", json.RawMessage(raw), Context{View: s.b.view})
	must(s.t, err)
	if out.Code != string(code) {
		s.t.Errorf("edit of %q: %s, want code %q", p.old, out.Structured, code)
	}
	if out.IsError {
		return
	}
	var a answer
	must(s.t, json.Unmarshal(out.Structured, &a))
	via, _ := a["via"].(string)
	if a["path"] != s.dir+"/file" || (via != "") != (s.file == linked) || via != "" && via != s.asked() {
		s.t.Errorf("edit of %q: path %v via %q", p.old, a["path"], via)
	}
}
