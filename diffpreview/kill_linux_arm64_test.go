package diffpreview

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// oldDiskCalls are those of diskCalls that only older architectures have.
var oldDiskCalls = map[uint64]string{}

// shortenWrite changes the third argument, the number of bytes, of the call that
// a thread is about to make.
func shortenWrite(tid int, n uint64) error {
	const general = 1 // NT_PRSTATUS
	var regs unix.PtraceRegsArm64
	err := unix.PtraceGetRegSetArm64(tid, general, &regs)
	if err == nil {
		regs.Regs[2] = n
		err = unix.PtraceSetRegSetArm64(tid, general, &regs)
	}
	if err != nil {
		return fmt.Errorf("registers: %w", err)
	}
	return nil
}
