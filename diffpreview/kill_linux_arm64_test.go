package diffpreview

import "golang.org/x/sys/unix"

// oldDiskCalls are those of diskCalls that only older architectures have.
var oldDiskCalls = map[uint64]string{}

// generalRegisters is NT_PRSTATUS of elf.h.
const generalRegisters = 1

// systemCall is the state of a thread that is about to make a system call.
type systemCall struct{ regs unix.PtraceRegsArm64 }

func (c *systemCall) get(tid int) error {
	return unix.PtraceGetRegSetArm64(tid, generalRegisters, &c.regs)
}

func (c *systemCall) number() uint64 { return c.regs.Regs[8] }

func (c *systemCall) arg(n int) uint64 { return c.regs.Regs[n] }

// setArg2 changes the third argument of the call.
func (c *systemCall) setArg2(tid int, value uint64) error {
	c.regs.Regs[2] = value
	return unix.PtraceSetRegSetArm64(tid, generalRegisters, &c.regs)
}
