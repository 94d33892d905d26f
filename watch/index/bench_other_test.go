//go:build !unix

package index

import "time"

func usedCPU() time.Duration { return 0 }
