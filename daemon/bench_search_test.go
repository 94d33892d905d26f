package daemon

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/loomd/loomd/daemon/protocol"
)

// wire speaks frames and looks at nothing: what is measured is the daemon.
type wire struct {
	conn net.Conn
	in   *bufio.Reader
	body []byte
}

func (w *wire) ask(body string) ([]byte, error) {
	if _, err := fmt.Fprintf(w.conn, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		return nil, err
	}
	length := 0
	for {
		line, err := w.in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		if line == "\r\n" {
			break
		}
		if n, ok := strings.CutPrefix(strings.TrimSpace(line), "Content-Length: "); ok {
			length, _ = strconv.Atoi(n)
		}
	}
	if cap(w.body) < length {
		w.body = make([]byte, length)
	}
	w.body = w.body[:length]
	_, err := io.ReadFull(w.in, w.body)
	return w.body, err
}

// BenchmarkSearch asks a daemon, with the user configuration LOOMD_BENCH_CONFIG if
// that is set, on Go's own sources, or on LOOMD_BENCH_ROOT,
// over a socket.
func BenchmarkSearch(b *testing.B) {
	root := os.Getenv("LOOMD_BENCH_ROOT")
	if root == "" {
		goroot, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			b.Skipf("where Go's sources are is not known: %v", err)
		}
		root = filepath.Join(strings.TrimSpace(string(goroot)), "src")
	}
	b.Setenv("XDG_STATE_HOME", b.TempDir())
	server, err := New(Options{
		Roots: []string{root}, Socket: filepath.Join(b.TempDir(), "s"), Version: "bench", UserConfig: os.Getenv("LOOMD_BENCH_CONFIG"),
	})
	if err != nil {
		b.Fatal(err)
	}
	defer server.Close()
	listener, err := net.Listen("unix", filepath.Join(b.TempDir(), "l"))
	if err != nil {
		b.Fatal(err)
	}
	defer listener.Close()
	near, err := net.Dial("unix", listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	far, err := listener.Accept()
	if err != nil {
		b.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.ServeConn(b.Context(), far) }()
	defer func() { near.Close(); <-ended }()
	w := &wire{conn: near, in: bufio.NewReaderSize(near, 1<<20)}
	if _, err := w.ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + helloAgent + `}`); err != nil {
		b.Fatal(err)
	}
	if _, err := w.ask(`{"jsonrpc":"2.0","id":2,"method":"` + protocol.MethodIndexSync + `","params":{"built":true}}`); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct{ name, tool, args string }{
		{"rare", "grep", `{"pattern":"errServerClosedIdle"}`},
		{"none", "grep", `{"pattern":"no such text anywhere"}`},
		{"medium", "grep", `{"pattern":"WriteString","limit":1000000}`},
		{"first100", "grep", `{"pattern":"return","limit":100}`},
		{"common", "grep", `{"pattern":"return","limit":1000000}`},
		{"errorf", "grep", `{"pattern":"\\w+\\.Errorf\\(\"[a-z]+","limit":1000000}`},
		{"countfunc", "grep", `{"pattern":"func","mode":"count","limit":1000000}`},
		{"pool", "grep", `{"pattern":"sync.Pool","limit":1000000}`},
		{"fold", "grep", `{"pattern":"unmarshaltext","case":"insensitive","limit":1000000}`},
		{"count", "grep", `{"pattern":"WriteString","mode":"count","limit":1000000}`},
		{"glob", "glob", `{"pattern":"**/*_test.go","limit":100000}`},
		{"list", "list_files", `{"recursive":true,"max_depth":100,"limit":100000}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"loom/tools/call","params":{"name":%q,"arguments":%s}}`, c.tool, c.args)
			n := 0
			for b.Loop() {
				answer, err := w.ask(body)
				if err != nil || strings.Contains(string(answer[len(answer)-min(len(answer), 200):]), `"isError":true`) {
					b.Fatalf("%.300s, %v", answer, err)
				}
				n = len(answer)
			}
			b.ReportMetric(float64(n), "answer-bytes")
		})
	}
}
