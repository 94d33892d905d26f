//go:build !linux && !darwin

package place

import (
	"errors"
	"fmt"
	"net"
)

// PeerUID is not supported here; the error is [errors.ErrUnsupported].
func PeerUID(*net.UnixConn) (int, error) {
	return -1, fmt.Errorf("a peer's user: %w", errors.ErrUnsupported)
}
