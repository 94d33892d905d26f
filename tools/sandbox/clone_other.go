//go:build !linux

package sandbox

import (
	"errors"
	"os"
)

func clone(*os.File, *os.File) error { return errors.ErrUnsupported }
