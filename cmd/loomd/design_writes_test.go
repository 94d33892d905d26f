package main

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// allowance lets some files change something outside of memory.
type allowance struct {
	files  string // a file, or a directory with all in it
	calls  []string
	reason string
}

// allowances are all the places that write, start a process or listen. An
// entry that nothing uses is a finding, too.
var allowances = []allowance{
	{"diffpreview", []string{"File.*", "Root.*"}, "the only room with a writable handle of a workspace; apply.go and its neighbours use it: see rootFiles"},
	{"diffpreview", []string{"unix.*"}, "renames and attributes that os.Root lacks, on descriptors of directories: see rootFiles"},
	{"diffpreview/workspace.go", []string{"os.OpenRoot"}, "opens each root once"},
	{"diffpreview/reading.go", []string{"Root.OpenFile"}, "asks whether a file could be written"},
	{
		"diffpreview/private.go",
		[]string{"os.Mkdir", "os.Chmod", "os.OpenFile", "os.CreateTemp", "os.Rename", "os.Remove", "File.Chmod"},
		"the journal's and the history's files, in the state directory outside of every workspace",
	},
	{"daemon/config", []string{"os.OpenRoot"}, "reads .loom/config.toml through no link that leads out of the workspace"},
	{"diffpreview/journal.go", []string{"File.Truncate"}, "half a record is taken back"},
	{"diffpreview/history.go", []string{"File.Truncate"}, "half an entry is taken back"},
	{
		"daemon/place",
		[]string{"os.Mkdir", "os.MkdirTemp", "os.Chmod", "os.OpenFile", "os.WriteFile", "os.Rename", "os.Remove", "os.RemoveAll", "File.Truncate", "File.WriteAt"},
		"the private socket, lock, log, and text for a person's editor",
	},
	{"daemon/place", []string{"net.ListenUnix"}, "the private socket"},
	{"daemon/place", []string{"unix.Flock", "unix.Kill", "windows.*"}, "locks, and whether their holder lives"},
	{"watch/tree_cookies.go", []string{"os.OpenFile", "os.Link", "os.Remove", "File.WriteAt"}, "cookies, in a private folder outside of every root"},
	{
		"watch/tree_disk_linux.go",
		[]string{"os.NewFile", "unix.Open", "unix.Openat", "unix.Openat2", "unix.OpenHow", "unix.Fstat", "unix.Fstatat", "unix.Getdents", "unix.Close"},
		"reads below a root, no link followed, and with the fewest calls",
	},
	{"daemon/rpc/encode.go", []string{"File.Truncate"}, "of a bytes.Buffer"},
	{"watch/index/reader_unix.go", []string{"unix.*"}, "opens files for reading through no link, and reads them"},
	{"watch/index/reader_other.go", []string{"os.OpenRoot", "os.Root"}, "likewise, where there is no unix"},
	{"watch/index", []string{"unix.Mmap", "unix.Munmap", "unix.Madvise", "unix.Sysinfo"}, "memory without a file behind it"},
	{
		"tools/sandbox",
		[]string{"os.Mkdir", "os.MkdirAll", "os.OpenFile", "os.OpenRoot", "os.Root", "os.Remove", "os.WriteFile", "os.Chtimes", "File.Chmod", "File.WriteAt"},
		"a session's private copy of its view, outside of every root; of the roots themselves it only reads",
	},
	{
		"tools/sandbox",
		[]string{"unix.Openat", "unix.Fstatat", "unix.ReadDirent", "unix.ParseDirent", "unix.Close", "unix.IoctlFileClone"},
		"walks the tree and the copy with the fewest calls, no link followed; clones files into the copy",
	},
	{"tools/sandbox/mounts_linux.go", []string{"unix.Unmount"}, "takes away what a command has mounted in the copy, below it alone"},
	{"daemon/client/start.go", []string{"exec.Command"}, "starts the daemon"},
	{"tools/secret/provider.go", []string{"exec.CommandContext"}, "op, or the command that a person has configured to give a secret"},
	{"tools/secret/provider_unix.go", []string{"syscall.Kill"}, "ends that command's group"},
	{
		"daemon/searchbench",
		[]string{"os.MkdirTemp", "os.MkdirAll", "os.WriteFile", "os.OpenFile", "os.CopyFS", "os.Remove", "os.RemoveAll", "exec.CommandContext"},
		"make bench-search: corpora in a cache folder, the programs that are measured",
	},
	{"daemon/protocol/gen/main.go", []string{"os.WriteFile"}, "the generator, which a developer runs"},
	{
		"tools/process",
		[]string{"exec.Command", "os.NewFile", "unix.*", "syscall.*", "windows.*"},
		"commands: the supervisor and its pipes, starting, signalling and ending them; it writes no file",
	},
	{"tools/gen/main.go", []string{"os.WriteFile"}, "likewise"},
	{"cmd/loomd/terminal.go", []string{"exec.CommandContext"}, "a person's own editor, on private text"},
	{"cmd/loomd", []string{"unix.IoctlSetInt", "unix.IoctlSetPointerInt"}, "throws away what was typed on a terminal before it was asked for"},
	{"cmd/loomd/doctor.go", []string{"exec.CommandContext"}, "git version"},
	{"cmd/loomd/serve.go", []string{"os.NewFile"}, "the descriptor on which a starter listens"},
	{
		"cmd/loomd/try",
		[]string{"os.MkdirTemp", "os.MkdirAll", "os.Mkdir", "os.WriteFile", "os.RemoveAll", "exec.CommandContext", "os.FindProcess"},
		"make try: a scratch folder of its own, git ls-files, the commands it shows",
	},
}

