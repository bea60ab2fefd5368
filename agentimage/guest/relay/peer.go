//go:build linux

package relay

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"
)

// errNoPeer means that no open socket is the other end of a connection any more.
var errNoPeer = errors.New("the program that asks has closed its connection")

// established is TCP_ESTABLISHED of the kernel.
const established = 1

// socket is what the kernel says of one end of a connection.
type socket struct {
	state byte
	inode uint64 // /proc/<pid>/fd shows “socket:[inode]”; 0 when no program holds it
}

// peerInode is the inode of the socket at the other end of a loopback connection.
// It is the caller's only as long as intact says so afterwards.
func peerInode(conn net.Conn, find lookup) (uint64, error) {
	caller, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return 0, fmt.Errorf("read the caller's address: %w", err)
	}
	own, err := netip.ParseAddrPort(conn.LocalAddr().String())
	if err != nil {
		return 0, fmt.Errorf("read the relay's address: %w", err)
	}
	s, err := find(caller, own)
	if err != nil {
		return 0, err
	}
	// When the caller's socket is gone the kernel answers with a listener on its
	// port, which may be another program's; so may one be that only begins to connect.
	if s.state != established || s.inode == 0 {
		return 0, errNoPeer
	}
	return s.inode, nil
}

// intact reports that the caller has neither closed nor reset the connection.
// Until it does, no other socket can have the caller's address and port.
func intact(conn net.Conn) error {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return errors.New("the connection has no descriptor")
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return fmt.Errorf("look at the connection: %w", err)
	}
	var info *unix.TCPInfo
	var infoErr error
	if err := raw.Control(func(fd uintptr) {
		info, infoErr = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	}); err != nil {
		return fmt.Errorf("look at the connection: %w", err)
	}
	if infoErr != nil {
		return fmt.Errorf("look at the connection: %w", infoErr)
	}
	if info.State != established {
		return errNoPeer
	}
	return nil
}
