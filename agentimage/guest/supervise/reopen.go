//go:build linux

package supervise

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// stat is a number of the caller's stat file, counted from 0; 0 where it is gone. Only
// fields after the name can be asked for.
func (c *call) stat(field int) int {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(c.tid) + "/stat")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	if field -= 2; field < 0 || field >= len(fields) {
		return 0
	}
	n, err := strconv.Atoi(fields[field])
	if err != nil {
		return 0
	}
	return n
}

// reopen opens what is pinned. A thread that takes calls never waits here: what would
// block is opened on one that may.
func (o opening) reopen(c *call, found *object) outcome {
	flags := o.flags&^(unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW) | unix.O_CLOEXEC | unix.O_NOCTTY
	open := func(flags int) (int, error) {
		if pid, _, ok := ofProcess(found.path); ok && found.proc && pid == c.process() {
			c.th.with(capPtrace) // a process may look at itself
			defer c.th.with(0)
		}
		return unix.Openat(int(c.s.own.Fd()), strconv.Itoa(found.fd), flags, 0)
	}
	side := readers
	if o.flags&unix.O_NONBLOCK == 0 && mayBlock(found) {
		probe := found.kind() == unix.S_IFREG || found.kind() == unix.S_IFDIR ||
			found.kind() == unix.S_IFIFO && o.flags&unix.O_ACCMODE == unix.O_WRONLY
		if probe {
			fd, err := open(flags | unix.O_NONBLOCK)
			if err != unix.EAGAIN && err != unix.ENXIO { // a lease; nobody reads
				if err == nil {
					_, err = unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags&(unix.O_APPEND|unix.O_ASYNC|unix.O_DIRECT|unix.O_NOATIME))
				}
				return o.opened(fd, err)
			}
			side = writers
		}
		if found.kind() != unix.S_IFIFO || o.flags&unix.O_ACCMODE != unix.O_RDWR {
			return o.patiently(c, found, side, func() (int, error) { return open(flags) })
		}
	}
	fd, err := open(flags)
	if err == nil {
		if err = c.markMaster(found, fd); err != nil {
			_ = unix.Close(fd)
		}
	}
	return o.opened(fd, err)
}

// patiently opens on a thread that may wait, until the caller is gone.
func (o opening) patiently(c *call, found *object, at side, open func() (int, error)) outcome {
	pinned := found.fd
	kept, err := unix.FcntlInt(uintptr(pinned), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return failed(err)
	}
	return outcome{how: blocks, side: at, then: func() outcome {
		defer func() { _ = unix.Close(kept) }()
		found.fd = kept
		c.s.desk.look()
		for {
			fd, err := open()
			if err != unix.EINTR {
				return o.opened(fd, err)
			}
			if c.s.over() || !c.s.listener.valid(c.id) {
				return failed(errGone)
			}
		}
	}}
}

// mayBlock reports whether an open of the object may wait for somebody.
func mayBlock(o *object) bool {
	switch o.kind() {
	case unix.S_IFREG, unix.S_IFDIR:
		return !o.proc
	case unix.S_IFSOCK:
		return false
	case unix.S_IFCHR:
		major, minor := unix.Major(o.st.Rdev), unix.Minor(o.st.Rdev)
		return major != 1 && (major != 5 || minor != 2) && (major < 136 || major > 143) // memory, ptmx, pts
	}
	return true
}
