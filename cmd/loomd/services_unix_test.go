//go:build unix

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestServicesOfTheBinary: the real binary asks what is configured, with a key of
// its environment, and has it nowhere in what it prints or keeps.
func TestServicesOfTheBinary(t *testing.T) {
	const key = "key-0f-the-binary"
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-API-KEY") != key {
			w.WriteHeader(403)
			io.WriteString(w, `{"message":"not with `+r.Header.Get("X-API-KEY")+`"}`)
			return
		}
		io.WriteString(w, `{"organic":[{"title":"It says `+key+`","link":"https://a.example/","snippet":"S"}]}`)
	}))
	t.Cleanup(service.Close)
	dir, env := newWorkspace(t, "a\n")
	env = append(env, "SERPER="+key)
	config := strings.TrimSpace(loomdIn(t, dir, env, "config", "path"))
	for _, step := range []error{
		os.MkdirAll(filepath.Dir(config), 0o700),
		os.WriteFile(config, []byte("[web_search.serper]\nkey_env = \"SERPER\"\nurl = \""+service.URL+"/search\"\n"), 0o600),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	shown := loomdIn(t, dir, env, "config") + loomdIn(t, dir, env, "config", "--json")
	if !strings.Contains(shown, "web_search.serper        url "+service.URL+"/search, key_env SERPER ") {
		t.Errorf("loomd config:\n%.600s", shown)
	}
	found := loomdIn(t, dir, env, "call", "web_search", `{"query":"q"}`)
	if !strings.Contains(found, `"title": "It says [key]"`) || !strings.Contains(found, `"provider": "serper"`) {
		t.Errorf("found %s", found)
	}
	// The daemon's environment counts, not that of the command.
	for _, d := range daemonsIn(filepath.Dir(dir)) {
		d.end(15)
	}
	cmd := exec.Command("loomd", "call", "web_search", `{"query":"q"}`)
	cmd.Dir, cmd.Env = dir, append(env, "SERPER=another-key")
	failed, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(failed), `web_search: unavailable: `) || !strings.Contains(string(failed), `403 Forbidden: "not with [key]"`) {
		t.Errorf("another key: %v %s", err, failed)
	}
	if strings.Contains(shown+found, key) || strings.Contains(string(failed), "another-key") {
		t.Errorf("the key is told:\n%s\n%s\n%s", shown, found, failed)
	}
	kept := 0
	walk := filepath.WalkDir(filepath.Dir(dir), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if kept++; err == nil && (strings.Contains(string(text), key) || strings.Contains(string(text), "another-key")) {
			t.Errorf("%s holds the key", path)
		}
		return err
	})
	if walk != nil || kept < 3 {
		t.Errorf("%d files, %v", kept, walk)
	}
}
