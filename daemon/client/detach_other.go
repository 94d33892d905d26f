//go:build !unix

package client

import (
	"errors"
	"fmt"
	"os/exec"
)

func detach(*exec.Cmd) error {
	return fmt.Errorf("starting a daemon in the background on this system: %w", errors.ErrUnsupported)
}
