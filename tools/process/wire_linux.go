package process

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// What the daemon and a supervisor, which are the same program, say to each other.
// A message to the supervisor is its length in four bytes and as many bytes: none to
// cancel, or a command, whose first byte has the two ends of pipes with it. The
// supervisor sends readyByte when it has started, and a wireResult for each command.

const readyByte = 'r'

// wireCommand is what a supervisor needs of a Command.
type wireCommand struct {
	path, dir string
	timeout   time.Duration
	args, env []string
}

// maxMessage bounds a command in bytes. The system itself takes less.
const maxMessage = 64 << 20

var errMessage = errors.New("a message that is none")

// encode is the command as strings, each with a NUL behind it: none has one in it.
func (w *wireCommand) encode() ([]byte, error) {
	var b strings.Builder
	b.WriteString("\x00\x00\x00\x00")
	put := func(list ...string) {
		for _, s := range list {
			b.WriteString(s)
			b.WriteByte(0)
		}
	}
	put(w.path, w.dir, strconv.FormatInt(int64(w.timeout), 10), strconv.Itoa(len(w.args)))
	put(w.args...)
	put(w.env...)
	out := []byte(b.String())
	if len(out) > maxMessage {
		return nil, fmt.Errorf("a command of %d bytes is too long", len(out))
	}
	binary.LittleEndian.PutUint32(out, uint32(len(out)-4))
	return out, nil
}

func decodeCommand(payload []byte) (*wireCommand, error) {
	fields := strings.Split(string(payload), "\x00")
	if len(fields) < 5 {
		return nil, errMessage
	}
	timeout, err1 := strconv.ParseInt(fields[2], 10, 64)
	args, err2 := strconv.Atoi(fields[3])
	rest := fields[4 : len(fields)-1]
	if err1 != nil || err2 != nil || args < 0 || args > len(rest) {
		return nil, errMessage
	}
	return &wireCommand{path: fields[0], dir: fields[1], timeout: time.Duration(timeout), args: rest[:args], env: rest[args:]}, nil
}

// wireResult is how a command ended.
type wireResult struct {
	kind     int64
	status   int64 // a wait status, or the error number of a command that did not start
	why      int64 // it was ended, or 0
	duration int64 // in nanoseconds
	killed   int64
	left     int64
}

const (
	notStarted = 1
	hasEnded   = 2

	timedOut  = 1
	cancelled = 2
)

const resultSize = 6 * 8

func (w *wireResult) fields() []*int64 {
	return []*int64{&w.kind, &w.status, &w.why, &w.duration, &w.killed, &w.left}
}

func (w *wireResult) encode() []byte {
	var out []byte
	for _, f := range w.fields() {
		out = binary.LittleEndian.AppendUint64(out, uint64(*f))
	}
	return out
}

func (w *wireResult) decode(p []byte) {
	for i, f := range w.fields() {
		*f = int64(binary.LittleEndian.Uint64(p[i*8:]))
	}
}

// receive reads one message to the supervisor from a socket, with the descriptors that
// came with it.
func receive(fd int) (payload []byte, fds []int, err error) {
	var head [4]byte
	oob := make([]byte, unix.CmsgSpace(2*4))
	if err := readFull(head[:], func(p []byte) (n int, err error) {
		n, oobn, _, _, err := unix.Recvmsg(fd, p, oob, unix.MSG_CMSG_CLOEXEC)
		if err == nil && oobn > 0 {
			fds, err = rights(oob[:oobn])
		}
		return n, err
	}); err != nil {
		return nil, nil, err
	}
	size := binary.LittleEndian.Uint32(head[:])
	if size > maxMessage {
		return nil, nil, errMessage
	}
	payload = make([]byte, size)
	return payload, fds, readFull(payload, func(p []byte) (int, error) { return unix.Read(fd, p) })
}

func readFull(p []byte, read func([]byte) (int, error)) error {
	for len(p) > 0 {
		n, err := read(p)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return err
		case n == 0:
			return errMessage
		default:
			p = p[n:]
		}
	}
	return nil
}

func rights(oob []byte) (fds []int, err error) {
	list, err := unix.ParseSocketControlMessage(oob)
	for _, m := range list {
		if err == nil {
			fds, err = unix.ParseUnixRights(&m)
		}
	}
	return fds, err
}