// rootFiles are the files of diffpreview that may use the writable handle.
var rootFiles = []string{"apply*.go"}

// packageCalls are the functions that change something, by the import path of
// their package. Whatever is done with the name counts, not only a call.
var packageCalls = map[string][]string{
	"os": {
		"WriteFile", "Create", "CreateTemp", "OpenFile", "Rename", "Remove", "RemoveAll", "Mkdir", "MkdirAll", "MkdirTemp",
		"Chmod", "Chown", "Lchown", "Chtimes", "Symlink", "Link", "Truncate", "CopyFS", "OpenRoot", "OpenInRoot", "Root",
		"NewFile", "StartProcess", "FindProcess",
	},
	"io/ioutil": {"WriteFile", "TempFile", "TempDir"},
	"os/exec":   {"Command", "CommandContext", "Cmd"},
	"net":       {"Listen", "ListenTCP", "ListenUDP", "ListenUnix", "ListenPacket", "ListenUnixgram", "ListenMulticastUDP", "ListenIP", "ListenConfig", "FileListener"},
	"net/http":  {"ListenAndServe", "Serve", "Server"},
}

// methodCalls are methods of os.Root and os.File that change something.
var methodCalls = map[string]string{
	"Create": "Root", "OpenFile": "Root", "OpenRoot": "Root", "Mkdir": "Root", "MkdirAll": "Root", "Rename": "Root",
	"RemoveAll": "Root", "Chtimes": "Root", "Symlink": "Root", "Link": "Root", "WriteFile": "Root", "Lchown": "Root",
	"Chmod": "File", "Chown": "File", "Truncate": "File", "WriteAt": "File",
}

// systemReads are the functions of system packages that change nothing that
// outlives the process.
var systemReads = []string{
	"unix.Statfs", "unix.Fstatfs", "unix.Statx", "unix.Faccessat", "unix.GetsockoptUcred", "unix.GetsockoptXucred",
	"syscall.CloseOnExec", "syscall.Handle",
}

