package place

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
)

// ErrAnswered says that somebody serves a socket already.
var ErrAnswered = errors.New("somebody answers on this socket")

// CheckPeer returns nil when the process at the other end of conn runs as this
// user, a *[NotPrivateError] when it does not.
func CheckPeer(conn *net.UnixConn) error {
	uid, err := PeerUID(conn)
	if err != nil {
		return fmt.Errorf("asking who is at the other end: %w", err)
	}
	if uid != os.Getuid() {
		name := conn.RemoteAddr().String()
		if name == "" || name == "@" {
			name = conn.LocalAddr().String()
		}
		return &NotPrivateError{name, fmt.Sprintf("is used by uid %d", uid)}
	}
	return nil
}

// Dial connects to the socket of a daemon of this user. Its directory, when it
// is one of the private ones (private is true), is checked first; the process
// that answers is checked always.
func Dial(ctx context.Context, path string, private bool) (*net.UnixConn, error) {
	if private {
		if err := CheckPrivateDir(filepath.Dir(path)); err != nil {
			return nil, err
		}
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	conn := c.(*net.UnixConn)
	if err := CheckPeer(conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}
