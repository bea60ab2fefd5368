//go:build linux

package supervise

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"

	"loop/backend/policy"
	"loop/backend/wire"
)

// changing is a call that changes something of one object: its mode, owner, times,
// attributes or length.
type changing struct {
	at     location
	nofoll bool
	empty  bool // an empty path means the descriptor
	op     policy.Operation
	act    act
	change func(o *object) error
}

func (g changing) perform(c *call) outcome {
	o, err := c.target(g.at, !g.nofoll, g.empty)
	if err != nil {
		return failed(err)
	}
	defer o.close()
	if end := g.decide(c, o); end != nil {
		return *end
	}
	return failed(g.change(o))
}

func (g changing) decide(c *call, o *object) *outcome {
	return c.decide(c.object(g.op, o), func() *question {
		return &question{kind: wire.KindFile, op: g.op, target: o.path, as: g.at.path, act: g.act, identity: o.identity(), pins: keep(o)}
	})
}

// held is a call that changes what one of the caller's descriptors is. It is performed
// on a copy of the descriptor, so that what the kernel says of its kind holds.
type held struct {
	fd     int32
	op     policy.Operation
	act    act
	change func(fd int) error
}

func (h held) perform(c *call) outcome {
	fd, err := c.fetch(h.fd)
	if err != nil {
		return failed(err)
	}
	o, err := c.s.describe(fd)
	if err != nil {
		return failed(err)
	}
	defer o.close()
	if end := (changing{op: h.op, act: h.act}).decide(c, o); end != nil {
		return *end
	}
	return failed(h.change(fd))
}

// atFlags checks the flags of a call that takes AT_SYMLINK_NOFOLLOW and AT_EMPTY_PATH.
func (g changing) atFlags(flags uint64) (changing, error) {
	f := int(int32(flags))
	if f&^(unix.AT_SYMLINK_NOFOLLOW|unix.AT_EMPTY_PATH) != 0 {
		return g, unix.EINVAL
	}
	g.nofoll, g.empty = f&unix.AT_SYMLINK_NOFOLLOW != 0, f&unix.AT_EMPTY_PATH != 0
	return g, nil
}

// decodeChmod takes the place of the path, of the mode, and of flags (0: none).
func decodeChmod(at, mode, flags int) decoder {
	return func(c *call) (func(*call) outcome, error) {
		bits := uint32(c.args[mode]) & 0o7777
		g := changing{op: policy.Chmod, act: chmods(bits), change: func(o *object) error {
			return unix.Fchmodat(unix.AT_FDCWD, o.itself(), bits, 0)
		}}
		var err error
		if flags > 0 {
			if g, err = g.atFlags(c.args[flags]); err != nil {
				return nil, err
			}
		}
		g.at, err = c.at(at)
		return g.perform, err
	}
}

func decodeFchmod(c *call) (func(*call) outcome, error) {
	bits := uint32(c.args[1]) & 0o7777
	return held{int32(c.args[0]), policy.Chmod, chmods(bits), func(fd int) error { return unix.Fchmod(fd, bits) }}.perform, nil
}

// decodeChown takes the place of the path, of the ids, and of flags (0: none).
func decodeChown(at, ids, flags int, nofollow bool) decoder {
	return func(c *call) (func(*call) outcome, error) {
		uid, gid := int(int32(c.args[ids])), int(int32(c.args[ids+1]))
		g := changing{op: policy.Chown, nofoll: nofollow, act: chowns(uid, gid), change: func(o *object) error {
			return unix.Fchownat(o.fd, "", uid, gid, unix.AT_EMPTY_PATH)
		}}
		var err error
		if flags > 0 {
			if g, err = g.atFlags(c.args[flags]); err != nil {
				return nil, err
			}
		}
		g.at, err = c.at(at)
		return g.perform, err
	}
}

func decodeFchown(c *call) (func(*call) outcome, error) {
	uid, gid := int(int32(c.args[1])), int(int32(c.args[2]))
	return held{int32(c.args[0]), policy.Chown, chowns(uid, gid), func(fd int) error { return unix.Fchown(fd, uid, gid) }}.perform, nil
}

func decodeTruncate(c *call) (func(*call) outcome, error) {
	size := int64(c.args[1])
	l, err := c.at(only(0))
	if size < 0 {
		err = unix.EINVAL
	}
	return changing{at: l, op: policy.Write, act: truncates(size), change: func(o *object) error {
		if o.proc && c.refuse(o, true) != nil {
			return unix.EACCES
		}
		return unix.Truncate(o.itself(), size)
	}}.perform, err
}

// times reads the two times of a call: pairs of words, of which the second is per
// second. A null pointer is now.
func (c *call) times(addr uint64, nanos int64) (*[2]unix.Timespec, error) {
	if addr == 0 {
		return nil, nil
	}
	raw, err := c.mem.full(addr, 32)
	if err != nil {
		return nil, err
	}
	var ts [2]unix.Timespec
	for i := range ts {
		ts[i].Sec = int64(binary.NativeEndian.Uint64(raw[16*i:]))
		ts[i].Nsec = int64(binary.NativeEndian.Uint64(raw[16*i+8:]))
		if nanos != 1 && (ts[i].Nsec < 0 || ts[i].Nsec >= 1_000_000) {
			return nil, unix.EINVAL
		}
		ts[i].Nsec *= nanos
	}
	return &ts, nil
}

func setTimes(fd int, path *byte, ts *[2]unix.Timespec) error {
	_, _, e := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(fd), uintptr(unsafe.Pointer(path)), uintptr(unsafe.Pointer(ts)), 0, 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

func retime(ts *[2]unix.Timespec) func(o *object) error {
	return func(o *object) error {
		path, err := unix.BytePtrFromString(o.itself())
		if err != nil {
			return err
		}
		return setTimes(unix.AT_FDCWD, path, ts)
	}
}

// decodeUtimes takes the place of the path and of the times.
func decodeUtimes(at, when int, nanos int64) decoder {
	return func(c *call) (func(*call) outcome, error) {
		ts, err := c.times(c.args[when], nanos)
		if err != nil {
			return nil, err
		}
		if at >= 0 && c.args[at+1] == 0 { // no path: the descriptor itself
			return held{int32(c.args[at]), policy.Chmod, retimes(ts), func(fd int) error { return setTimes(fd, nil, ts) }}.perform, nil
		}
		g := changing{op: policy.Chmod, act: retimes(ts), change: retime(ts)}
		if at >= 0 && nanos == 1 {
			if g, err = g.atFlags(c.args[when+1]); err != nil {
				return nil, err
			}
		}
		g.at, err = c.at(at)
		return g.perform, err
	}
}

// decodeUtime reads struct utimbuf: two words of seconds.
func decodeUtime(c *call) (func(*call) outcome, error) {
	var ts *[2]unix.Timespec
	if addr := c.args[1]; addr != 0 {
		raw, err := c.mem.full(addr, 16)
		if err != nil {
			return nil, err
		}
		ts = new([2]unix.Timespec)
		ts[0].Sec, ts[1].Sec = int64(binary.NativeEndian.Uint64(raw)), int64(binary.NativeEndian.Uint64(raw[8:]))
	}
	l, err := c.at(only(0))
	return changing{at: l, op: policy.Chmod, act: retimes(ts), change: retime(ts)}.perform, err
}
