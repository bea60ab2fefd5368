//go:build linux

package main

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ringAttacks let the kernel work through a ring, without a system call for each act.
func ringAttacks() []attack { return []attack{{"A4", openByRing}} }

// ringParams is struct io_uring_params.
type ringParams struct {
	sqEntries, cqEntries, flags, cpu, idle, features, wq uint32
	_                                                    [3]uint32
	sq                                                   struct {
		head, tail, mask, entries, flags, dropped, array, _ uint32
		_                                                   uint64
	}
	cq struct {
		head, tail, mask, entries, overflow, cqes, flags, _ uint32
		_                                                   uint64
	}
}

// ringEntry is struct io_uring_sqe.
type ringEntry struct {
	op, flags   uint8
	prio        uint16
	fd          int32
	off, addr   uint64
	len, flags2 uint32
	user        uint64
	_           [3]uint64
}

type ring struct {
	fd      int
	params  ringParams
	sq, cq  unsafe.Pointer
	entries unsafe.Pointer
}

func openRing() (*ring, error) {
	g := &ring{}
	fd, err := call(unix.SYS_IO_URING_SETUP, 4, uintptr(unsafe.Pointer(&g.params)))
	if err != nil {
		return nil, err
	}
	g.fd = fd
	size := uintptr(unix.Getpagesize())
	for at, m := range map[int64]*unsafe.Pointer{0: &g.sq, 0x8000000: &g.cq, 0x10000000: &g.entries} {
		if *m, err = unix.MmapPtr(fd, at, nil, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// do submits one entry and returns what became of it.
func (g *ring) do(e ringEntry) (int, error) {
	*(*ringEntry)(g.entries) = e
	tail := (*uint32)(unsafe.Add(g.sq, g.params.sq.tail))
	mask := *(*uint32)(unsafe.Add(g.sq, g.params.sq.mask))
	*(*uint32)(unsafe.Add(g.sq, uintptr(g.params.sq.array)+4*uintptr(*tail&mask))) = 0
	*tail++
	if _, err := call(unix.SYS_IO_URING_ENTER, uintptr(g.fd), 1, 1, 1, 0, 0); err != nil {
		return -1, err
	}
	head := (*uint32)(unsafe.Add(g.cq, g.params.cq.head))
	cmask := *(*uint32)(unsafe.Add(g.cq, g.params.cq.mask))
	res := *(*int32)(unsafe.Add(g.cq, uintptr(g.params.cq.cqes)+16*uintptr(*head&cmask)+8))
	*head++
	if res < 0 {
		return -1, unix.Errno(-res)
	}
	return int(res), nil
}

func openByRing(p place, r *report) {
	g, err := openRing()
	if !r.tried("io_uring_setup", err) {
		return
	}
	const opConnect, opOpenat, opRenameat = 16, 18, 35
	secret, good, made := cstring(p.secret()), cstring(p.free("good")), cstring(p.at("deny/made"))
	fd, err := g.do(ringEntry{op: opOpenat, fd: unix.AT_FDCWD, addr: uint64(uintptr(secret)), flags2: unix.O_RDONLY})
	r.took("open by the ring", fd, err)
	fd, err = g.do(ringEntry{op: opOpenat, fd: unix.AT_FDCWD, addr: uint64(uintptr(secret)), flags2: unix.O_WRONLY | unix.O_APPEND})
	r.wrote("open by the ring", fd, err)
	at := int32(unix.AT_FDCWD)
	_, err = g.do(ringEntry{op: opRenameat, fd: at, addr: uint64(uintptr(good)), len: uint32(at), off: uint64(uintptr(made))})
	r.tried("rename by the ring", err)
	s, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if r.tried("socket", err) {
		addr := append([]byte{unix.AF_UNIX, 0}, append([]byte(p.at("deny.sock")), 0)...)
		_, err = g.do(ringEntry{op: opConnect, fd: int32(s), addr: uint64(uintptr(unsafe.Pointer(&addr[0]))), off: uint64(len(addr))})
		r.tried("connect by the ring", err)
		runtime.KeepAlive(addr)
		_ = unix.Close(s)
	}
	runtime.KeepAlive(secret)
}
