package index_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
)

// The peers' packages are installed by make: see the Makefile's peers.
const peers = "../../daemon/searchbench/peers/node_modules"

// rgBinary finds ripgrep 15, whose answers are the oracle of a search: an older
// one in the PATH treats some patterns and binary files differently.
func rgBinary(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob(peers + "/@vscode/ripgrep-*/bin/rg*")
	if err == nil && len(found) > 0 {
		abs, err := filepath.Abs(found[0])
		if err != nil {
			t.Fatal(err)
		}
		return abs
	}
	if os.Getenv("CI") != "" {
		t.Fatal("no rg: run make peers")
	}
	t.Skip("no rg: run make peers")
	return ""
}

// cleanEnv keeps the machine's own configuration of git and rg away.
func cleanEnv(home string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, ".config"),
		"GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "GIT_CEILING_DIRECTORIES=/",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@t", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@t",
	}
}

// envOf makes a Getenv of an environment.
func envOf(env []string) func(string) string {
	return func(name string) string {
		for _, e := range env {
			if value, ok := strings.CutPrefix(e, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// run runs a program in dir; status 1 is "nothing found" and no failure.
func run(t *testing.T, dir string, env []string, program string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = dir, env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatalf("%s %q: %v: %s", program, args, err, stderr.Bytes())
	}
	return out
}

// gitLists lists what git calls untracked and not ignored, with git's index
// empty: everything that the rules leave in. Each nested repository is asked by
// itself. A root in no repository is asked about through one that lies elsewhere.
func gitLists(t *testing.T, root string, env []string) []string {
	t.Helper()
	var list []string
	var ask func(prefix string)
	ask = func(prefix string) {
		env := env
		if _, err := os.Lstat(filepath.Join(root, ".git")); err != nil && prefix == "" {
			spare := filepath.Join(envOf(env)("HOME"), "spare.git")
			run(t, "/", env, "git", "init", "-q", "--bare", spare)
			env = append(slices.Clone(env), "GIT_DIR="+spare, "GIT_WORK_TREE="+root)
		}
		out := run(t, filepath.Join(root, prefix), env, "git", "ls-files", "-o", "-z", "--exclude-standard")
		for _, p := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			switch {
			case strings.HasSuffix(p, "/"):
				ask(prefix + p)
			case p != "":
				list = append(list, prefix+p)
			}
		}
	}
	ask("")
	sort.Strings(list)
	return list
}

// rg puts a question to ripgrep.
type rg struct {
	binary string
	root   string
	env    []string
}

func (r rg) args(q question) []string {
	args := []string{"--hidden", "-g", "!.git", "--no-unicode", "--no-messages", "--no-require-git", "--regex-size-limit", "1G", "--dfa-size-limit", "1G"}
	for _, f := range []struct {
		flag string
		set  bool
	}{{"-F", q.Fixed}, {"-w", q.Word}, {"-i", q.Fold}, {"-U", q.Multiline}, {"-v", q.Invert}} {
		if f.set {
			args = append(args, f.flag)
		}
	}
	pattern := q.RG
	if pattern == "" {
		pattern = q.Pattern
	}
	switch q.Mode {
	case filesMode:
		args = append(args, "-l", "--null")
	case countMode:
		args = append(args, "-c", "--null")
	default:
		args = append(args, "--json", "-B", strconv.Itoa(q.Before), "-A", strconv.Itoa(q.After))
	}
	return append(args, "-e", pattern, ".")
}

// search answers in the order of paths. What files are asked for is left to the
// caller's own filter: rg lets a glob bring ignored files back, and treats a
// file named on its command line in another way. In the multi-line mode rg's -c
// counts matches; lines are counted here.
func (r rg) search(t *testing.T, q question) []row {
	t.Helper()
	if q.Multiline && q.Mode == countMode {
		q.Mode = contentMode
		return counted(r.search(t, q))
	}
	var rows []row
	out := run(t, r.root, r.env, r.binary, r.args(q)...)
	switch q.Mode {
	case filesMode:
		for _, p := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			if p != "" {
				rows = append(rows, row{Path: strings.TrimPrefix(p, "./")})
			}
		}
	case countMode:
		for len(out) > 0 {
			p, rest, _ := bytes.Cut(out, []byte{0})
			n, after, _ := bytes.Cut(rest, []byte("\n"))
			count, err := strconv.Atoi(string(n))
			if err != nil {
				t.Fatalf("rg -c: %q: %v", out, err)
			}
			rows, out = append(rows, row{Path: strings.TrimPrefix(string(p), "./"), Number: count}), after
		}
	default:
		rows = rgRows(t, out)
	}
	rows = slices.DeleteFunc(rows, func(r row) bool {
		return !isUnder(r.Path, q.Under) || q.NoHidden && isHidden(r.Path, q.Under) || !globbed(q.Globs, r.Path)
	})
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].Path < rows[j].Path })
	return rows
}

// counted makes rows of counts of rows of lines.
func counted(lines []row) []row {
	var rows []row
	for _, l := range lines {
		if len(rows) == 0 || rows[len(rows)-1].Path != l.Path {
			rows = append(rows, row{Path: l.Path})
		}
		rows[len(rows)-1].Number++
	}
	return rows
}

// rgText is text or base64 of bytes, as rg's JSON has them.
type rgText struct {
	Text  *string `json:"text"`
	Bytes string  `json:"bytes"`
}

func (r rgText) string() (string, error) {
	if r.Text != nil {
		return *r.Text, nil
	}
	data, err := base64.StdEncoding.DecodeString(r.Bytes)
	return string(data), err
}

func rgRows(t *testing.T, out []byte) []row {
	t.Helper()
	var rows []row
	dec := json.NewDecoder(bytes.NewReader(out))
	for dec.More() {
		var m struct {
			Type string
			Data struct {
				Path       rgText
				Lines      rgText
				LineNumber int `json:"line_number"`
			}
		}
		if err := dec.Decode(&m); err != nil {
			t.Fatalf("rg --json: %v", err)
		}
		p, err := m.Data.Path.string()
		if err != nil {
			t.Fatal(err)
		}
		p = strings.TrimPrefix(p, "./")
		if m.Type != "match" && m.Type != "context" {
			continue
		}
		text, err := m.Data.Lines.string()
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range splitLines([]byte(text)) {
			rows = append(rows, row{Path: p, Number: m.Data.LineNumber + i, Text: withoutEnd(string(line)), Match: m.Type == "match"})
		}
	}
	return rows
}

// sameAsRG compares an answer with rg's, line for line. A file that has a NUL
// past what rg reads first is special: rg shows what it had printed before it
// came to the NUL, which depends on its buffer; there a part of what lies before
// the NUL is right, and so is nothing.
func sameAsRG(t *testing.T, q question, got, want []row, lateBinary func(string) bool) {
	t.Helper()
	keep := func(rows []row) []row {
		return slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return lateBinary(r.Path) })
	}
	if g, w := keep(got), keep(want); !slices.Equal(g, w) {
		t.Errorf("%s\n%s", q, difference(g, w))
	}
	rowsInOrder(t, q, got)
}

// lateBinaries finds the files below root whose first NUL comes after limit.
func lateBinaries(t *testing.T, root string, limit int) func(string) bool {
	t.Helper()
	late := map[string]bool{}
	err := filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return fmt.Errorf("looking for binary files: %w", err)
		}
		if bytes.IndexByte(data, 0) >= limit {
			late[filepath.ToSlash(p[len(root)+1:])] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return func(p string) bool { return late[p] }
}
