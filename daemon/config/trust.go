package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"
)

// Trust is which workspaces' files the user trusts: a file is trusted as it was
// when the user said so, and no more when a byte of it has changed. It is kept
// outside of every workspace by who has the right to write there.
type Trust struct {
	Files []TrustedFile `json:"files"`
}

// TrustedFile is one file, as it was.
type TrustedFile struct {
	Path   string `json:"path"` // absolute, links resolved
	SHA256 string `json:"sha256"`
	Since  string `json:"since"` // RFC 3339, UTC
}

// maxTrust bounds the record in bytes, and maxTrusted the files in it.
const (
	maxTrust   = 4 << 20
	maxTrusted = 10_000
)

// ReadTrust reads the record at path. One that does not exist trusts nothing; one
// that cannot be read neither, and the error says why.
func ReadTrust(path string) (Trust, error) {
	t := readTrust(path)
	return t.trust()
}

func readTrust(path string) text {
	f, err := os.OpenFile(path, os.O_RDONLY|openNonblock, 0)
	if errors.Is(err, os.ErrNotExist) {
		return text{path: path}
	}
	t := text{path: path}
	if err != nil {
		t.fail(err)
		return t
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		t.stat = stat{true, info}
		if err = trusted(info); err == nil && !info.Mode().IsRegular() {
			err = errors.New("not a regular file")
		}
	}
	if err == nil {
		t.data, err = io.ReadAll(io.LimitReader(f, maxTrust+1))
	}
	if err == nil && len(t.data) > maxTrust {
		err = fmt.Errorf("more than %d bytes", maxTrust)
	}
	if err != nil {
		t.fail(err)
	}
	return t
}

// trust makes sense of the record.
func (t text) trust() (Trust, error) {
	var out Trust
	switch {
	case t.failed != "":
		return out, fmt.Errorf("what you trust cannot be read: %s", t.failed)
	case !t.stat.exists:
		return out, nil
	}
	if err := json.Unmarshal(t.data, &out); err != nil {
		return Trust{}, fmt.Errorf("what you trust cannot be read: %w", err)
	}
	return out, nil
}

// Has reports whether the file at path is trusted with this content.
func (t Trust) Has(path string, content []byte) bool {
	sum, real := sumOf(content), realPath(path)
	return slices.ContainsFunc(t.Files, func(f TrustedFile) bool { return f.Path == real && f.SHA256 == sum })
}

// Add trusts the file at path with this content, in the place of what it was.
func (t *Trust) Add(path string, content []byte, now time.Time) error {
	t.Remove(path)
	if len(t.Files) == maxTrusted {
		return fmt.Errorf("more than %d trusted files: remove some", maxTrusted)
	}
	t.Files = append(t.Files, TrustedFile{realPath(path), sumOf(content), now.UTC().Format(time.RFC3339)})
	return nil
}

// Remove trusts the file at path no more and reports whether it was.
func (t *Trust) Remove(path string) bool {
	before, real := len(t.Files), realPath(path)
	t.Files = slices.DeleteFunc(t.Files, func(f TrustedFile) bool { return f.Path == real })
	return len(t.Files) < before
}

func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// adds reports whether the file may say what the key does, which is more than to
// tighten: the user's may, and a workspace's that the user trusts.
func (f *file) adds(s *section, key string) bool {
	if !f.workspace || f.trusted || s.table[key] == nil {
		return true
	}
	s.known = append(s.known, key)
	p := s.describe(key, "does not count before you trust this file: look at it, then run loomd trust")
	p.Ignored, p.Waits = true, true
	f.problems = append(f.problems, p)
	return false
}

// WorkspaceText is the content of the file of the workspace at root, as it is read
// for its settings; exists is false when there is none.
func WorkspaceText(root string) (content []byte, exists bool, err error) {
	t := readWorkspace(root)
	if t.failed != "" {
		return nil, true, fmt.Errorf("%s: cannot be read: %s", t.path, t.failed)
	}
	return t.data, t.stat.exists, nil
}
