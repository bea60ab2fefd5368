//go:build linux

package main

import (
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// socketAttacks speak to those who are not under the gate.
func socketAttacks() []attack {
	return []attack{
		{"A25", takeFromPeer},
		{"X25", connectClosed},
		{"X26", connectNeighbour},
		{"X27", sendDatagrams},
		{"X28", bindNames},
		{"X29", typeIntoTerminal},
		{"X30", openNeighbourTerminal},
	}
}

func unixSocket(r *report, kind int) (int, bool) {
	fd, err := unix.Socket(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	return fd, r.tried("socket", err)
}

// takeFromPeer asks a neighbour without a gate for its descriptor.
func takeFromPeer(p place, r *report) {
	if !await(p.at("serving")) {
		return
	}
	for _, name := range []string{p.free("peer.sock"), p.abstract()} {
		fd, ok := unixSocket(r, unix.SOCK_STREAM)
		if !ok || !r.tried("connect", unix.Connect(fd, &unix.SockaddrUnix{Name: name})) {
			continue
		}
		buf, oob := make([]byte, 64), make([]byte, 64)
		_, n, _, _, err := unix.Recvmsg(fd, buf, oob, 0)
		if !r.tried("recvmsg", err) {
			continue
		}
		msgs, _ := unix.ParseSocketControlMessage(oob[:n])
		for _, m := range msgs {
			fds, err := unix.ParseUnixRights(&m)
			if r.tried("rights", err) {
				_, err = unix.Write(fds[0], []byte("x"))
				r.tried("write", err)
				r.took("read", fds[0], nil)
			}
		}
	}
}

// connectClosed connects to the closed socket by every spelling.
func connectClosed(p place, r *report) {
	r.tried("symlink", unix.Symlink(p.at("deny.sock"), p.free("sock")))
	r.tried("chdir", unix.Chdir(p.at("open")))
	o, err := unix.Open(p.at("deny.sock"), unix.O_PATH|unix.O_CLOEXEC, 0)
	r.tried("open O_PATH", err)
	r.tried("link", unix.Link(p.at("deny.sock"), p.free("sock2")))
	r.tried("rename", unix.Rename(p.at("deny.sock"), p.free("sock3")))
	for _, name := range []string{p.at("deny.sock"), "../deny.sock", "sock", "sock2", "sock3", selfFD(o), p.at("open/..//deny.sock")} {
		if fd, ok := unixSocket(r, unix.SOCK_STREAM); ok {
			r.tried("connect "+name, unix.Connect(fd, &unix.SockaddrUnix{Name: name}))
			_ = unix.Close(fd)
		}
	}
}

// connectNeighbour has a neighbour without a gate do what it may not.
func connectNeighbour(p place, r *report) {
	if !await(p.at("serving")) {
		return
	}
	for _, name := range []string{p.free("peer.sock"), p.abstract()} {
		fd, ok := unixSocket(r, unix.SOCK_STREAM)
		if !ok || !r.tried("connect "+name, unix.Connect(fd, &unix.SockaddrUnix{Name: name})) {
			continue
		}
		_, err := unix.Write(fd, []byte("touch "+p.marker()))
		if r.tried("write", err) {
			await(p.marker())
		}
	}
}

// sendDatagrams addresses a neighbour with every call that can, from every socket that could.
func sendDatagrams(p place, r *report) {
	if !await(p.at("serving")) {
		return
	}
	to, order := &unix.SockaddrUnix{Name: p.free("datagram.sock")}, []byte("touch "+p.marker())
	fds := []int{}
	if fd, ok := unixSocket(r, unix.SOCK_DGRAM); ok {
		fds = append(fds, fd)
	}
	if pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0); r.tried("socketpair", err) {
		fds = append(fds, pair[0])
	}
	sent := false
	for _, fd := range fds {
		sent = r.tried("sendto", unix.Sendto(fd, order, 0, to)) || sent
		sent = r.tried("sendmsg", unix.Sendmsg(fd, order, nil, to, 0)) || sent
		sent = r.tried("connect", unix.Connect(fd, to)) || sent
		_, err := unix.Write(fd, order)
		sent = r.tried("write", err) || sent
	}
	if sent {
		await(p.marker())
	}
}

// bindNames makes names of sockets where none may be made.
func bindNames(p place, r *report) {
	for _, name := range []string{p.at("deny/made"), p.at("ask/made"), p.at("deny/secret"), p.at("open/../deny/sub/made")} {
		fd, ok := unixSocket(r, unix.SOCK_STREAM)
		if ok {
			r.tried("bind "+name, unix.Bind(fd, &unix.SockaddrUnix{Name: name}))
		}
	}
	r.tried("chdir", unix.Chdir(p.at("deny")))
	if fd, ok := unixSocket(r, unix.SOCK_STREAM); ok {
		r.tried("bind made2", unix.Bind(fd, &unix.SockaddrUnix{Name: "made2"}))
	}
}

// typeIntoTerminal puts letters into the input of its own terminal, as if typed. It
// finds them there or not.
func typeIntoTerminal(p place, r *report) {
	for _, name := range []string{"/dev/tty", "/proc/self/fd/0"} {
		fd, err := unix.Open(name, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		if !r.tried("open "+name, err) {
			continue
		}
		for _, c := range []byte("x\n") {
			_, err := call(unix.SYS_IOCTL, uintptr(fd), unix.TIOCSTI, uintptr(unsafe.Pointer(&c)))
			r.tried("TIOCSTI", err)
		}
		buf := make([]byte, 16)
		if n, err := unix.Read(fd, buf); err == nil && strings.Contains(string(buf[:n]), "x") {
			r.count("typed", 1)
		}
		_ = unix.Close(fd)
	}
	fd, err := unix.Open("/dev/console", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if r.tried("open /dev/console", err) {
		_ = unix.Close(fd)
	}
}

// openNeighbourTerminal writes to the terminal of a program without a gate.
func openNeighbourTerminal(p place, r *report) {
	h, ok := p.neighbour(r)
	if !ok {
		return
	}
	for _, name := range []string{h.TTY, "/proc/" + decimal(h.Pid) + "/fd/0", "/proc/" + decimal(h.Pid) + "/fd/1"} {
		fd, err := unix.Open(name, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
		if !r.tried("open "+name, err) {
			continue
		}
		_, err = unix.Write(fd, []byte("written into another's terminal\r\n"))
		if r.tried("write", err) {
			r.count("written", 1)
		}
		_ = unix.Close(fd)
	}
}
