package diffpreview

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// mayWrite asks the kernel instead of opening the file to write, which inotify
// reports as a write when the file is closed: build tools would run.
func mayWrite(root *os.Root, rel string) error {
	f, err := openAtOnce(root, rel, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	err = unix.Faccessat(int(f.Fd()), "", unix.W_OK, unix.AT_EMPTY_PATH|unix.AT_EACCESS)
	if errors.Is(err, unix.EINVAL) { // before Linux 5.8, or an immutable file
		return openToWrite(root, rel)
	}
	return err
}
