package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/loomd/loomd/daemon"
	"github.com/loomd/loomd/daemon/client"
	"github.com/loomd/loomd/daemon/protocol"
)

// office is a daemon in this process, on a folder of its own, with an agent and a
// reviewer.
type office struct {
	t        *testing.T
	root     string
	agent    *client.Client
	reviewer *client.Client
}

func newOffice(t *testing.T, files map[string]string) *office {
	t.Helper()
	o := &office{t: t, root: t.TempDir()}
	for name, text := range files {
		o.save(name, text)
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	server, err := daemon.New(daemon.Options{Roots: []string{o.root}, Socket: filepath.Join(t.TempDir(), "s")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() {
		cancel()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	join := func(who client.Identity) *client.Client {
		ours, theirs := net.Pipe()
		served := make(chan error, 1)
		go func() { served <- server.ServeConn(ctx, theirs) }()
		c, err := client.New(ctx, ours, who, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			c.Close()
			<-served
		})
		return c
	}
	o.agent = join(client.Identity{Name: "agent", Role: protocol.RoleAgent, Session: &protocol.SessionOptions{Label: "agent"}})
	o.reviewer = join(client.Identity{Name: "ada", Role: protocol.RoleReviewer})
	return o
}

func (o *office) save(name, text string) {
	o.t.Helper()
	if err := os.WriteFile(filepath.Join(o.root, name), []byte(text), 0o600); err != nil {
		o.t.Fatal(err)
	}
}

// write has the agent propose a text, having read what there is.
func (o *office) write(name, text string) {
	o.t.Helper()
	o.agent.CallTool(context.Background(), protocol.ToolsCallParams{Name: "read_file", Arguments: json.RawMessage(fmt.Sprintf(`{"path":%q}`, name))})
	args, err := json.Marshal(map[string]string{"path": name, "content": text})
	if err != nil {
		o.t.Fatal(err)
	}
	res, err := o.agent.CallTool(context.Background(), protocol.ToolsCallParams{Name: "write_file", Arguments: args})
	if err != nil || res.IsError {
		o.t.Fatalf("write_file: %v %s", err, res.StructuredContent)
	}
}

// walk goes through the hunks with these keys typed.
func (o *office) walk(keys ...string) *script {
	o.t.Helper()
	s := &script{t: o.t, input: keys, wide: 80}
	if err := newWalk(o.reviewer, s, false, "").run(context.Background()); err != nil {
		o.t.Fatalf("%v\n%s", err, s.out.String())
	}
	if len(s.input) > 0 {
		o.t.Errorf("never read: %q\n%s", s.input, s.out.String())
	}
	return s
}

func (o *office) wantDisk(name, text string) {
	o.t.Helper()
	data, err := os.ReadFile(filepath.Join(o.root, name))
	if err != nil || string(data) != text {
		o.t.Errorf("%s is %q (%v), want %q", name, data, err, text)
	}
}

func TestWalkSplits(t *testing.T) {
	o := newOffice(t, map[string]string{"f": "1\n2\n3\n4\n"})
	o.write("f", "1\ntwo\n\nthree\n4\n")
	s := o.walk("s", "n", "y")
	s.says(`\[y,n,c,e,l,s,`, `split into 2 hunks: h1 h2`,
		`@@ -1,4 \+1,4 @@ h1\n 1\n-2\n-3\n\+two\n\+\n 4\n`, `\(1/2\)`,
		`@@ -1,4 \+1,5 @@ h2\n 1\n 2\n 3\n\+three\n 4\n`, `\(2/2\)`, `1 accepted, 1 rejected`)
	o.wantDisk("f", "1\n2\n3\nthree\n4\n")

	o.write("f", "1\n2\n3\nthree\nvier\n") // one line for one
	s = o.walk("s", "y")
	s.says(`this hunk is one piece`, `1 accepted`)
}

// A hunk that the agent changes meanwhile is not split as it was.
func TestWalkSplitsWhatWasSeen(t *testing.T) {
	o := newOffice(t, map[string]string{"f": "1\n2\n3\n"})
	o.write("f", "one\ntwo\nthree\n")
	w := newWalk(o.reviewer, &script{t: t, wide: 80, input: []string{"s", "q"}}, false, "")
	if _, err := w.load(context.Background()); err != nil {
		t.Fatal(err)
	}
	o.write("f", "ONE\nTWO\nTHREE\n")
	if err := w.loop(context.Background()); err != errQuit {
		t.Fatal(err)
	}
	w.con.(*script).says(`\+one\n`, `not decided: `, `\+ONE\n`)
	if n := len(w.items); n != 1 {
		t.Errorf("%d hunks", n)
	}
}

func TestWalkChoosesLines(t *testing.T) {
	o := newOffice(t, map[string]string{"f": "1\n2\n3\n4\n"})
	o.write("f", "1\ntwo\nand a half\nthree\n4\n")
	s := o.walk("l", "", "l", "9", "l", "1,3-4", "u", "q")
	s.says(`@@ -1,4 \+1,5 @@\n         1\n      1 -2\n      2 -3\n      3 \+two\n      4 \+and a half\n      5 \+three\n         4\n`,
		`accept which lines, such as 1,3-5\? \nnothing was decided`,
		`there is no line 9: the hunk has 5 changed lines`,
		`wrote f`, `@@ -1,4 \+1,3 @@ h1\n 1\n two\n-3\n and a half\n`, `wrote f`, `@@ -1,4 \+1,5 @@ h\d\n 1\n 2\n 3\n\+and a half\n 4\n`, `0 accepted, 0 rejected, 4 hunks left`)
	o.wantDisk("f", "1\n2\n3\n4\n")

	o = newOffice(t, map[string]string{"f": "1\n"}) // all of them are the hunk
	o.write("f", "one\nmore\n")
	o.write("new", "a\nb\nc\n")
	s = o.walk("l", "1-3", "l", "2", "q")
	s.says(`wrote f`, `wrote new`, `2 accepted`)
	o.wantDisk("f", "one\nmore\n")
	o.wantDisk("new", "b\n")
}
