//go:build amd64 || arm64

package diffpreview

import (
	"maps"

	"golang.org/x/sys/unix"
)

// diskCalls are the system calls that change a disk or make it keep a change,
// by number. What only opens, reads, looks or leases is not among them.
var diskCalls = map[uint64]string{
	unix.SYS_OPENAT: "openat", // to create or empty a file: see changes
	unix.SYS_WRITE:  "write", unix.SYS_PWRITE64: "pwrite64", unix.SYS_WRITEV: "writev",
	unix.SYS_PWRITEV: "pwritev", unix.SYS_PWRITEV2: "pwritev2",
	unix.SYS_FTRUNCATE: "ftruncate", unix.SYS_TRUNCATE: "truncate", unix.SYS_FALLOCATE: "fallocate",
	unix.SYS_COPY_FILE_RANGE: "copy_file_range",
	unix.SYS_FSYNC:           "fsync", unix.SYS_FDATASYNC: "fdatasync", unix.SYS_SYNCFS: "syncfs",
	unix.SYS_SYNC: "sync", unix.SYS_SYNC_FILE_RANGE: "sync_file_range",
	unix.SYS_RENAMEAT: "renameat", unix.SYS_RENAMEAT2: "renameat2", unix.SYS_LINKAT: "linkat",
	unix.SYS_SYMLINKAT: "symlinkat", unix.SYS_UNLINKAT: "unlinkat", unix.SYS_MKDIRAT: "mkdirat", unix.SYS_MKNODAT: "mknodat",
	unix.SYS_FCHMOD: "fchmod", unix.SYS_FCHMODAT: "fchmodat", unix.SYS_FCHMODAT2: "fchmodat2",
	unix.SYS_FCHOWN: "fchown", unix.SYS_FCHOWNAT: "fchownat", unix.SYS_UTIMENSAT: "utimensat",
	unix.SYS_SETXATTR: "setxattr", unix.SYS_LSETXATTR: "lsetxattr", unix.SYS_FSETXATTR: "fsetxattr",
	unix.SYS_REMOVEXATTR: "removexattr", unix.SYS_LREMOVEXATTR: "lremovexattr", unix.SYS_FREMOVEXATTR: "fremovexattr",
}

func init() { maps.Copy(diskCalls, oldDiskCalls) }
