//go:build linux

package supervise

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"loop/backend/policy"
)

const (
	maxXattrName = 255     // XATTR_NAME_MAX
	maxXattrSize = 1 << 16 // XATTR_SIZE_MAX
)

// attribute is an extended attribute that is set, or without a value removed.
type attribute struct {
	name  string
	value []byte
	flags int
	gone  bool
}

func (c *call) attributeName(i int) (string, error) {
	name, err := c.mem.text(c.args[i], maxXattrName+1, unix.ERANGE)
	if err == nil && name == "" {
		err = unix.ERANGE
	}
	return name, err
}

// attribute reads name, value, size and flags from argument i on.
func (c *call) attribute(i int) (a attribute, err error) {
	flags := int(int32(c.args[i+3]))
	if flags&^(unix.XATTR_CREATE|unix.XATTR_REPLACE) != 0 {
		return a, unix.EINVAL
	}
	if a.name, err = c.attributeName(i); err != nil {
		return a, err
	}
	a.flags = flags
	a.value, err = c.attributeValue(c.args[i+1], c.args[i+2])
	return a, err
}

func (c *call) attributeValue(addr, size uint64) ([]byte, error) {
	if size > maxXattrSize {
		return nil, unix.E2BIG
	}
	if size == 0 {
		return nil, nil
	}
	return c.mem.full(addr, int(size))
}

func (a attribute) on(o *object) error {
	if a.gone {
		return unix.Removexattr(o.itself(), a.name)
	}
	return unix.Setxattr(o.itself(), a.name, a.value, a.flags)
}

func (a attribute) onDescriptor(fd int) error {
	if a.gone {
		return unix.Fremovexattr(fd, a.name)
	}
	return unix.Fsetxattr(fd, a.name, a.value, a.flags)
}

func decodeSetxattr(nofollow bool) decoder {
	return func(c *call) (func(*call) outcome, error) {
		a, err := c.attribute(1)
		if err != nil {
			return nil, err
		}
		l, err := c.at(only(0))
		return changing{at: l, nofoll: nofollow, op: policy.Chmod, act: a.act(), change: a.on}.perform, err
	}
}

func decodeRemovexattr(nofollow bool) decoder {
	return func(c *call) (func(*call) outcome, error) {
		name, err := c.attributeName(1)
		if err != nil {
			return nil, err
		}
		l, err := c.at(only(0))
		a := attribute{name: name, gone: true}
		return changing{at: l, nofoll: nofollow, op: policy.Chmod, act: a.act(), change: a.on}.perform, err
	}
}

func decodeFsetxattr(c *call) (func(*call) outcome, error) {
	a, err := c.attribute(1)
	return held{int32(c.args[0]), policy.Chmod, a.act(), a.onDescriptor}.perform, err
}

func decodeFremovexattr(c *call) (func(*call) outcome, error) {
	name, err := c.attributeName(1)
	a := attribute{name: name, gone: true}
	return held{int32(c.args[0]), policy.Chmod, a.act(), a.onDescriptor}.perform, err
}

// decodeSetxattrat reads struct xattr_args: a pointer, a size and flags.
func decodeSetxattrat(c *call) (func(*call) outcome, error) {
	if c.args[5] < 16 {
		return nil, unix.EINVAL
	}
	if c.args[5] > 16 {
		return nil, unix.E2BIG
	}
	raw, err := c.mem.full(c.args[4], 16)
	if err != nil {
		return nil, err
	}
	a := attribute{flags: int(int32(binary.NativeEndian.Uint32(raw[12:])))}
	if a.flags&^(unix.XATTR_CREATE|unix.XATTR_REPLACE) != 0 {
		return nil, unix.EINVAL
	}
	if a.name, err = c.attributeName(3); err != nil {
		return nil, err
	}
	if a.value, err = c.attributeValue(binary.NativeEndian.Uint64(raw), uint64(binary.NativeEndian.Uint32(raw[8:]))); err != nil {
		return nil, err
	}
	return attributeAt(c, a)
}

func decodeRemovexattrat(c *call) (func(*call) outcome, error) {
	name, err := c.attributeName(3)
	if err != nil {
		return nil, err
	}
	return attributeAt(c, attribute{name: name, gone: true})
}

func attributeAt(c *call, a attribute) (func(*call) outcome, error) {
	g, err := changing{op: policy.Chmod, act: a.act(), change: a.on}.atFlags(c.args[2])
	if err != nil {
		return nil, err
	}
	g.at, err = c.at(0)
	return g.perform, err
}
