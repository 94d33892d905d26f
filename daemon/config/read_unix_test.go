//go:build unix

package config

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestWhatIsNoConfiguration(t *testing.T) {
	const accept = "[[review.rule]]\neffect = \"hold\"\nname = \"found\"\n"
	outside := filepath.Join(t.TempDir(), "config.toml")
	write(t, outside, accept)
	for _, c := range []struct {
		name string
		make func(path string) error
		want string // of the workspace's problem; "": none
		rule bool
	}{
		{"a file", func(p string) error { return os.WriteFile(p, []byte(accept), 0o644) }, "", true},
		{"a link that leads out", func(p string) error { return os.Symlink(outside, p) }, "cannot be read: path escapes", false},
		{"a link that stays", func(p string) error {
			if err := os.WriteFile(p+".real", []byte(accept), 0o644); err != nil {
				return err
			}
			return os.Symlink("config.toml.real", p)
		}, "", true},
		{"a link to nowhere", func(p string) error { return os.Symlink("none", p) }, "a link that leads nowhere", false},
		{"a folder", func(p string) error { return os.Mkdir(p, 0o700) }, "not a regular file", false},
		{"a FIFO", func(p string) error { return syscall.Mkfifo(p, 0o600) }, "not a regular file", false},
		{"a folder that is a link out", func(p string) error {
			if err := os.Remove(filepath.Dir(p)); err != nil {
				return err
			}
			return os.Symlink(filepath.Dir(outside), filepath.Dir(p))
		}, "cannot be read: path escapes", false},
		{"a folder that is a file", func(p string) error {
			if err := os.Remove(filepath.Dir(p)); err != nil {
				return err
			}
			return os.WriteFile(filepath.Dir(p), nil, 0o600)
		}, "", false},
		{"too large", func(p string) error { return os.WriteFile(p, make([]byte, maxFile+1), 0o600) }, "65537 bytes: at most 65536", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			path := WorkspacePath(root)
			if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := c.make(path); err != nil {
				t.Fatal(err)
			}
			got, problems := Load("", []string{root})
			if c.want == "" {
				wantProblems(t, problems)
			} else {
				wantProblems(t, problems, c.want)
			}
			rules := written(got)
			if found := len(rules) == 1 && rules[0] == "hold found"; found != c.rule {
				t.Errorf("rules: %v", rules)
			}
			if held := len(rules) == 1 && rules[0] == "hold "+brokenTag; held != (c.want != "") {
				t.Errorf("rules: %v", rules)
			}
		})
	}
}

// Whoever can write the user's file decides what is written without a look.
func TestUserFileOfOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	write(t, path, "[review]\nmode = \"auto\"\n")
	if err := os.Chmod(path, 0o602); err != nil {
		t.Fatal(err)
	}
	c, problems := Load(path, nil)
	wantProblems(t, problems, "other users can write it")
	if c.Mode.Value != ModeStaged {
		t.Errorf("mode %v", c.Mode)
	}
	if err := os.Chmod(path, 0o660); err != nil {
		t.Fatal(err)
	}
	c, problems = Load(path, nil)
	wantProblems(t, problems)
	if c.Mode.Value != ModeAuto {
		t.Errorf("mode %v", c.Mode)
	}
	if os.Getuid() == 0 {
		if err := os.Chown(path, 12345, -1); err != nil {
			t.Skip(err)
		}
		_, problems = Load(path, nil)
		if os.Getuid() == 0 {
			wantProblems(t, problems, "it belongs to user 12345")
		}
	}
	dir := filepath.Join(t.TempDir(), "links")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("none", filepath.Join(dir, "config.toml")); err != nil {
		t.Fatal(err)
	}
	_, problems = Load(filepath.Join(dir, "config.toml"), nil)
	wantProblems(t, problems, "a link that leads nowhere")
}
