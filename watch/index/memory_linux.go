package index

import "golang.org/x/sys/unix"

// preferHugePages is a wish: a kernel without them says no, and that is fine.
func preferHugePages(b []byte) {
	if err := unix.Madvise(b, unix.MADV_HUGEPAGE); err != nil {
		return
	}
}

// totalMemory is what the machine has, in bytes; 0 if that cannot be known.
func totalMemory() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return int64(info.Totalram) * int64(info.Unit)
}
