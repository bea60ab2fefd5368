//go:build linux

package supervise

import (
	"encoding/binary"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/denial"
	"loop/backend/policy"
	"loop/backend/wire"
)

// opening is an open as the caller asked for it.
type opening struct {
	at      location
	flags   int
	mode    uint32
	resolve uint64
}

func decodeOpen(c *call) (func(*call) outcome, error) {
	return decodeOpening(c, unix.AT_FDCWD, c.args[0], int(int32(c.args[1])), uint32(c.args[2]))
}

func decodeCreat(c *call) (func(*call) outcome, error) {
	return decodeOpening(c, unix.AT_FDCWD, c.args[0], unix.O_CREAT|unix.O_WRONLY|unix.O_TRUNC, uint32(c.args[1]))
}

func decodeOpenat(c *call) (func(*call) outcome, error) {
	return decodeOpening(c, int32(c.args[0]), c.args[1], int(int32(c.args[2])), uint32(c.args[3]))
}

func decodeOpening(c *call, dirfd int32, addr uint64, flags int, mode uint32) (func(*call) outcome, error) {
	if flags&unix.O_PATH != 0 { // such a descriptor cannot be given; the filter lets these pass
		return nil, unix.ENOSYS
	}
	if flags&unix.O_CREAT != 0 && flags&unix.O_DIRECTORY != 0 {
		return nil, unix.EINVAL
	}
	path, err := c.mem.path(addr)
	o := opening{at: location{dirfd: dirfd, path: path}, flags: flags, mode: mode & 0o7777}
	return o.perform, err
}

// decodeOpenat2 reads struct open_how. O_PATH is ENOSYS, as on a kernel without the
// call: such a descriptor cannot be given, and openat(2) makes one.
func decodeOpenat2(c *call) (func(*call) outcome, error) {
	size := c.args[3]
	if size < 24 {
		return nil, unix.EINVAL
	}
	if size > 4096 {
		return nil, unix.E2BIG
	}
	raw, err := c.mem.full(c.args[2], int(size))
	if err != nil {
		return nil, err
	}
	h, err := parseHow(raw)
	if err != nil {
		return nil, err
	}
	path, err := c.mem.path(c.args[1])
	o := opening{at: location{dirfd: int32(c.args[0]), path: path}, flags: int(h.Flags), mode: uint32(h.Mode), resolve: h.Resolve}
	return o.perform, err
}

// resolveCached is RESOLVE_CACHED (Linux 5.12).
const resolveCached = 0x20

// knownFlags are VALID_OPEN_FLAGS of the kernel.
const knownFlags = unix.O_ACCMODE | unix.O_CREAT | unix.O_EXCL | unix.O_NOCTTY | unix.O_TRUNC | unix.O_APPEND | unix.O_NONBLOCK |
	unix.O_SYNC | unix.O_DSYNC | unix.O_ASYNC | unix.O_DIRECT | kernelLargefile | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_NOATIME |
	unix.O_CLOEXEC | unix.O_PATH | unix.O_TMPFILE

const knownResolve = unix.RESOLVE_NO_XDEV | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_BENEATH |
	unix.RESOLVE_IN_ROOT | resolveCached

// parseHow decodes struct open_how as build_open_flags of the kernel does.
func parseHow(raw []byte) (unix.OpenHow, error) {
	for _, b := range raw[min(24, len(raw)):] {
		if b != 0 {
			return unix.OpenHow{}, unix.E2BIG // a field that is not known here
		}
	}
	if len(raw) < 24 {
		return unix.OpenHow{}, unix.EINVAL
	}
	h := unix.OpenHow{
		Flags: binary.NativeEndian.Uint64(raw), Mode: binary.NativeEndian.Uint64(raw[8:]), Resolve: binary.NativeEndian.Uint64(raw[16:]),
	}
	creates := h.Flags&(unix.O_CREAT|unix.O_TMPFILE&^unix.O_DIRECTORY) != 0
	switch {
	case h.Flags&^knownFlags != 0, h.Resolve&^knownResolve != 0,
		h.Resolve&unix.RESOLVE_BENEATH != 0 && h.Resolve&unix.RESOLVE_IN_ROOT != 0,
		creates && h.Mode&^0o7777 != 0, !creates && h.Mode != 0,
		h.Flags&unix.O_CREAT != 0 && h.Flags&unix.O_DIRECTORY != 0:
		return h, unix.EINVAL
	case h.Flags&unix.O_PATH != 0:
		return h, unix.ENOSYS
	case h.Resolve&resolveCached != 0: // asks to try again without it
		return h, unix.EAGAIN
	}
	return h, nil
}

