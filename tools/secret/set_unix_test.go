//go:build unix

package secret

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// setOf is a set in an environment whose PATH holds programs by their scripts.
func setOf(t *testing.T, environ []string, scripts map[string]string, specs ...Spec) *Set {
	t.Helper()
	bin := t.TempDir()
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s := NewSet(append(environ, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH")))
	s.Configure(specs)
	return s
}

func TestValuesOfProviders(t *testing.T) {
	ctx := context.Background()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("from-a-file\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := setOf(t, []string{"TOKEN=from-env", "TOKEN=the-last-counts"}, map[string]string{
		"op":   `test "$*" = "read --no-newline op://v/i/f --account me" && printf from-op`,
		"pass": `echo "noise" >&2; read x; echo "$1-$TOKEN$x"`,
	},
		Spec{Name: "E", Provider: ProviderEnv, Env: "TOKEN", Tools: []string{"one", "two"}},
		Spec{Name: "F", Provider: ProviderFile, File: file, Tools: []string{"one"}},
		Spec{Name: "O", Provider: ProviderOp, Ref: "op://v/i/f", Account: "me", Tools: []string{"one"}},
		Spec{Name: "C", Provider: ProviderCommand, Command: []string{"pass", "said"}, Tools: []string{"one"}},
	)
	if failed := s.Preload(ctx); failed != nil {
		t.Fatal(failed)
	}
	all := "the-last-counts from-a-file from-op said-the-last-counts"
	if got := s.Redactor().String(all); got != "[redacted:E] [redacted:F] from-op said-[redacted:E]" {
		t.Errorf("loaded at the start: %s", got)
	}
	env, err := s.Env(ctx, "one")
	if want := "E=the-last-counts F=from-a-file O=from-op C=said-the-last-counts"; err != nil || strings.Join(env, " ") != want {
		t.Errorf("the variables are %v (%v)", env, err)
	}
	if got := s.Redactor().String(all); got != "[redacted:E] [redacted:F] [redacted:O] [redacted:C]" {
		t.Errorf("loaded when needed: %s", got)
	}
	if got := s.Names("two"); len(got) != 1 || got[0] != "E" {
		t.Errorf("two may use %v", got)
	}
	var refused *Error
	if _, err := s.Value(ctx, "F", "two"); !errors.As(err, &refused) || refused.Name != "F" || !strings.Contains(err.Error(), "not for two") {
		t.Errorf("a secret of another tool: %v", err)
	}
	if _, err := s.Value(ctx, "X", "two"); err == nil || err.Error() != "secret X: is not configured" {
		t.Errorf("a secret that there is not: %v", err)
	}
	var none *Set
	if env, err := none.Env(ctx, "one"); env != nil || err != nil || !none.Redactor().Idle() {
		t.Error("no set has secrets")
	}
}

func TestFailuresNameTheSecretOnly(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const value = "hunter2-hunter2"
	scripts := map[string]string{
		"fails": "echo " + value + "; echo " + value + " >&2; exit 3",
		"hangs": "echo " + value + "; sleep 1000 & sleep 1000",
		"talks": "while :; do echo " + value + "; done",
	}
	command := func(name string) Spec {
		return Spec{Provider: ProviderCommand, Command: []string{name, value}, Timeout: 300 * time.Millisecond}
	}
	for want, spec := range map[string]Spec{
		"was started without the variable NONE":        {Provider: ProviderEnv, Env: "NONE"},
		"is empty":                                     {Provider: ProviderEnv, Env: "BLANK"},
		"is shorter than 6 bytes":                      {Provider: ProviderEnv, Env: "SHORT"},
		"is no text in UTF-8":                          {Provider: ProviderEnv, Env: "BYTES"},
		"is a part of [redacted:S]":                    {Provider: ProviderEnv, Env: "MARK"},
		"is longer than 8192 bytes":                    {Provider: ProviderFile, File: write("long", strings.Repeat(value, 1000), 0o600)},
		"can be read by others (mode 0644): chmod 600": {Provider: ProviderFile, File: write("open", value, 0o644)},
		"no such file":                                 {Provider: ProviderFile, File: filepath.Join(dir, "none")},
		"is not a regular file":                        {Provider: ProviderFile, File: dir},
		"op is not on the PATH":                        {Provider: ProviderOp, Ref: "op://a/b/c"},
		"ended with exit status 3; run it by hand":     command("fails"),
		"took longer than 300ms":                       command("hangs"),
		"printed more than 8192 bytes":                 command("talks"),
		"a program is a bare name or an absolute path": command("./fails"),
	} {
		spec.Name = "S"
		spec.Tools = []string{"t"}
		s := setOf(t, []string{"BLANK= \t", "SHORT=12345", "MARK=redacted", "BYTES=\xff\xfe\xfd\xfc\xfb\xfa"}, scripts, spec)
		if strings.Contains(want, "op is") {
			s.environ = []string{"PATH=" + dir}
		}
		_, err := s.Value(context.Background(), "S", "t")
		var e *Error
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), "secret S: ") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), value) {
			t.Errorf("want %q, got %v", want, err)
		}
		if names, failures := s.Check(context.Background()); len(names) != 1 || failures[0] == nil {
			t.Errorf("%s: checked as %v %v", want, names, failures)
		}
	}
}

