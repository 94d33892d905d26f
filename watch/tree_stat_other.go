//go:build !linux && !darwin

package watch

import "io/fs"

func keyOf(fs.FileInfo) fileKey { return fileKey{} }

// changeOf returns the time of the last change of an entry in ns, and whether
// other names lead to it. What is asked here is the same everywhere.
func changeOf(info fs.FileInfo) (ctime int64, linked bool) { return info.ModTime().UnixNano(), false }