func (o opening) temporary() bool { return o.flags&unix.O_TMPFILE == unix.O_TMPFILE }
func (o opening) creates() bool   { return o.flags&unix.O_CREAT != 0 && !o.temporary() }

func (o opening) writes() bool {
	return o.flags&unix.O_ACCMODE != unix.O_RDONLY || o.flags&unix.O_TRUNC != 0
}

// perform resolves, judges and opens.
func (o opening) perform(c *call) outcome {
	exclusive := o.creates() && o.flags&unix.O_EXCL != 0
	h := how{
		follow: o.flags&unix.O_NOFOLLOW == 0 && !exclusive, resolve: o.resolve,
		dir:   o.flags&unix.O_DIRECTORY != 0, // O_TMPFILE has it as well
		makes: o.creates(),
	}
	if o.creates() && strings.HasSuffix(o.at.path, "/") {
		s, err := c.slot(o.at)
		s.close()
		switch {
		case err != nil:
			return failed(err)
		case s.name != "" && !special(s.name):
			return failed(unix.EISDIR)
		}
	}
	found, missing, err := c.find(o.at, h)
	switch {
	case err == unix.ENOENT && missing != nil && o.creates():
		defer missing.close()
		return o.create(c, *missing)
	case missing != nil:
		missing.close()
		return failed(err)
	case err == unix.ENOENT && o.creates() && o.resolve != 0 && o.at.path != "":
		return o.createWithin(c)
	case err != nil:
		return failed(err)
	}
	defer found.close()
	if exclusive {
		return failed(unix.EEXIST)
	}
	return o.existing(c, found)
}

// createWithin finds the folder of a name that is not there under the caller's RESOLVE
// flags; a link that leads nowhere is not followed under them.
func (o opening) createWithin(c *call) outcome {
	dir, name := split(o.at.path)
	parent, missing, err := c.find(location{dirfd: o.at.dirfd, path: dir}, how{follow: true, dir: true, resolve: o.resolve})
	if missing != nil {
		missing.close()
	}
	if err != nil {
		return failed(err)
	}
	defer parent.close()
	var st unix.Stat_t
	if unix.Fstatat(parent.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
		return failed(unix.ELOOP)
	}
	return o.create(c, slot{parent, name})
}

// create makes a file that must not be there yet: what is opened is what was judged.
func (o opening) create(c *call, at slot) outcome {
	if at.name != at.bare() {
		return failed(unix.EISDIR)
	}
	mode := c.masked(at.dir, o.mode) // of one moment, as the question
	v := c.file(policy.Create, at.path())
	if rank(v.Decision) == 1 && at.dir.readOnly() {
		return failed(unix.EROFS)
	}
	if end := c.decide(v, func() *question {
		return &question{kind: wire.KindFile, op: policy.Create, target: at.path(), as: o.at.path, inPlace: true,
			act: o.act(&mode)}
	}); end != nil {
		return *end
	}
	fd, err := unix.Openat(at.dir.fd, at.name, o.flags|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NOCTTY, mode)
	if err == unix.EEXIST && o.flags&unix.O_EXCL == 0 {
		return failed(errAgain)
	}
	out := o.opened(fd, err)
	if out.how != gives {
		return out
	}
	return c.given(out, func(err error) error {
		if err != nil && err != errGone { // the caller's descriptors are used up: it must be able to try again
			at.remove(fd)
		}
		return err
	})
}

// remove removes the name of what was just made, if it still is that one's.
func (s slot) remove(made int) {
	var was unix.Stat_t
	if unix.Fstat(made, &was) == nil && s.is(&was) {
		_ = unix.Unlinkat(s.dir.fd, s.name, 0)
	}
}

// emptied opens what is to be emptied, and empties it once the caller has the descriptor:
// an open that fails because the caller has too many must not have lost anything.
func (o opening) emptied(c *call, found *object) outcome {
	kept := o
	kept.flags &^= unix.O_TRUNC
	var empty func(out outcome) outcome
	empty = func(out outcome) outcome {
		switch then := out.then; {
		case out.how == blocks:
			out.then = func() outcome { return empty(then()) }
		case out.how == gives:
			return c.given(out, func(err error) error {
				if err != nil {
					return err
				}
				return unix.Ftruncate(out.fd, 0)
			})
		}
		return out
	}
	out := kept.reopen(c, found)
	if out.how == returns { // it failed, perhaps with another error than the whole open does
		return o.reopen(c, found)
	}
	return empty(out)
}

