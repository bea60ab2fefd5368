//go:build linux

package supervise

import (
	"golang.org/x/sys/unix"

	"loop/backend/policy"
	"loop/backend/wire"
)

// linking is a call that gives a file a second name, or an unnamed one its first.
type linking struct {
	from, to location
	flags    int
}

func decodeLink(c *call) (func(*call) outcome, error) {
	from, err := c.at(only(0))
	if err != nil {
		return nil, err
	}
	to, err := c.at(only(1))
	return linking{from, to, 0}.perform, err
}

func decodeLinkat(c *call) (func(*call) outcome, error) {
	flags := int(int32(c.args[4]))
	if flags&^(unix.AT_SYMLINK_FOLLOW|unix.AT_EMPTY_PATH) != 0 {
		return nil, unix.EINVAL
	}
	from, err := c.at(0)
	if err != nil {
		return nil, err
	}
	to, err := c.at(2)
	return linking{from, to, flags}.perform, err
}

func (l linking) perform(c *call) outcome {
	o, err := c.target(l.from, l.flags&unix.AT_SYMLINK_FOLLOW != 0, l.flags&unix.AT_EMPTY_PATH != 0)
	if err != nil {
		return failed(err)
	}
	defer o.close()
	s, err := c.slot(l.to)
	if err != nil {
		return failed(err)
	}
	defer s.close()
	if s.name == "" || special(s.name) {
		return failed(unix.EEXIST)
	}
	v := stricter(c.file(policy.Create, s.path()), c.object(policy.Link, o))
	v = stricter(v, c.below(o, policy.Create, s.path()))
	if end := c.decide(v, func() *question {
		return &question{kind: wire.KindFile, op: policy.Link, target: s.path(), from: o.path, as: l.to.path, act: act{does: "link"},
			identity: o.identity(), after: c.content(o), pins: keep(o)}
	}); end != nil {
		return *end
	}
	// The kernel follows the descriptor to exactly the object, and a symbolic link that
	// is the object no further.
	return failed(unix.Linkat(unix.AT_FDCWD, o.itself(), s.dir.fd, s.name, unix.AT_SYMLINK_FOLLOW))
}

// target pins what a call is about: what a path leads to, or with an empty path, where
// that is allowed, the descriptor itself.
func (c *call) target(l location, follow, empty bool) (*object, error) {
	if l.path == "" && l.err == nil && empty {
		fd, err := c.handle(l.dirfd)
		if err != nil {
			return nil, err
		}
		if !c.s.listener.valid(c.id) {
			_ = unix.Close(fd)
			return nil, errGone
		}
		return c.s.describe(fd)
	}
	o, missing, err := c.find(l, how{follow: follow})
	if missing != nil {
		missing.close()
	}
	return o, err
}
