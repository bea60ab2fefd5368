//go:build linux

package supervise

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// sending is a sendto with an address: for a datagram a connect of its own.
type sending struct {
	fd    int32
	addr  uint64
	size  uint64
	flags int
	to    sockaddr
}

// maxSend bounds what one call sends; a datagram is smaller, and of a stream the rest
// is sent by the next call.
const maxSend = 256 << 10

func decodeSendto(c *call) (func(*call) outcome, error) {
	flags := int(int32(c.args[3]))
	if flags&unix.MSG_FASTOPEN != 0 {
		return nil, unix.EOPNOTSUPP
	}
	to, err := c.sockaddr(c.args[4], c.args[5])
	return sending{int32(c.args[0]), c.args[1], min(c.args[2], maxSend), flags, to}.perform, err
}

func (s sending) perform(c *call) outcome {
	fd, err := c.fetch(s.fd)
	if err != nil {
		return failed(err)
	}
	defer func() { _ = unix.Close(fd) }()
	_, pinned, end := connecting{s.fd, s.to}.judge(c, fd)
	defer pinned.close()
	if end != nil {
		return *end
	}
	if domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN); err != nil || domain == unix.AF_UNIX {
		// The filter leaves no Unix socket that takes an address here: one that is
		// connected says EISCONN, one that is not ENOTCONN.
		return failed(unix.EISCONN)
	}
	c.th.with(capPtrace)
	data, err := c.mem.full(s.addr, int(s.size))
	c.th.with(0)
	if err != nil {
		return failed(err)
	}
	n, err := s.send(fd, data)
	flags, ferr := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err == unix.EAGAIN && s.flags&unix.MSG_DONTWAIT == 0 && ferr == nil && flags&unix.O_NONBLOCK == 0 {
		return outcome{how: waits, wait: func(done func(outcome)) { c.later(retry, done) }}
	}
	return result(int64(n), err)
}

func (s sending) send(fd int, data []byte) (int, error) {
	var d, a unsafe.Pointer
	if len(data) > 0 {
		d = unsafe.Pointer(&data[0])
	}
	if len(s.to.raw) > 0 {
		a = unsafe.Pointer(&s.to.raw[0])
	}
	n, _, e := unix.Syscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(d), uintptr(len(data)),
		uintptr(s.flags|unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL), uintptr(a), uintptr(len(s.to.raw)))
	if e != 0 {
		return 0, e
	}
	return int(n), nil
}
