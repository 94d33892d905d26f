package sandbox

import (
	"fmt"
	"os"
	"sync"
)

// maxPacked is the size in bytes of the largest file whose bytes are packed. Of a larger
// one the base of a merge is the tree's file, while that has not changed.
const maxPacked = 32 << 20

// pack keeps, in one file, the bytes that the copy's files had: the base of a three-way
// merge, when both a command and somebody else have changed a file since.
type pack struct {
	file *os.File

	mu   sync.Mutex // guards the fields below
	end  int64
	dead int64 // bytes that no record names any more
}

// makePack makes the file, which must not exist.
func makePack(path string) (*pack, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("making the pack of base texts: %w", err)
	}
	return &pack{file: f}, nil
}

// put keeps data, which may be used again afterwards.
func (p *pack) put(data []byte) (body, error) {
	p.mu.Lock()
	at := p.end
	p.end += int64(len(data))
	p.mu.Unlock()
	if _, err := p.file.WriteAt(data, at); err != nil {
		return body{}, fmt.Errorf("packing a base text: %w", err)
	}
	return body{known: true, packed: true, at: at, size: int64(len(data))}, nil
}

func (p *pack) read(at, size int64) ([]byte, error) {
	data := make([]byte, size)
	if _, err := p.file.ReadAt(data, at); err != nil && size > 0 {
		return nil, fmt.Errorf("reading a base text: %w", err)
	}
	return data, nil
}

// drop says that a body is not needed any more.
func (p *pack) drop(b body) {
	if b.packed {
		p.mu.Lock()
		p.dead += b.size
		p.mu.Unlock()
	}
}

// wasteful reports whether most of the file is dead, and that it is worth the work.
func (p *pack) wasteful() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead > 64<<20 && p.dead > p.end/2
}

func (p *pack) close() error { return p.file.Close() }
