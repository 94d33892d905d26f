package main

import (
	"runtime"
	"sync"
	"time"
)

// bandwidthBytes is much larger than any cache.
const bandwidthBytes = 1 << 30

// bandwidth is how fast all processors together read memory, in bytes a second:
// the limit of everything that looks at all texts. It is the best of a few
// passes, as a limit is.
func bandwidth() float64 {
	data := make([]uint64, bandwidthBytes/8)
	for i := range data {
		data[i] = uint64(i)
	}
	workers := runtime.GOMAXPROCS(0)
	sums := make([]uint64, workers*16) // one cache line and more each
	best := 0.0
	for range 5 {
		start := time.Now()
		var wait sync.WaitGroup
		for w := range workers {
			part := data[w*len(data)/workers : (w+1)*len(data)/workers]
			wait.Go(func() { sums[w*16] += sum(part) })
		}
		wait.Wait()
		best = max(best, bandwidthBytes/time.Since(start).Seconds())
	}
	runtime.KeepAlive(sums)
	return best
}

// sum adds in four chains, so that the adding is not what takes the time.
func sum(part []uint64) uint64 {
	var a, b, c, d uint64
	for ; len(part) >= 8; part = part[8:] {
		p := part[:8:8]
		a += p[0] + p[4]
		b += p[1] + p[5]
		c += p[2] + p[6]
		d += p[3] + p[7]
	}
	return a + b + c + d
}
