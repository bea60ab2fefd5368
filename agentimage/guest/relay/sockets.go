//go:build linux

package relay

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Sizes of the messages of sock_diag(7): inet_diag_req_v2 and inet_diag_msg, each
// behind a netlink header.
const (
	diagRequest = unix.SizeofNlMsghdr + 56
	diagAnswer  = unix.SizeofNlMsghdr + 72
	diagByType  = 20 // SOCK_DIAG_BY_FAMILY
	diagTimeout = 1  // seconds: the kernel answers before the call returns
)

// lookup finds the socket at local that is connected to remote. errNoPeer means
// that there is none.
type lookup func(local, remote netip.AddrPort) (socket, error)

// lookupFor chooses the way that this kernel has, by a socket that is there: the
// one that listens at addr.
func lookupFor(addr netip.AddrPort) lookup {
	if s, err := diagnose(addr, addr); err == nil && s.inode != 0 {
		return diagnose
	}
	return tabled
}

// diagnose asks the kernel for the one socket with these two addresses, which
// takes it some microseconds however many sockets there are.
func diagnose(local, remote netip.AddrPort) (socket, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return socket{}, fmt.Errorf("ask for a socket: %w", err)
	}
	defer func() { _ = unix.Close(fd) }()
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: diagTimeout}); err != nil {
		return socket{}, fmt.Errorf("ask for a socket: %w", err)
	}
	if err := unix.Sendto(fd, question(local, remote), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return socket{}, fmt.Errorf("ask for a socket: %w", err)
	}
	buf := make([]byte, 4096)
	n, from, err := unix.Recvfrom(fd, buf, 0)
	if err != nil {
		return socket{}, fmt.Errorf("ask for a socket: %w", err)
	}
	if k, ok := from.(*unix.SockaddrNetlink); !ok || k.Pid != 0 { // another process can write to this socket
		return socket{}, errors.New("ask for a socket: the answer is not the kernel's")
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

func answer(b []byte) (socket, error) {
	if len(b) < unix.SizeofNlMsghdr+4 {
		return socket{}, fmt.Errorf("answer about a socket has %d bytes", len(b))
	}
	body := b[unix.SizeofNlMsghdr:]
	switch typ := binary.NativeEndian.Uint16(b[4:]); {
	case typ == unix.NLMSG_ERROR:
		errno := unix.Errno(-int32(binary.NativeEndian.Uint32(body)))
		if errno == unix.ENOENT { // also of a kernel that cannot say; lookupFor knows
			return socket{}, errNoPeer
		}
		return socket{}, fmt.Errorf("ask for a socket: %w", errno)
	case typ != diagByType || len(b) < diagAnswer:
		return socket{}, fmt.Errorf("answer about a socket has type %d and %d bytes", typ, len(b))
	}
	return socket{state: body[1], inode: uint64(binary.NativeEndian.Uint32(body[68:]))}, nil
}

// maxTable bounds what is read of a table of connections: some 400,000 of them.
const maxTable = 64 << 20

// tabled searches the kernel's tables of connections, for a kernel that diagnose
// cannot ask. It takes milliseconds.
func tabled(local, remote netip.AddrPort) (socket, error) {
	for _, name := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} { // one of IPv6 may speak IPv4
		f, err := os.Open(name)
		if errors.Is(err, os.ErrNotExist) {
			continue // a kernel without IPv6
		}
		if err != nil {
			return socket{}, fmt.Errorf("read connections: %w", err)
		}
		s, err := search(io.LimitReader(f, maxTable), local, remote)
		_ = f.Close()
		if err != nil || s.state != 0 {
			return s, err
		}
	}
	return socket{}, errNoPeer
}

// search finds a connection in a table of proc_net_tcp(5); state 0 is none.
func search(table io.Reader, local, remote netip.AddrPort) (socket, error) {
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		const own, other, state, inode = 1, 2, 3, 9
		f := strings.Fields(lines.Text())
		if len(f) <= inode || !sameAddr(f[own], local) || !sameAddr(f[other], remote) {
			continue
		}
		st, err1 := strconv.ParseUint(f[state], 16, 8)
		n, err2 := strconv.ParseUint(f[inode], 10, 64)
		if err := errors.Join(err1, err2); err != nil {
			return socket{}, fmt.Errorf("read connections: %w", err)
		}
		return socket{state: byte(st), inode: n}, nil
	}
	if err := lines.Err(); err != nil {
		return socket{}, fmt.Errorf("read connections: %w", err)
	}
	return socket{}, nil
}

// sameAddr compares an address as the kernel prints it: words of the machine's
// byte order in hexadecimal, a colon, the port.
func sameAddr(printed string, a netip.AddrPort) bool {
	host, port, ok := strings.Cut(printed, ":")
	if p, err := strconv.ParseUint(port, 16, 16); !ok || err != nil || uint16(p) != a.Port() {
		return false
	}
	var ip []byte
	for ; len(host) >= 8; host = host[8:] {
		word, err := strconv.ParseUint(host[:8], 16, 32)
		if err != nil {
			return false
		}
		ip = binary.NativeEndian.AppendUint32(ip, uint32(word))
	}
	got, ok := netip.AddrFromSlice(ip)
	return ok && host == "" && got.Unmap() == a.Addr().Unmap()
}
