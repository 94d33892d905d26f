package diffpreview

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// oldDiskCalls are those of diskCalls that only older architectures have.
var oldDiskCalls = map[uint64]string{
	unix.SYS_OPEN: "open", unix.SYS_CREAT: "creat", unix.SYS_RENAME: "rename", unix.SYS_LINK: "link",
	unix.SYS_SYMLINK: "symlink", unix.SYS_UNLINK: "unlink", unix.SYS_MKDIR: "mkdir", unix.SYS_RMDIR: "rmdir",
	unix.SYS_MKNOD: "mknod", unix.SYS_CHMOD: "chmod", unix.SYS_CHOWN: "chown", unix.SYS_LCHOWN: "lchown",
	unix.SYS_UTIME: "utime", unix.SYS_UTIMES: "utimes", unix.SYS_FUTIMESAT: "futimesat",
}

// shortenWrite changes the third argument, the number of bytes, of the call that
// a thread is about to make.
func shortenWrite(tid int, n uint64) error {
	var regs unix.PtraceRegs
	err := unix.PtraceGetRegs(tid, &regs)
	if err == nil {
		regs.Rdx = n
		err = unix.PtraceSetRegs(tid, &regs)
	}
	if err != nil {
		return fmt.Errorf("registers: %w", err)
	}
	return nil
}
