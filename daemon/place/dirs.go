package place

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// NotPrivateError is a directory, file or socket that somebody else could own,
// read or have put there. It is never used.
type NotPrivateError struct {
	Path   string
	Reason string // "is a symbolic link", "belongs to uid 0", ...
}

func (e *NotPrivateError) Error() string {
	return fmt.Sprintf("%s is not private: it %s", e.Path, e.Reason)
}

// MakePrivateDir makes dir and the directories above it that are missing, all
// 0700 whatever the umask, or checks the one that is there: see
// [CheckPrivateDir].
func MakePrivateDir(dir string) error {
	err := CheckPrivateDir(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(dir)
	if _, err := os.Stat(parent); errors.Is(err, fs.ErrNotExist) && parent != dir {
		if err := MakePrivateDir(parent); err != nil {
			return err
		}
	}
	switch err := os.Mkdir(dir, 0o700); {
	case errors.Is(err, fs.ErrExist): // somebody was faster: it is checked below
	case err != nil:
		return fmt.Errorf("making a private directory: %w", err)
	default:
		// A umask can only have taken bits away: from the owner, too.
		if err := os.Chmod(dir, 0o700); err != nil {
			return fmt.Errorf("making a private directory: %w", err)
		}
	}
	return CheckPrivateDir(dir)
}

// CheckPrivateDir returns nil when dir is a directory (not a link to one) that
// belongs to this user and that nobody else can enter, a *[NotPrivateError]
// when it is something else, and an error that is [fs.ErrNotExist] when there
// is nothing.
func CheckPrivateDir(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return &NotPrivateError{dir, "is a symbolic link"}
	case !info.IsDir():
		return &NotPrivateError{dir, "is not a directory"}
	}
	if err := checkOwner(dir, info); err != nil {
		return err
	}
	if othersMayUse(info) {
		return &NotPrivateError{dir, fmt.Sprintf("has mode %04o (chmod 700 would help)", info.Mode().Perm())}
	}
	return nil
}

// KeepUnseen puts an ignore file into a private directory, so that neither git nor any
// search sees what is in it where it lies within a workspace, as under a home that is
// one. An ignore file that is there stays.
func KeepUnseen(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, ".gitignore"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		_, err = f.WriteString("*\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("keeping a private directory from searches: %w", err)
	}
	return nil
}

// CheckMakeable returns nil when [MakePrivateDir] can make dir, which does not
// exist: the nearest directory above it that does can be written by this user.
// The error names that directory. It creates nothing.
func CheckMakeable(dir string) error {
	parent := filepath.Dir(dir)
	info, err := os.Stat(parent)
	switch {
	case errors.Is(err, fs.ErrNotExist) && parent != dir:
		return CheckMakeable(parent)
	case err != nil:
		return fmt.Errorf("%s cannot be made: %w", dir, err)
	case !info.IsDir():
		return fmt.Errorf("%s cannot be made: %s is not a directory", dir, parent)
	}
	if err := checkWritable(parent); err != nil {
		return fmt.Errorf("%s cannot be made in %s: %w", dir, parent, err)
	}
	return nil
}

// socketDir picks the directory of private sockets whose file names take room
// bytes, separator included.
func socketDir(room int) (string, error) {
	var dirs []string
	if run := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(run) && CheckPrivateDir(run) == nil {
		dirs = append(dirs, filepath.Join(run, "loomd"))
	}
	name := "loomd-" + strconv.Itoa(os.Getuid())
	dirs = append(dirs, filepath.Join(os.TempDir(), name))
	if shortTemp != "" {
		dirs = append(dirs, filepath.Join(shortTemp, name))
	}
	for _, d := range dirs {
		if len(d)+max(room, bindRoom) <= maxSocketPath {
			return d, nil
		}
	}
	return "", fmt.Errorf("no directory for the socket has a short enough name (at most %d bytes): %q",
		maxSocketPath-max(room, bindRoom), dirs)
}

// stateBase is the directory that holds the state of every set of roots.
func stateBase() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "loomd"), nil
	}
	return platformStateBase()
}

// ScratchDirs are where a daemon may have a private directory for files that
// live for a moment, the best first: in memory, so that no disk has to write
// them down, else beside its state, else among temporary files.
func (p Place) ScratchDirs() []string {
	name := "scratch-" + filepath.Base(p.StateDir)
	mine := "loomd-" + strconv.Itoa(os.Getuid())
	var dirs []string
	if run := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(run) && CheckPrivateDir(run) == nil {
		dirs = append(dirs, filepath.Join(run, "loomd-"+name))
	}
	if sharedMemory != "" {
		dirs = append(dirs, filepath.Join(sharedMemory, mine, name))
	}
	return append(dirs, filepath.Join(p.StateDir, "scratch"), filepath.Join(os.TempDir(), mine+"-"+name))
}

// SandboxDirs are where a daemon may have the private copies of a workspace that
// commands run in, the best first: beside its state, else among temporary files. They
// can be large, and so are not in memory.
func (p Place) SandboxDirs() []string {
	return []string{
		filepath.Join(p.StateDir, "sandboxes"),
		filepath.Join(os.TempDir(), "loomd-"+strconv.Itoa(os.Getuid())+"-sandboxes-"+filepath.Base(p.StateDir)),
	}
}

// RemoveDir takes away a directory of a daemon's that is empty, and the one above
// it if that is then. What is left is no harm.
func RemoveDir(dir string) {
	if os.Remove(dir) == nil {
		_ = os.Remove(filepath.Dir(dir))
	}
}

// FreshPrivateDir makes dir as [MakePrivateDir] does, without what was in it.
// What is there and not private is an error, and stays.
func FreshPrivateDir(dir string) error {
	switch err := CheckPrivateDir(dir); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("emptying a private directory: %w", err)
		}
	}
	return MakePrivateDir(dir)
}
