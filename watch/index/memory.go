package index

// smallRegion is the size below which pages of its own would waste more than
// they save.
const smallRegion = 64 << 10

// region is memory for bytes that live as long as a part. Large ones are off
// Go's heap, so the collector neither counts nor visits them.
type region struct {
	bytes  []byte
	mapped bool
}

func newRegion(size int) region {
	if size >= smallRegion {
		if b := mapMemory(size); b != nil {
			return region{b, true}
		}
	}
	return region{make([]byte, size), false}
}

// free gives the memory back. Whoever still reads it would fault.
func (r *region) free() {
	if r.mapped {
		unmapMemory(r.bytes)
	}
	*r = region{}
}

// Without a budget given, texts take a quarter of the machine's memory, and at
// most 2 GiB: more than that surprises on a machine that does other work.
const (
	defaultShare  = 4
	defaultMemory = 2 << 30
)

func budgetOf(given int64) int64 {
	if given > 0 {
		return given
	}
	if total := totalMemory(); total > 0 {
		return min(total/defaultShare, defaultMemory)
	}
	return defaultMemory / 2
}