// writes finds what changes something outside of memory where nothing allows
// it, and allowances that are not used.
func writes(tree repository) []string {
	var findings []string
	used := map[*allowance]bool{}
	for i := range tree.files {
		f := &tree.files[i]
		if f.ast == nil || f.isTest() {
			continue
		}
		for _, c := range callsOf(f) {
			if a := allowed(f, c.name); a != nil {
				used[a] = true
				continue
			}
			findings = append(findings, f.at(c.node.Pos(), c.name+" is not allowed here: only diffpreview writes to a workspace"))
		}
	}
	for i := range allowances {
		if a := &allowances[i]; !used[a] && tree.paths["go.mod"] {
			findings = append(findings, a.files+": the allowance for "+strings.Join(a.calls, ", ")+" is not used")
		}
	}
	return findings
}

func allowed(f *sourceFile, name string) *allowance {
	for i := range allowances {
		a := &allowances[i]
		matches := slices.ContainsFunc(a.calls, func(pattern string) bool {
			kind, all := strings.CutSuffix(pattern, "*")
			return pattern == name || all && strings.HasPrefix(name, kind)
		})
		if !matches || !under(f.name, a.files) {
			continue
		}
		if a.files == "diffpreview" && !usesRoot(f) {
			continue
		}
		return a
	}
	return nil
}

func usesRoot(f *sourceFile) bool {
	return slices.ContainsFunc(rootFiles, func(pattern string) bool {
		ok, err := path.Match(pattern, path.Base(f.name))
		return ok && err == nil
	})
}

// call is a mention of something that writes: "os.Rename", "Root.Rename",
// "unix.Renameat2".
type call struct {
	name string
	node ast.Node
}

func callsOf(f *sourceFile) []call {
	var found []call
	reads := map[ast.Expr]bool{} // OpenFile with flags that only read, a pointer to what somebody else made
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if len(n.Args) == 3 && onlyReads(n.Args[1]) {
				reads[n.Fun] = true
			}
		case *ast.StarExpr:
			if s, ok := n.X.(*ast.SelectorExpr); ok && s.Sel.Name == "Cmd" {
				reads[s] = true
			}
		case *ast.SelectorExpr:
			if name := f.writing(n); name != "" && !reads[n] {
				found = append(found, call{name, n})
			}
		}
		return true
	})
	return found
}

// writing names what a selector mentions when it writes, else "".
func (f *sourceFile) writing(n *ast.SelectorExpr) string {
	name := n.Sel.Name
	if id, ok := n.X.(*ast.Ident); ok && f.imported[id.Name] != "" {
		imported := f.imported[id.Name]
		full := path.Base(imported) + "." + name
		switch {
		case slices.Contains(packageCalls[imported], name) && full != "os.Root":
			return full
		case full == "os.Root" && !under(f.name, "diffpreview"):
			return full
		case isSystem(imported) && isFunction(name) && !slices.Contains(systemReads, full):
			return full
		}
		return ""
	}
	if kind := methodCalls[name]; kind != "" && (kind == "File" || under(f.name, "diffpreview")) {
		return kind + "." + name
	}
	return ""
}

func isSystem(imported string) bool {
	return imported == "syscall" || strings.HasPrefix(imported, "golang.org/x/sys/")
}

// isFunction tells functions of system packages from their constants, which
// are upper case, and types.
func isFunction(name string) bool {
	for _, suffix := range []string{"_t", "Errno", "Signal", "Ucred", "Xucred", "SysProcAttr", "Handle", "Overlapped", "Win32FileAttributeData"} {
		if strings.HasSuffix(name, suffix) {
			return false
		}
	}
	return strings.IndexFunc(name, unicode.IsLower) > 0
}

// onlyReads reports whether the flags of an OpenFile are known to only read.
func onlyReads(flags ast.Expr) bool {
	ok := true
	ast.Inspect(flags, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			ok = ok && slices.Contains([]string{"os", "O_RDONLY", "openNonblock"}, n.Name)
		case *ast.BinaryExpr, *ast.SelectorExpr, nil:
		default:
			ok = false
		}
		return ok
	})
	return ok
}

