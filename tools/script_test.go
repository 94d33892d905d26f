package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/loomd/loomd/diffpreview"
)

// TestScripts runs testdata/<tool>/*.txtar. An archive's comment says what it
// shows; its files are, with n counting the steps from 1:
//
//	workspace/f   a file of the workspace
//	n.outside/f   somebody writes the file on disk before step n
//	n.call        the tool's name on the first line, then its arguments
//	n.want        the structured result (go test -update writes it)
//	disk/f        the file after all that is proposed was accepted
//
// A name that ends in .q stands for the name without it, and its lines are Go
// strings that are joined: for bytes that an archive cannot hold.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.txtar")
	must(t, err)
	if len(files) == 0 {
		t.Fatal("no scripts")
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) { runScript(t, file, false) })
		if strings.HasPrefix(name, "glob/") || strings.HasPrefix(name, "grep/") || strings.HasPrefix(name, "list_files/") {
			t.Run(name+"_indexed", func(t *testing.T) { runScript(t, file, true) })
		}
	}
}

// generations count changes, of which an event can tell one more or less.
var generations = regexp.MustCompile(`"generation":\d+,`)

type script struct {
	t       *testing.T
	archive *txtar.Archive
	bench   *bench
}

func runScript(t *testing.T, file string, indexed bool) {
	archive, err := txtar.ParseFile(file)
	must(t, err)
	s := &script{t, archive, newBench(t, nil)}
	s.place("workspace/")
	if indexed {
		s.bench.withIndex()
	}
	for n := 1; s.member(fmt.Sprint(n, ".call")) != nil; n++ {
		s.place(fmt.Sprint(n, ".outside/"))
		s.step(n)
	}
	s.compareDisk()
	if *update {
		must(t, os.WriteFile(file, txtar.Format(archive), 0o644))
	}
}

func (s *script) member(name string) *txtar.File {
	for i := range s.archive.Files {
		if s.archive.Files[i].Name == name {
			return &s.archive.Files[i]
		}
	}
	return nil
}

// each calls do with the files below a prefix.
func (s *script) each(prefix string, do func(name, content string)) {
	for _, f := range s.archive.Files {
		name, ok := strings.CutPrefix(f.Name, prefix)
		if !ok {
			continue
		}
		content := string(f.Data)
		if quoted, ok := strings.CutSuffix(name, ".q"); ok {
			name, content = quoted, ""
			for _, line := range strings.Split(strings.TrimSpace(string(f.Data)), "\n") {
				text, err := strconv.Unquote(line)
				must(s.t, err)
				content += text
			}
		}
		do(name, content)
	}
}

func (s *script) place(prefix string) {
	s.each(prefix, func(name, content string) { place(s.t, s.bench.dir, map[string]string{name: content}) })
}

func (s *script) step(n int) {
	tool, args, _ := strings.Cut(string(s.member(fmt.Sprint(n, ".call")).Data), "\n")
	out, _ := s.bench.call(tool, strings.TrimSpace(args))
	var got bytes.Buffer
	must(s.t, json.Indent(&got, generations.ReplaceAll(out.Structured, nil), "", "  "))
	got.WriteByte('\n')
	name := fmt.Sprint(n, ".want")
	want := s.member(name)
	if *update {
		if want == nil {
			s.archive.Files = append(s.archive.Files, txtar.File{Name: name})
			want = s.member(name)
		}
		want.Data = got.Bytes()
	}
	if want == nil || !bytes.Equal(want.Data, got.Bytes()) {
		s.t.Errorf("step %d, %s: got\n%s", n, tool, got.Bytes())
	}
}

// compareDisk accepts all that is proposed, after seeing that none of it is on
// disk yet.
func (s *script) compareDisk() {
	if !strings.Contains(string(txtar.Format(s.archive)), "\n-- disk/") {
		return
	}
	s.each("workspace/", func(name, content string) {
		if s.member("1.outside/"+name) == nil && s.member("2.outside/"+name) == nil && s.bench.onDisk(name) != content {
			s.t.Errorf("%s changed before anything was accepted", name)
		}
	})
	sessions := s.bench.store.Sessions()
	_, err := s.bench.store.DecideSession(context.Background(), diffpreview.DecideSet{Session: sessions[0].ID, Accept: true, By: "tester"})
	must(s.t, err)
	s.each("disk/", func(name, content string) {
		if got := s.bench.onDisk(name); got != content {
			s.t.Errorf("%s on disk:\ngot  %q\nwant %q", name, got, content)
		}
	})
}
