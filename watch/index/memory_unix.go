//go:build unix

package index

import "golang.org/x/sys/unix"

// hugeRegion is the size from which on large pages are asked for: they make the
// first touch of fresh memory cheaper.
const hugeRegion = 4 << 20

// mapMemory returns size zeroed bytes, or nil if there are none to be had.
func mapMemory(size int) []byte {
	b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	if size >= hugeRegion {
		preferHugePages(b)
	}
	return b
}

func unmapMemory(b []byte) {
	if err := unix.Munmap(b); err != nil {
		panic("index: unmapping memory: " + err.Error()) // not ours, or freed twice
	}
}
