//go:build unix && !linux

package index_test

import "testing"

// maxQueued has no meaning here: there is no queue that overflows.
func maxQueued(*testing.T) int { return 2000 }

func beforeServing(*testing.T) {}
