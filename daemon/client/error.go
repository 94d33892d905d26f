package client

import (
	"errors"
	"fmt"

	loom "github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/daemon/rpc"
)

// Error is an error answer of the daemon.
type Error struct {
	Code    int64 // JSON-RPC's or LSP's
	Message string
	Data    loom.ErrorData
}

func (e *Error) Error() string { return e.Message }

// IsUsage says that the request itself was wrong, so that sending it again
// cannot help.
func (e *Error) IsUsage() bool {
	return e.Code == rpc.CodeInvalidParams || e.Code == rpc.CodeMethodNotFound || e.Code == rpc.CodeInvalidRequest
}

// wireError makes an *[Error] of an error answer and leaves other errors alone.
func wireError(err error) error {
	var wire *rpc.Error
	if !errors.As(err, &wire) {
		return err
	}
	e := &Error{Code: wire.Code, Message: wire.Message}
	// Data of another shape only says less.
	_ = wire.DecodeData(&e.Data)
	return e
}

// ErrNotRunning says that no daemon serves the roots.
var ErrNotRunning = errors.New("no daemon is running")

// ErrClosed says that the connection ended before an answer came: the daemon has
// ended.
var ErrClosed = rpc.ErrClosed

// NoDaemonError says why there is no daemon to speak to.
type NoDaemonError struct {
	Socket string // where one was looked for
	Log    string // file that may say more; "" when there is none
	Tried  bool   // one was to be started
	Err    error
}

func (e *NoDaemonError) Error() string {
	switch {
	case e.Tried && e.Log != "":
		return fmt.Sprintf("the daemon cannot be started: %v (its log is %s)", e.Err, e.Log)
	case e.Tried:
		return fmt.Sprintf("the daemon cannot be started: %v", e.Err)
	case errors.Is(e.Err, ErrNotRunning):
		return fmt.Sprintf("no daemon answers on %s", e.Socket)
	}
	return fmt.Sprintf("no daemon can be used on %s: %v", e.Socket, e.Err)
}

func (e *NoDaemonError) Unwrap() error { return e.Err }
