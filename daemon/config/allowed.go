package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// Allowed is a command that a person has allowed for good when asked. It is kept
// in a private file beside the daemon's state, never in a workspace.
type Allowed struct {
	ID      string    `json:"id"`
	Tool    string    `json:"tool"`
	Command string    `json:"command"` // the very text that is allowed
	By      string    `json:"by"`
	Since   time.Time `json:"since"`
}

// allowedFile is the form of the file.
type allowedFile struct {
	Version int       `json:"version"` // 1
	Allowed []Allowed `json:"allowed"`
}

// maxAllowed bounds the file in bytes: a thousand commands of the greatest length.
const maxAllowed = 64 << 20

// EncodeAllowed is the content of the file.
func EncodeAllowed(list []Allowed) ([]byte, error) {
	return json.MarshalIndent(allowedFile{1, list}, "", "  ")
}

// ReadAllowed reads the file at path; one that does not exist allows nothing. One
// that is not understood, or that others can write, is an error, and allows
// nothing either.
func ReadAllowed(path string) ([]Allowed, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|openNonblock, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading what is allowed for good: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = trusted(info)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading what is allowed for good: %s: %w", path, err)
	case !info.Mode().IsRegular() || info.Size() > maxAllowed:
		return nil, fmt.Errorf("reading what is allowed for good: %s is no file, or too large", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxAllowed))
	if err != nil {
		return nil, fmt.Errorf("reading what is allowed for good: %w", err)
	}
	var content allowedFile
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&content); err != nil {
		return nil, fmt.Errorf("reading what is allowed for good: %s: %w", path, err)
	}
	if content.Version != 1 {
		return nil, fmt.Errorf("reading what is allowed for good: %s has version %d", path, content.Version)
	}
	return content.Allowed, nil
}
