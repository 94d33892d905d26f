package place

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const shortTemp = ""

const sharedMemory = ""

// A profile's directories belong to its user; permission bits say nothing here.
func checkOwner(string, fs.FileInfo) error { return nil }

// A file system's access lists are asked only by making something.
func checkWritable(string) error { return nil }

func othersMayUse(fs.FileInfo) bool { return false }

func platformStateBase() (string, error) {
	dir, err := os.UserCacheDir() // %LocalAppData%
	if err != nil {
		return "", fmt.Errorf("finding the state directory: %w", err)
	}
	return filepath.Join(dir, "loomd", "state"), nil
}
