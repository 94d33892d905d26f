package tools

import "io/fs"

// inodeOf: a file's number is not in what Windows tells of it here.
func inodeOf(fs.FileInfo) uint64 { return 0 }