func TestWritesOutsideDiffpreviewAreFound(t *testing.T) {
	file := func(name, imported, body string) string {
		return name + "\npackage p\nimport " + imported + "\nfunc f() { " + body + " }\n"
	}
	for _, c := range []struct{ name, imported, body, want string }{
		{"tools/a.go", `"os"`, `os.WriteFile("a", nil, 0)`, "tools/a.go:3: os.WriteFile is not allowed"},
		{"tools/a.go", `"os"`, `g := os.Rename; g("a", "b")`, "os.Rename"},
		{"tools/a.go", `other "os"`, `other.Remove("a")`, "os.Remove"},
		{"tools/a.go", `"os"`, `os.OpenFile("a", os.O_RDWR, 0)`, "os.OpenFile"},
		{"tools/a.go", `"os"`, `os.OpenFile("a", flags, 0)`, "os.OpenFile"},
		{"tools/a.go", `"os"`, `os.OpenFile("a", 1, 0)`, "os.OpenFile"},
		{"tools/a.go", `"os"`, `var r *os.Root`, "os.Root"},
		{"tools/a.go", `"os"`, `file.Chmod(0)`, "File.Chmod"},
		{"tools/a.go", `"os/exec"`, `exec.Command("sh")`, "exec.Command"},
		{"tools/a.go", `"os/exec"`, `c := &exec.Cmd{Path: "sh"}; c.Run()`, "exec.Cmd"},
		{"tools/a.go", `"golang.org/x/sys/unix"`, `unix.Unlink("a")`, "unix.Unlink"},
		{"tools/a.go", `"syscall"`, `syscall.Rmdir("a")`, "syscall.Rmdir"},
		{"daemon/a.go", `"os"`, `os.MkdirAll("a", 0)`, "os.MkdirAll"},
		{"daemon/a.go", `"net"`, `net.Listen("tcp", ":1")`, "net.Listen"},
		{"watch/a.go", `"os"`, `os.Create("a")`, "os.Create"},
		{"cmd/loomd/a.go", `"os"`, `os.Symlink("a", "b")`, "os.Symlink"},
		{"diffpreview/store.go", `"os"`, `os.WriteFile("a", nil, 0)`, "os.WriteFile"},
		{"diffpreview/journal.go", `"os"`, `os.Rename("a", "b")`, "os.Rename"},
		{"diffpreview/apply.go", `"os"`, `os.Rename("a", "b")`, "os.Rename"},
		{"diffpreview/store.go", `"io/fs"`, `s.ws.root(p).Mkdir("a", 0)`, "Root.Mkdir"},
		{"diffpreview/store.go", `"io/fs"`, `root.OpenFile("a", flags, 0)`, "Root.OpenFile"},
		{"diffpreview/view.go", `"golang.org/x/sys/unix"`, `unix.Renameat(1, "a", 2, "b")`, "unix.Renameat"},
	} {
		expect(t, writes(in(t, file(c.name, c.imported, c.body))), c.want)
	}
	expect(t, writes(in(t,
		file("tools/a.go", `"os"`, `os.ReadFile("a"); os.Open("a"); os.OpenFile("a", os.O_RDONLY, 0)`),
		file("tools/a_test.go", `"os"`, `os.WriteFile("a", nil, 0)`),
		file("tools/c.go", `"os/exec"`, `var c *exec.Cmd`),
		file("tools/b.go", `"golang.org/x/sys/unix"`, `var st unix.Stat_t; f(unix.ENOSPC)`),
		file("diffpreview/apply_x.go", `"golang.org/x/sys/unix"`, `root.Mkdir("a", 0); unix.Renameat(1, "a", 2, "b")`),
		file("diffpreview/workspace.go", `"os"`, `var r *os.Root; r.OpenFile("a", os.O_RDONLY|openNonblock, 0)`),
		file("diffpreview/private.go", `"os"`, `os.Rename("a", "b")`),
		file("daemon/place/a.go", `"os"`, `os.Mkdir("a", 0)`),
	)))
	unused := in(t, "go.mod\n")
	if findings := writes(unused); len(findings) != len(allowances) {
		t.Errorf("%d allowances, of which none is used: %d findings", len(allowances), len(findings))
	}
}
