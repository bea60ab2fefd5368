//go:build linux

package supervise

import (
	"os"
	"time"

	"golang.org/x/sys/unix"

	"loop/backend/policy"
	"loop/backend/wire"
)

// connecting is a call that connects a socket of the caller.
type connecting struct {
	fd int32
	to sockaddr
}

func decodeConnect(c *call) (func(*call) outcome, error) {
	to, err := c.sockaddr(c.args[1], c.args[2])
	return connecting{int32(c.args[0]), to}.perform, err
}

func (n connecting) perform(c *call) outcome {
	fd, err := c.fetch(n.fd)
	if err != nil {
		return failed(err)
	}
	to, pinned, end := n.judge(c, fd)
	defer pinned.close()
	if end != nil {
		_ = unix.Close(fd)
		return *end
	}
	return c.connect(fd, to)
}

// judge resolves the address of a Unix socket; any other is not a policy's to judge. The
// socket itself says what it is, whatever the address says.
func (n connecting) judge(c *call, fd int) (sockaddr, *object, *outcome) {
	domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil {
		return n.to, nil, new(failed(err))
	}
	path, abstract := n.to.unix()
	switch {
	case domain != unix.AF_UNIX:
		return n.to, nil, nil
	case n.to.family() != unix.AF_UNIX, len(n.to.raw) > maxUnix, len(n.to.raw) <= 2:
		return n.to, nil, nil // the kernel refuses it
	case path == "":
		if end := c.foreign(abstractMark(abstract), foreignSocket, question{kind: wire.KindConnect, target: "@" + abstract}); end != nil {
			return n.to, nil, end
		}
		return n.to, nil, c.decide(c.view.Connect("@"+abstract), func() *question {
			return &question{kind: wire.KindConnect, target: "@" + abstract, act: act{does: "connect"}}
		})
	}
	o, missing, err := c.find(location{dirfd: unix.AT_FDCWD, path: path}, how{follow: true})
	if missing != nil {
		missing.close()
	}
	if err != nil {
		return n.to, nil, new(failed(err))
	}
	if end := c.foreign(socketMark(o), foreignSocket, question{kind: wire.KindConnect, target: o.path}); end != nil {
		return n.to, o, end
	}
	v := c.view.Connect(o.path)
	if o.nameless || o.gone {
		v = policy.Verdict{Decision: policy.Deny}
	}
	return unixPath(o.itself()), o, c.decide(v, func() *question {
		return &question{kind: wire.KindConnect, target: o.path, as: path, act: act{does: "connect"}, identity: o.identity(), pins: keep(o)}
	})
}

// connect connects without waiting; where the caller's socket would wait, a goroutine
// does, and no thread. fd is closed in the end.
func (c *call) connect(fd int, to sockaddr) outcome {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	kind, kerr := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil || kerr != nil || flags&unix.O_NONBLOCK != 0 || kind == unix.SOCK_DGRAM || kind == unix.SOCK_RAW {
		err := to.call(unix.SYS_CONNECT, fd)
		_ = unix.Close(fd)
		return failed(err)
	}
	// The flag is the open file's and not this descriptor's: for as long as this takes,
	// the caller's other threads find a socket that does not wait.
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags|unix.O_NONBLOCK); err != nil {
		_ = unix.Close(fd)
		return failed(err)
	}
	err = to.call(unix.SYS_CONNECT, fd)
	if err != unix.EINPROGRESS && err != unix.EAGAIN {
		return failed(settle(fd, flags, err))
	}
	if err == unix.EAGAIN { // a Unix socket whose queue is full: it cannot be waited for, only tried again
		// to names a descriptor that is about to be closed: the next attempt resolves anew.
		_ = settle(fd, flags, nil)
		return outcome{how: waits, wait: func(done func(outcome)) { c.later(retry, done) }}
	}
	return outcome{how: waits, wait: func(done func(outcome)) { c.established(fd, flags, to, done) }}
}

// retry is how soon something is tried again that cannot be waited for.
const retry = 10 * time.Millisecond

// settle gives the socket its flags back and closes the copy.
func settle(fd, flags int, err error) error {
	_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags)
	_ = unix.Close(fd)
	return err
}

// later attempts the call again after a while, unless its caller is gone.
func (c *call) later(d time.Duration, done func(outcome)) {
	c.s.wg.Add(1)
	go func() {
		defer c.s.wg.Done()
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-c.s.stop:
			return
		case <-t.C:
		}
		if c.s.listener.valid(c.id) {
			done(outcome{how: blocks, side: resuming, then: c.attempt})
		}
	}()
}

// established waits until a connection is made or refused, its time is over, or the
// caller is gone.
func (c *call) established(fd, flags int, to sockaddr, done func(outcome)) {
	limit := time.Time{}
	if tv, err := unix.GetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO); err == nil && (tv.Sec != 0 || tv.Usec != 0) {
		limit = time.Now().Add(time.Duration(tv.Nano()))
	}
	c.s.wg.Add(1)
	go func() {
		defer c.s.wg.Done()
		f := os.NewFile(uintptr(fd), "connecting") // waits with the runtime's poller
		defer func() { _ = f.Close() }()
		raw, err := f.SyscallConn()
		if err != nil {
			done(failed(unix.EIO))
			return
		}
		end := unix.Errno(0)
		for {
			slice := time.Now().Add(look)
			if !limit.IsZero() && limit.Before(slice) {
				slice = limit
			}
			_ = f.SetWriteDeadline(slice)
			err := raw.Write(func(uintptr) bool {
				// The second connect says how the first went, and makes the socket as
				// one is that has waited itself.
				end = errno(to.call(unix.SYS_CONNECT, fd))
				return end != unix.EALREADY && end != unix.EINPROGRESS
			})
			if err == nil {
				break
			}
			if !limit.IsZero() && !time.Now().Before(limit) {
				end = unix.EINPROGRESS // what a socket with SO_SNDTIMEO returns
				break
			}
			if c.s.over() || !c.s.listener.valid(c.id) {
				end = unix.EINTR
				break
			}
		}
		_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags)
		if end == 0 || end == unix.EISCONN {
			done(result(0, nil))
			return
		}
		done(failed(end))
	}()
}
