//go:build linux

package kernel

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// Control calls f with the descriptor of a file or a connection, which stays open
// meanwhile. Its error is f's, or says that c is closed.
func Control(c syscall.Conn, f func(fd int) error) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var own error
	if err := raw.Control(func(fd uintptr) { own = f(int(fd)) }); err != nil {
		return err
	}
	return own
}

// PeerCred says who has opened the other end of a unix socket.
func PeerCred(conn syscall.Conn) (cred *unix.Ucred, err error) {
	err = Control(conn, func(fd int) (err error) {
		cred, err = unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		return err
	})
	return cred, err
}
