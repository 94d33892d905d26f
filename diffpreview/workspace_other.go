//go:build !unix

package diffpreview

const openNonblock = 0
