package watch

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// remoteFileSystems are the types, from statfs(2), whose files also change
// without this kernel's doing, of which inotify does not tell.
var remoteFileSystems = map[uint32]bool{
	unix.NFS_SUPER_MAGIC:  true,
	unix.SMB_SUPER_MAGIC:  true,
	unix.SMB2_SUPER_MAGIC: true,
	unix.CIFS_SUPER_MAGIC: true,
	unix.FUSE_SUPER_MAGIC: true,
	unix.V9FS_MAGIC:       true,
	unix.AFS_SUPER_MAGIC:  true,
	unix.CODA_SUPER_MAGIC: true,
	unix.CEPH_SUPER_MAGIC: true,
}

// eventless reports whether changes in dir can go without an event.
func eventless(dir string) bool {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return false
	}
	return remoteFileSystems[uint32(st.Type)]
}

// limitHint names the limit that err stands for and what raises it; "" when err
// stands for none.
func limitHint(err error) string {
	switch {
	case errors.Is(err, unix.ENOSPC):
		return inotifyLimit("watches", "max_user_watches", 524288)
	case errors.Is(err, unix.EMFILE):
		return inotifyLimit("instances", "max_user_instances", 1024)
	}
	return ""
}

// inotifyLimit advises the value that is the usual one in distributions for
// developers.
func inotifyLimit(what, name string, advice int) string {
	now := "unknown"
	if data, err := os.ReadFile("/proc/sys/fs/inotify/" + name); err == nil {
		now = strings.TrimSpace(string(data))
	}
	return fmt.Sprintf("this user's inotify %s are used up (fs.inotify.%s is %s; `sysctl fs.inotify.%s=%d` as root raises it)",
		what, name, now, name, advice)
}
