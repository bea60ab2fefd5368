//go:build linux

package relay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/kernel"
)

// errNoPeer means that no open socket is the other end of a connection any more.
var errNoPeer = errors.New("the program that asks has closed its connection")

// established is TCP_ESTABLISHED of the kernel.
const established = 1

// peerInode is the inode of the socket at the other end of a loopback connection,
// which /proc/<pid>/fd shows as “socket:[inode]”. It is the caller's only as long as
// intact says so afterwards.
func peerInode(conn net.Conn) (uint64, error) {
	caller, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return 0, fmt.Errorf("read the caller's address: %w", err)
	}
	own, err := netip.ParseAddrPort(conn.LocalAddr().String())
	if err != nil {
		return 0, fmt.Errorf("read the relay's address: %w", err)
	}
	inode, err := diagnose(caller, own)
	if err != nil && !errors.Is(err, errNoPeer) {
		return 0, fmt.Errorf("ask the kernel for a socket: %w", err)
	}
	return inode, err
}

// intact reports that the caller has neither closed nor reset the connection.
// Until it does, no other socket can have the caller's address and port.
func intact(conn net.Conn) error {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return errors.New("the connection has no descriptor")
	}
	return kernel.Control(c, func(fd int) error {
		info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
		if err != nil {
			return fmt.Errorf("look at the connection: %w", err)
		}
		if info.State != established {
			return errNoPeer
		}
		return nil
	})
}

// Sizes of the messages of sock_diag(7): inet_diag_req_v2 and inet_diag_msg, each
// behind a netlink header.
const (
	diagRequest = unix.SizeofNlMsghdr + 56
	diagAnswer  = unix.SizeofNlMsghdr + 72
	diagByType  = 20 // SOCK_DIAG_BY_FAMILY
)

// diagnose asks the kernel for the one socket with these two addresses, which
// takes it some microseconds however many sockets there are. Every kernel that
// engines are shipped with can say (CONFIG_INET_DIAG).
func diagnose(local, remote netip.AddrPort) (inode uint64, err error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return 0, err
	}
	defer func() { _ = unix.Close(fd) }()
	if err := unix.Sendto(fd, question(local, remote), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return 0, err
	}
	buf := make([]byte, 4096)
	n, from, err := unix.Recvfrom(fd, buf, unix.MSG_DONTWAIT) // the kernel has answered before Sendto returned
	if err != nil {
		return 0, err
	}
	if k, ok := from.(*unix.SockaddrNetlink); !ok || k.Pid != 0 { // another process can write to this socket
		return 0, errors.New("the answer is not the kernel's")
	}
	return answer(buf[:n])
}

// question is the request for the socket at local that is connected to remote.
func question(local, remote netip.AddrPort) []byte {
	q := make([]byte, diagRequest)
	binary.NativeEndian.PutUint32(q[0:], diagRequest)
	binary.NativeEndian.PutUint16(q[4:], diagByType)
	binary.NativeEndian.PutUint16(q[6:], unix.NLM_F_REQUEST)
	body := q[unix.SizeofNlMsghdr:]
	body[0], body[1] = unix.AF_INET, unix.IPPROTO_TCP
	binary.NativeEndian.PutUint32(body[4:], ^uint32(0)) // any state
	binary.BigEndian.PutUint16(body[8:], local.Port())
	binary.BigEndian.PutUint16(body[10:], remote.Port())
	from, to := local.Addr().Unmap().As4(), remote.Addr().Unmap().As4()
	copy(body[12:], from[:])
	copy(body[28:], to[:])
	binary.NativeEndian.PutUint64(body[48:], ^uint64(0)) // no cookie
	return q
}

// answer reads the kernel's: errNoPeer when no program holds such a socket.
func answer(b []byte) (inode uint64, err error) {
	if len(b) < unix.SizeofNlMsghdr+4 {
		return 0, fmt.Errorf("answer of %d bytes", len(b))
	}
	body := b[unix.SizeofNlMsghdr:]
	switch typ := binary.NativeEndian.Uint16(b[4:]); {
	case typ == unix.NLMSG_ERROR:
		errno := unix.Errno(-int32(binary.NativeEndian.Uint32(body)))
		if errno == unix.ENOENT {
			return 0, errNoPeer
		}
		return 0, errno
	case typ != diagByType || len(b) < diagAnswer:
		return 0, fmt.Errorf("answer of type %d and %d bytes", typ, len(b))
	}
	state, inode := body[1], uint64(binary.NativeEndian.Uint32(body[68:]))
	// When the caller's socket is gone the kernel answers with a listener on its
	// port, which may be another program's; so may one be that only begins to connect.
	if state != established || inode == 0 {
		return 0, errNoPeer
	}
	return inode, nil
}
