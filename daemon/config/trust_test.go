//go:build unix

package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

const theirSet = "[toolsets.look]\ntools = [\"grep\"]\n[review]\nmode = \"blocking\"\n"

// trusting is a folder with a configuration, and where the record of trust is.
func trusting(t *testing.T) (root, record string, load func() Config) {
	t.Helper()
	root, record = t.TempDir(), filepath.Join(t.TempDir(), "trusted.json")
	write(t, WorkspacePath(root), theirSet)
	source := NewSourceOf(Origin{Roots: []string{root}, Trust: record})
	return root, record, func() Config {
		c, _, _ := source.Current()
		return c
	}
}

func saveTrust(t *testing.T, record string, trust Trust) {
	t.Helper()
	text, err := json.Marshal(trust)
	if err != nil {
		t.Fatal(err)
	}
	write(t, record, string(text))
}

// A file is trusted under its path, with its content, by a record that only the
// user can have written; what tightens needs none.
func TestTrust(t *testing.T) {
	root, record, load := trusting(t)
	expect := func(what string, sets int, state string) {
		t.Helper()
		c := load()
		if len(c.Toolsets) != sets || c.Files[0].Trust != state || c.Mode.Value != ModeBlocking {
			t.Errorf("%s: toolsets %+v, file %+v, mode %s", what, c.Toolsets, c.Files[0], c.Mode.Value)
		}
	}
	expect("without a record", 0, TrustWaits)
	var trust Trust
	content, exists, err := WorkspaceText(root)
	if err != nil || !exists || trust.Add(WorkspacePath(root), content, time.Now()) != nil {
		t.Fatalf("%v, %v", exists, err)
	}
	saveTrust(t, record, trust)
	expect("trusted", 1, TrustGiven)
	if read, err := ReadTrust(record); err != nil || len(read.Files) != 1 {
		t.Errorf("%+v, %v", read, err)
	}
	write(t, WorkspacePath(root), theirSet+"#")
	expect("another byte", 0, TrustWaits)
	write(t, WorkspacePath(root), theirSet)
	expect("as it was again", 1, TrustGiven)
	other := t.TempDir()
	write(t, WorkspacePath(other), theirSet)
	if trust.Has(WorkspacePath(other), content) {
		t.Error("a copy elsewhere is trusted")
	}
	write(t, record, "{")
	expect("a record that is none", 0, TrustWaits)
	saveTrust(t, record, trust)
	expect("trusted again", 1, TrustGiven)
	if err := os.Chmod(record, 0o666); err != nil {
		t.Fatal(err)
	}
	expect("a record that all can write", 0, TrustWaits)
	if !trust.Remove(WorkspacePath(root)) || trust.Remove(WorkspacePath(root)) {
		t.Error("removed not, or twice")
	}
}

// A workspace that holds the record, as somebody's home does, has changes of it
// held.
func TestTheRecordOfTrustIsHeld(t *testing.T) {
	root := t.TempDir()
	c, _ := Origin{Roots: []string{root}, Trust: filepath.Join(root, "state", "trusted.json")}.Load()
	for _, r := range c.Rules {
		if r.Name == "built-in: loomd's configuration" && r.Effect == EffectHold {
			return
		}
	}
	t.Errorf("%+v", c.Rules)
}
