package secret

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// defaultTimeout is how long a program may take that gives a secret: a person may
// have to unlock something.
const defaultTimeout = 30 * time.Second

// ask gets the bytes of a secret. The error says why not and holds nothing of them.
func (s *Set) ask(ctx context.Context, spec *Spec) ([]byte, fileStamp, error) {
	switch spec.Provider {
	case ProviderEnv:
		value, ok := s.variable(spec.Env)
		if !ok {
			return nil, fileStamp{}, fmt.Errorf("the daemon was started without the variable %s", spec.Env)
		}
		return []byte(value), fileStamp{}, nil
	case ProviderFile:
		return readPrivate(spec.File)
	case ProviderOp:
		argv := []string{"op", "read", "--no-newline", spec.Ref}
		if spec.Account != "" {
			argv = append(argv, "--account", spec.Account)
		}
		data, err := s.run(ctx, argv, spec.Timeout)
		return data, fileStamp{}, err
	case ProviderCommand:
		data, err := s.run(ctx, spec.Command, spec.Timeout)
		return data, fileStamp{}, err
	}
	return nil, fileStamp{}, fmt.Errorf("there is no provider %q", spec.Provider)
}

// variable is a variable of the start environment.
func (s *Set) variable(name string) (string, bool) {
	for i := len(s.environ) - 1; i >= 0; i-- { // the last one counts
		if key, value, ok := strings.Cut(s.environ[i], "="); ok && key == name {
			return value, true
		}
	}
	return "", false
}

// fileStamp tells whether a file is the one that it was.
type fileStamp struct {
	size    int64
	changed time.Time
	mode    fs.FileMode
}

func stampOf(path string) fileStamp {
	info, err := os.Stat(path)
	if err != nil {
		return fileStamp{}
	}
	return fileStamp{info.Size(), info.ModTime(), info.Mode()}
}

// readPrivate reads a file that nobody but its owner can read.
func readPrivate(path string) ([]byte, fileStamp, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, fileStamp{}, reasonOf(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fileStamp{}, reasonOf(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fileStamp{}, fmt.Errorf("%s is not a regular file", path)
	}
	if err := private(info); err != nil {
		return nil, fileStamp{}, fmt.Errorf("%s %w", path, err)
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxValue+3)) // with a line end, and to see that it is too long
	if err != nil {
		return nil, fileStamp{}, reasonOf(path, err)
	}
	return data, fileStamp{info.Size(), info.ModTime(), info.Mode()}, nil
}

func reasonOf(path string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// run is what a program prints. It has an empty stdin, no terminal, and a group of
// its own, which ends with it or after timeout. What it says on stderr is not
// repeated: nobody knows what it prints there.
func (s *Set) run(ctx context.Context, argv []string, timeout time.Duration) ([]byte, error) {
	path, err := s.find(argv[0])
	if err != nil {
		return nil, err
	}
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	running, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out := &bounded{left: MaxValue + 3, full: cancel}
	cmd := exec.CommandContext(running, path, argv[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdout = s.environ, string(filepath.Separator), out
	cmd.WaitDelay = time.Second // for who holds the pipe after the group was ended
	ownGroup(cmd)
	err = cmd.Run()
	endGroup(cmd)
	var exit *exec.ExitError
	switch {
	case out.left < 0:
		return nil, fmt.Errorf("%s printed more than %d bytes", path, MaxValue)
	case running.Err() != nil:
		return nil, fmt.Errorf("%s took longer than %v", path, timeout)
	case err == nil, errors.Is(err, exec.ErrWaitDelay): // what it left behind held the pipe
		return out.data, nil
	case errors.As(err, &exit):
		return nil, fmt.Errorf("%s ended with %v; run it by hand to see why", path, exit.ProcessState)
	}
	return nil, fmt.Errorf("%s does not run: %w", path, err)
}

// find is the absolute path of a program: in the PATH of the start environment
// when it is a bare name.
func (s *Set) find(name string) (string, error) {
	if filepath.IsAbs(name) {
		return name, nil
	}
	if filepath.Base(name) != name {
		return "", fmt.Errorf("%s: a program is a bare name or an absolute path", name)
	}
	list, _ := s.variable("PATH")
	for _, dir := range filepath.SplitList(list) {
		if !filepath.IsAbs(dir) {
			continue // would be another program in each folder
		}
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not on the PATH that the daemon was started with", name)
}

// bounded takes so many bytes, and calls full when there are more.
type bounded struct {
	data []byte
	left int
	full func()
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		b.full()
		return 0, io.ErrShortWrite
	}
	b.data = append(b.data, p...)
	return len(p), nil
}
