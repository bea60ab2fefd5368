//go:build linux

package spawn

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

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

// maxMessage bounds one message between the processes of a spawn: an error's text
// is the longest (wire.MaxText), escaped.
const maxMessage = 32 << 10

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
	return socket(fds[0]), socket(fds[1]), nil
}

// send blocks until the message is in the socket. The descriptor, if there is
// one, stays open here.
func (s socket) send(v any, fds ...int) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	if len(data) > maxMessage {
		return fmt.Errorf("message of %d bytes", len(data))
	}
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	for {
		err = unix.Sendmsg(int(s), data, rights, nil, unix.MSG_NOSIGNAL)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// receive waits for a message and the descriptor it carries; fd is -1 without
// one, the caller's otherwise. io.EOF means that the other end is closed.
func (s socket) receive(v any) (fd int, err error) {
	buf := make([]byte, maxMessage)
	rights := make([]byte, unix.CmsgSpace(4))
	for {
		n, m, flags, _, err := unix.Recvmsg(int(s), buf, rights, unix.MSG_CMSG_CLOEXEC)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return -1, fmt.Errorf("receive message: %w", err)
		}
		fd = oneRight(rights[:m])
		switch {
		case n == 0 && fd < 0:
			return -1, io.EOF
		case flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0:
			err = errors.New("message is cut")
		default:
			err = json.Unmarshal(buf[:n], v)
		}
		if err != nil {
			s := socket(fd)
			s.close()
			return -1, fmt.Errorf("decode message: %w", err)
		}
		return fd, nil
	}
}

// oneRight takes the descriptor out of a control message.
func oneRight(rights []byte) int {
	list, err := unix.ParseSocketControlMessage(rights)
	if err != nil || len(list) == 0 {
		return -1
	}
	fds, err := unix.ParseUnixRights(&list[0])
	if err != nil || len(fds) == 0 {
		return -1
	}
	return fds[0]
}

func (s *socket) close() {
	if *s >= 0 {
		_ = unix.Close(int(*s))
	}
	*s = -1
}
