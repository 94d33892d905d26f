package place

import (
	"errors"
	"fmt"
	"net"
)

// ListenPrivate is not supported here: the private listener of Windows is a
// named pipe, which this build does not have. The error is
// [errors.ErrUnsupported].
func ListenPrivate(path string) (net.Listener, error) {
	return nil, fmt.Errorf("listening on %s: private sockets on windows: %w", path, errors.ErrUnsupported)
}
