package config

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestAllowedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "allowed.json")
	if list, err := ReadAllowed(path); err != nil || len(list) > 0 {
		t.Errorf("without a file: %v, %v", list, err)
	}
	want := Allowed{"q1", "bash", "make\n", "ada", time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)}
	data, err := EncodeAllowed([]Allowed{want})
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, string(data))
	if list, err := ReadAllowed(path); err != nil || len(list) != 1 || list[0] != want {
		t.Errorf("%v, %v", list, err)
	}
	for _, text := range []string{"", "{", `{"version":2,"allowed":[]}`, `{"version":1,"allowed":[{"id":"q1","pattern":"*"}]}`, `[]`} {
		write(t, path, text)
		if list, err := ReadAllowed(path); err == nil || len(list) > 0 {
			t.Errorf("%q: %v, %v", text, list, err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadAllowed(path); err == nil {
		t.Error("a folder is read")
	}
}
