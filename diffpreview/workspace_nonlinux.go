//go:build !linux

package diffpreview

import "os"

func mayWrite(root *os.Root, rel string) error { return openToWrite(root, rel) }
