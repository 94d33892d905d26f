package watch

import (
	"io/fs"
	"syscall"
)

func keyOf(info fs.FileInfo) fileKey {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return fileKey{uint64(st.Dev), st.Ino}
	}
	return fileKey{}
}

// changeOf returns the time of the last change of an entry in ns, and whether
// other names lead to it.
func changeOf(info fs.FileInfo) (ctime int64, linked bool) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ctimespec.Nano(), !info.IsDir() && st.Nlink > 1
	}
	return info.ModTime().UnixNano(), false
}