func TestValuesAreKeptForAWhile(t *testing.T) {
	ctx := context.Background()
	count := filepath.Join(t.TempDir(), "count")
	s := setOf(t, nil, map[string]string{"mint": `echo x >>` + count + `; echo "token-number-$(wc -l <` + count + ` | tr -d ' ')"`},
		Spec{Name: "S", Provider: ProviderCommand, Command: []string{"mint"}, Tools: []string{"t"}})
	now := time.Now()
	s.now = func() time.Time { return now }
	for _, c := range []struct {
		after time.Duration
		want  string
	}{{0, "token-number-1"}, {keep - 1, "token-number-1"}, {2, "token-number-2"}} {
		now = now.Add(c.after)
		if got, err := s.Value(ctx, "S", "t"); err != nil || got != c.want {
			t.Errorf("after %v: %q (%v), want %q", c.after, got, err, c.want)
		}
	}
	if got := s.Redactor().String("token-number-1 token-number-2"); got != "[redacted:S] [redacted:S]" {
		t.Errorf("what it was is %s", got)
	}
	s.Configure(nil)
	if got := s.Redactor().String("token-number-1"); got != "[redacted:S]" {
		t.Errorf("what is not configured any more is %s", got)
	}
}

func TestAFileThatChanges(t *testing.T) {
	ctx := context.Background()
	file := filepath.Join(t.TempDir(), "token")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("first-value")
	s := setOf(t, nil, nil, Spec{Name: "F", Provider: ProviderFile, File: file})
	s.Preload(ctx)
	write("other-value") // of the same length, perhaps at the same time
	s.Refresh(ctx)
	if got := s.Redactor().String("first-value other-value"); got != "[redacted:F] [redacted:F]" {
		t.Errorf("both values are %s", got)
	}
}

func TestCallersAskOnce(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	s := setOf(t, nil, map[string]string{"slow": `echo x >>` + count + `; sleep 0.2; echo one-token-for-all`},
		Spec{Name: "S", Provider: ProviderCommand, Command: []string{"slow"}, Tools: []string{"t"}})
	done := make(chan error, 8)
	for range cap(done) {
		go func() {
			_, err := s.Value(context.Background(), "S", "t")
			done <- err
		}()
	}
	for range cap(done) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if data, _ := os.ReadFile(count); string(data) != "x\n" {
		t.Errorf("the provider was asked %d times", len(data)/2)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s.entries["S"].read = time.Time{}
	if _, err := s.Value(ctx, "S", "t"); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that was cancelled: %v", err)
	}
}
