package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/loomd/loomd/diffpreview"
)

// dismount takes away all that is mounted at or below a folder. What a command mounts in
// the copy outlives it, and is a place outside: no walk may take its files for the
// session's, and none be removed with the copy. That the folder is not there is no error;
// a mount that this user may not take away is one, unavailable.
func dismount(folder string) error {
	real, err := filepath.EvalSymlinks(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking for mounts: %w", err)
	}
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return fmt.Errorf("looking for mounts: %w", err)
	}
	points := mountsBelow(string(table), real)
	for i := len(points) - 1; i >= 0; i-- { // the table has them as they were made: one upon another
		err := unix.Unmount(points[i], unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
		if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) { // gone already
			return &diffpreview.Error{
				Code: diffpreview.CodeUnavailable, Err: err,
				Message: fmt.Sprintf("a command has mounted something in its copy of the workspace, which cannot be unmounted: %s: %v", points[i], err),
				Hint:    "a person must unmount it: no command runs, and the copy is not removed, while it is there",
			}
		}
	}
	return nil
}

// mountsBelow finds the mount points at or below a folder in a table of the form of
// /proc/self/mountinfo, in the table's order.
func mountsBelow(table, folder string) []string {
	var points []string
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		point := mountName.Replace(fields[4])
		if point == folder || strings.HasPrefix(point, folder+"/") {
			points = append(points, point)
		}
	}
	return points
}

// mountName undoes what the kernel does to names in the table.
var mountName = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
