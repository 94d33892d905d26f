package diffpreview

import "golang.org/x/sys/unix"

// oldDiskCalls are those of diskCalls that only older architectures have.
var oldDiskCalls = map[uint64]string{
	unix.SYS_OPEN: "open", unix.SYS_CREAT: "creat", unix.SYS_RENAME: "rename", unix.SYS_LINK: "link",
	unix.SYS_SYMLINK: "symlink", unix.SYS_UNLINK: "unlink", unix.SYS_MKDIR: "mkdir", unix.SYS_RMDIR: "rmdir",
	unix.SYS_MKNOD: "mknod", unix.SYS_CHMOD: "chmod", unix.SYS_CHOWN: "chown", unix.SYS_LCHOWN: "lchown",
	unix.SYS_UTIME: "utime", unix.SYS_UTIMES: "utimes", unix.SYS_FUTIMESAT: "futimesat",
}

// systemCall is the state of a thread that is about to make a system call.
type systemCall struct{ regs unix.PtraceRegs }

func (c *systemCall) get(tid int) error { return unix.PtraceGetRegs(tid, &c.regs) }

func (c *systemCall) number() uint64 { return c.regs.Orig_rax }

func (c *systemCall) arg(n int) uint64 { return [...]uint64{c.regs.Rdi, c.regs.Rsi, c.regs.Rdx}[n] }

// setArg2 changes the third argument of the call.
func (c *systemCall) setArg2(tid int, value uint64) error {
	c.regs.Rdx = value
	return unix.PtraceSetRegs(tid, &c.regs)
}
