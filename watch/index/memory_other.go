//go:build !unix

package index

func mapMemory(int) []byte { return nil }

func unmapMemory([]byte) {}

func totalMemory() int64 { return 0 }
