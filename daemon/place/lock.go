package place

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ErrLocked is returned by [Lock] when a living process holds the lock.
var ErrLocked = errors.New("locked by another process")

// lockPatience bounds how long [Lock] waits for a holder to write its pid, and
// for a holder that is ending to let go. Both take microseconds.
const lockPatience = 200 * time.Millisecond

// Lock takes the lock file at path, making it and its directory when missing,
// and writes this process's pid into it. The lock lasts until [Unlock] or the
// end of the process, however it ends; the file stays. When another process
// holds it, the error is [ErrLocked] and pid is that process's, 0 when it
// cannot be told.
func Lock(path string) (lock *os.File, pid int, err error) {
	if err := MakePrivateDir(filepath.Dir(path)); err != nil {
		return nil, 0, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, 0, fmt.Errorf("opening the lock: %w", err)
	}
	for end := time.Now().Add(lockPatience); ; {
		err := tryLock(f)
		if err == nil {
			break
		}
		if !errors.Is(err, ErrLocked) {
			f.Close()
			return nil, 0, fmt.Errorf("taking the lock %s: %w", path, err)
		}
		// The pid of a holder that died is still there for a moment after
		// its successor got the lock.
		h, _ := readHolder(f)
		if alive(h.PID) || time.Now().After(end) {
			f.Close()
			return nil, h.PID, ErrLocked
		}
		time.Sleep(5 * time.Millisecond)
	}
	if err := writeHolder(f, Holder{PID: os.Getpid()}); err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, 0, nil
}

// Announce writes into a lock that this process holds where it listens, so that
// a client that looks elsewhere finds it: one of another environment, or one
// that knows only one of several roots.
func Announce(lock *os.File, socket string) error {
	return writeHolder(lock, Holder{PID: os.Getpid(), Socket: socket})
}

// Unlock gives a lock back.
func Unlock(lock *os.File) error {
	terr := lock.Truncate(0)
	return errors.Join(terr, lock.Close())
}

// Holder is what a lock file says about the process that holds it.
type Holder struct {
	PID    int    // 0: nobody, or not told yet
	Socket string // where it listens; "" when it did not say
}

// WhoHolds reads the lock file at path without taking the lock. What it returns
// can be left over from a process that was killed: only an answer on Socket
// shows that it lives. A missing file is a zero Holder.
func WhoHolds(path string) (Holder, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return Holder{}, nil
	}
	if err != nil {
		return Holder{}, fmt.Errorf("reading the lock: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Holder{}, fmt.Errorf("reading the lock: %w", err)
	}
	if err := checkOwner(path, info); err != nil {
		return Holder{}, err
	}
	return readHolder(f)
}

// maxHolder bounds what is read of a lock file: a pid and a path.
const maxHolder = 4096

func readHolder(f *os.File) (Holder, error) {
	data, err := io.ReadAll(io.NewSectionReader(f, 0, maxHolder))
	if err != nil {
		return Holder{}, fmt.Errorf("reading the lock: %w", err)
	}
	first, rest, _ := strings.Cut(string(data), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil || pid <= 0 {
		return Holder{}, nil
	}
	socket, _, whole := strings.Cut(rest, "\n")
	if !whole {
		socket = ""
	}
	return Holder{PID: pid, Socket: socket}, nil
}

// writeHolder replaces the file's text by one write, so that a reader sees the
// old or the new.
func writeHolder(f *os.File, h Holder) error {
	text := fmt.Sprintf("%d\n", h.PID)
	if h.Socket != "" {
		text += h.Socket + "\n"
	}
	if _, err := f.WriteAt([]byte(text), 0); err != nil {
		return fmt.Errorf("writing the lock: %w", err)
	}
	if err := f.Truncate(int64(len(text))); err != nil {
		return fmt.Errorf("writing the lock: %w", err)
	}
	return nil
}