func (o opening) opened(fd int, err error) outcome {
	if err != nil {
		return failed(err)
	}
	// A file with a writer cannot be executed, and a FIFO counts its readers and writers.
	var st unix.Stat_t
	alone := o.flags&unix.O_ACCMODE != unix.O_RDONLY || unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFIFO
	out := outcome{how: gives, fd: fd, alone: alone}
	if o.flags&unix.O_CLOEXEC != 0 {
		out.val = 1
	}
	return out
}

// existing judges and opens what was found.
func (o opening) existing(c *call, found *object) outcome {
	if found.kind() == unix.S_IFCHR && found.st.Rdev == unix.Mkdev(5, 0) {
		tty, err := c.terminal()
		if err != nil {
			return failed(err)
		}
		defer tty.close()
		tty.path, found = found.path, tty
	}
	switch {
	case found.kind() == unix.S_IFLNK && o.flags&unix.O_DIRECTORY != 0:
		return failed(unix.ENOTDIR)
	case found.kind() == unix.S_IFLNK:
		return failed(unix.ELOOP)
	case found.kind() == unix.S_IFDIR && o.creates():
		return failed(unix.EISDIR)
	}
	if err := c.refuse(found, o.writes()); err != nil {
		closed := policy.Verdict{Decision: policy.Deny, Rule: "memory", Category: policy.Escape, Message: "this file of /proc is closed"}
		c.ruled(closed, func() *question { return &question{kind: wire.KindFile, op: policy.Read, target: found.path} })
		c.s.deny(c, denial.Denial{Operation: string(policy.Write), Target: found.path, By: "memory",
			Why: "this file of /proc is closed"}, "memory")
		return failed(err)
	}
	if end := c.notOwn(found); end != nil {
		return *end
	}
	op, v := o.judge(c, found)
	var made *uint32
	if o.temporary() {
		made = new(c.masked(found, o.mode))
	}
	if end := c.decide(v, func() *question { return o.question(c, found, op, made) }); end != nil {
		return *end
	}
	if made != nil {
		fd, err := unix.Openat(found.fd, ".", o.flags|unix.O_CLOEXEC, *made)
		return o.opened(fd, err)
	}
	if o.flags&unix.O_TRUNC != 0 && o.flags&unix.O_ACCMODE != unix.O_RDONLY && found.kind() == unix.S_IFREG {
		return o.emptied(c, found)
	}
	return o.reopen(c, found)
}

func (o opening) judge(c *call, found *object) (policy.Operation, policy.Verdict) {
	if o.temporary() {
		return policy.Create, c.file(policy.Create, join(found.path, "#"+strconv.FormatUint(found.st.Ino, 10)))
	}
	if !o.writes() {
		return policy.Read, c.object(policy.Read, found)
	}
	v := c.object(policy.Write, found)
	if o.flags&unix.O_ACCMODE != unix.O_WRONLY {
		if r := c.object(policy.Read, found); rank(r.Decision) > rank(v.Decision) {
			return policy.Read, r
		}
	}
	return policy.Write, v
}

func (o opening) question(c *call, found *object, op policy.Operation, made *uint32) *question {
	q := &question{kind: wire.KindFile, op: op, target: found.path, as: o.at.path, act: o.act(made), identity: found.identity()}
	if op == policy.Write {
		q.inPlace = true
		q.append = o.flags&(unix.O_APPEND|unix.O_TRUNC) == unix.O_APPEND && o.flags&unix.O_ACCMODE == unix.O_WRONLY
		q.before = c.content(found)
	}
	if fd, err := unix.Dup(found.fd); err == nil { // keeps the inode's number from being used again
		unix.CloseOnExec(fd)
		q.pins = append(q.pins, &object{fd: fd})
	}
	return q
}

// terminal pins the caller's controlling terminal.
func (c *call) terminal() (*object, error) {
	nr := c.stat(6)
	major, minor := uint32(nr>>8)&0xfff, uint32(nr)&0xff|uint32(nr>>12)&0xfff00
	if nr == 0 || major < 136 || major > 143 {
		return nil, unix.ENXIO
	}
	fd, err := unix.Open("/dev/pts/"+strconv.Itoa(int(major-136)<<20|int(minor)), unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, unix.ENXIO
	}
	o, err := c.s.describe(fd)
	if err == nil && o.st.Rdev != unix.Mkdev(major, minor) {
		o.close()
		return nil, unix.ENXIO
	}
	return o, err
}
