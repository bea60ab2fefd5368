//go:build linux

package supervise

import (
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"loop/backend/policy"
	"loop/backend/wire"
)

// binding is a call that gives a socket of the caller an address.
type binding struct {
	fd int32
	to sockaddr
}

func decodeBind(c *call) (func(*call) outcome, error) {
	to, err := c.sockaddr(c.args[1], c.args[2])
	return binding{int32(c.args[0]), to}.perform, err
}

// cwd is held by whoever needs the process's working directory to be another one.
var cwd sync.Mutex

// perform binds. The address of a Unix socket is kept as it is, since getsockname(2)
// tells it to the program and to those who connect; a relative one is bound in the
// caller's folder.
func (b binding) perform(c *call) outcome {
	fd, err := c.fetch(b.fd)
	if err != nil {
		return failed(err)
	}
	defer func() { _ = unix.Close(fd) }()
	domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil {
		return failed(err)
	}
	path, abstract := b.to.unix()
	if domain != unix.AF_UNIX || path == "" {
		err := b.to.call(unix.SYS_BIND, fd)
		if err == nil && domain == unix.AF_UNIX {
			err = c.markAbstract(fd, abstract)
		}
		return failed(err)
	}
	at := location{dirfd: unix.AT_FDCWD, path: path}
	s, err := c.slot(at)
	if err != nil {
		return failed(err)
	}
	defer s.close()
	if s.name == "" || special(s.name) {
		return failed(unix.EADDRINUSE)
	}
	var st unix.Stat_t
	if unix.Fstatat(s.dir.fd, s.bare(), &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
		return failed(unix.EADDRINUSE)
	}
	if end := c.decide(c.file(policy.Create, s.path()), func() *question {
		return &question{kind: wire.KindFile, op: policy.Create, target: s.path(), as: path,
			act: act{does: "bind", with: []string{modeText(c.umask())}}}
	}); end != nil {
		return *end
	}
	if err := b.bind(c, fd, at, s); err != nil {
		return failed(err)
	}
	return failed(c.markPath(s))
}

func (b binding) bind(c *call, fd int, at location, s slot) error {
	// The kernel takes the mode of the new file from the socket and the umask.
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	mask := c.umask()
	if err := unix.Fchmod(fd, st.Mode&0o7777&^mask); err != nil {
		return err
	}
	defer func() { _ = unix.Fchmod(fd, st.Mode&0o7777) }()
	if strings.HasPrefix(at.path, "/") {
		if err := b.to.call(unix.SYS_BIND, fd); err != nil {
			return err
		}
		// A folder of the path may have been exchanged for a link meanwhile.
		return s.madeIn()
	}
	cwd.Lock()
	defer cwd.Unlock()
	from := s.dir.fd
	if strings.Contains(at.path, "/") {
		base, err := c.base(at, 0)
		if err != nil {
			return err
		}
		defer func() { _ = unix.Close(base) }()
		from = base
	}
	if err := unix.Fchdir(from); err != nil {
		return err
	}
	defer func() { _ = os.Chdir("/") }()
	if err := b.to.call(unix.SYS_BIND, fd); err != nil {
		return err
	}
	return s.madeIn()
}

// madeIn reports as an error when a socket is not where it was judged to be made.
func (s slot) madeIn() error {
	var st unix.Stat_t
	if err := unix.Fstatat(s.dir.fd, s.bare(), &st, unix.AT_SYMLINK_NOFOLLOW); err != nil || st.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return unix.EACCES
	}
	return nil
}
