package sandbox

import (
	"io/fs"
	"syscall"
)

func systemStamp(info fs.FileInfo) (ctime int64, ino uint64) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ctimespec.Nano(), st.Ino
	}
	return 0, 0
}
