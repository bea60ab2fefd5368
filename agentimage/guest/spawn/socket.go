//go:build linux

package spawn

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Descriptors of keeper and stage. They begin far above 0, because a program may
// be given pipes at 3 and what follows (wire.MaxPipeFD), and the stage has its
// own descriptors besides until it executes the program.
const (
	peerFD   = 100 + iota // socket: the keeper's to loop init, the stage's to the keeper
	configFD              // pipe from loop init to the stage, which the keeper hands on unread
	streamFD              // the keeper's only: stdin, stdout, stderr and the pipes, in this order
)

// maxMessage bounds one message between the processes of a spawn: a question of
// wire.MaxDetail in base64 is the longest, and an error's text (wire.MaxText) follows.
const maxMessage = 128 << 10

// socketBuffer is what a socket must hold for a message to be sent at all. Linux gives
// twice as much, its default included, so that several questions fit.
const socketBuffer = 192 << 10

// orderTimeout bounds a write to the other process. Both read at once what comes.
const orderTimeout = 5 * time.Second

// socket is one end of a pair between two processes of a spawn. It carries whole
// messages, and with a message a descriptor: so a listener for system calls gets
// from the stage, which installs the filter, to the keeper above it.
type socket int

// newSocketPair makes both ends, closed on exec.
func newSocketPair() (a, b socket, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, -1, fmt.Errorf("make socket pair: %w", err)
	}
	a, b = socket(fds[0]), socket(fds[1])
	for _, fd := range fds {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, socketBuffer); err != nil {
			a.close()
			b.close()
			return -1, -1, fmt.Errorf("size socket: %w", err)
		}
	}
	return a, b, nil
}

// send blocks until the message is in the socket. The descriptor, if there is
// one, stays open here.
func (s socket) send(v any, fds ...int) error {
	data, err := encode(v)
	if err != nil {
		return err
	}
	return sendOn(int(s), data, fds)
}

// receive waits for a message and the descriptor it carries; fd is -1 without
// one, the caller's otherwise. io.EOF means that the other end is closed.
func (s socket) receive(v any) (fd int, err error) { return receiveOn(int(s), v) }

// timeout bounds each receive from now on, which then is an unix.EAGAIN; zero does not.
func (s socket) timeout(d time.Duration) error {
	tv := unix.NsecToTimeval(int64(d))
	if err := unix.SetsockoptTimeval(int(s), unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv); err != nil {
		return fmt.Errorf("bound receive: %w", err)
	}
	return nil
}

func (s *socket) close() {
	if *s >= 0 {
		_ = unix.Close(int(*s))
	}
	*s = -1
}

// line is a socket whose waits take no thread. One goroutine receives; any may send.
type line struct{ f *os.File }

// newLine takes the socket over.
func newLine(s socket) (line, error) {
	if err := unix.SetNonblock(int(s), true); err != nil {
		return line{}, errors.Join(fmt.Errorf("set nonblocking: %w", err), unix.Close(int(s)))
	}
	return line{os.NewFile(uintptr(s), "keeper")}, nil
}

func (l line) send(v any, fds ...int) error {
	data, err := encode(v)
	if err != nil {
		return err
	}
	raw, err := l.f.SyscallConn()
	if err == nil {
		err = l.f.SetWriteDeadline(time.Now().Add(orderTimeout))
	}
	if err != nil {
		return err
	}
	werr := raw.Write(func(fd uintptr) bool {
		err = sendOn(int(fd), data, fds)
		return !errors.Is(err, unix.EAGAIN)
	})
	return errors.Join(werr, err)
}

func (l line) receive(v any) (right int, err error) {
	raw, err := l.f.SyscallConn()
	if err != nil {
		return -1, err
	}
	rerr := raw.Read(func(fd uintptr) bool {
		right, err = receiveOn(int(fd), v)
		return !errors.Is(err, unix.EAGAIN)
	})
	if rerr != nil {
		return -1, rerr
	}
	return right, err
}

func (l line) close() { _ = l.f.Close() }

func encode(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode message: %w", err)
	}
	if len(data) > maxMessage {
		return nil, fmt.Errorf("message of %d bytes", len(data))
	}
	return data, nil
}

func sendOn(s int, data []byte, fds []int) error {
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	for {
		err := unix.Sendmsg(s, data, rights, nil, unix.MSG_NOSIGNAL)
		if err == nil {
			return nil
		}
		if !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("send message: %w", err)
		}
	}
}

// receiveOn takes one message. Its size is asked for first, so that none takes more
// memory than it has bytes.
func receiveOn(s int, v any) (fd int, err error) {
	size, err := retry(func() (int, error) {
		n, _, err := unix.Recvfrom(s, nil, unix.MSG_PEEK|unix.MSG_TRUNC)
		return n, err
	})
	if err != nil {
		return -1, fmt.Errorf("receive message: %w", err)
	}
	buf := make([]byte, min(size, maxMessage)+1) // with none at all a descriptor would not come
	rights := make([]byte, unix.CmsgSpace(4))
	var n, m, flags int
	if _, err = retry(func() (int, error) {
		n, m, flags, _, err = unix.Recvmsg(s, buf, rights, unix.MSG_CMSG_CLOEXEC)
		return n, err
	}); err != nil {
		return -1, fmt.Errorf("receive message: %w", err)
	}
	fds := rightsIn(rights[:m])
	switch {
	case n == 0 && len(fds) == 0:
		return -1, io.EOF
	case len(fds) > 1 || flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0:
		err = errors.New("message is cut, or has several descriptors")
	default:
		err = json.Unmarshal(buf[:n], v)
	}
	if err != nil {
		for _, fd := range fds {
			_ = unix.Close(fd)
		}
		return -1, fmt.Errorf("decode message: %w", err)
	}
	if len(fds) == 0 {
		return -1, nil
	}
	return fds[0], nil
}

func retry(call func() (int, error)) (n int, err error) {
	for {
		if n, err = call(); !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// rightsIn takes the descriptors out of control messages, all that came: a buffer for
// one has room for two, because of its alignment.
func rightsIn(control []byte) (fds []int) {
	list, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return nil
	}
	for _, m := range list {
		more, err := unix.ParseUnixRights(&m)
		if err == nil {
			fds = append(fds, more...)
		}
	}
	return fds
}
