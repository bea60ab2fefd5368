//go:build linux

package supervise

import "golang.org/x/sys/unix"

// pidfdThread makes pidfd_open(2) take a thread (Linux 6.9).
const pidfdThread = unix.O_EXCL

// fetch returns a copy of the caller's descriptor: the same open file, with its flags
// and its position.
func (c *call) fetch(fd int32) (int, error) {
	if fd < 0 {
		return -1, unix.EBADF
	}
	c.th.with(capPtrace)
	defer c.th.with(0)
	pid, err := unix.PidfdOpen(c.tid, pidfdThread)
	if err == unix.EINVAL { // an older kernel knows processes only
		pid, err = unix.PidfdOpen(c.process(), 0)
	}
	if err != nil {
		return -1, err
	}
	defer func() { _ = unix.Close(pid) }()
	got, err := unix.PidfdGetfd(pid, int(fd), 0)
	if err == nil && !c.s.listener.valid(c.id) {
		_ = unix.Close(got)
		return -1, errGone
	}
	return got, err
}
