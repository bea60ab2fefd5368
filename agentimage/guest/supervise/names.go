//go:build linux

package supervise

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/filter"
	"loop/backend/policy"
	"loop/backend/wire"
)

// making is a call that makes one name.
type making struct {
	at     location
	folder bool
	text   string // of a symbolic link
	// plan says what is made, and makes it: with the umask of one moment.
	plan func(c *call, s slot) (act, func() error)
}

func (m making) perform(c *call) outcome {
	s, err := c.slot(m.at)
	if err != nil {
		return failed(err)
	}
	defer s.close()
	if s.name == "" || special(s.name) {
		return failed(unix.EEXIST)
	}
	// What is there already can only fail, as “mkdir -p” counts on.
	var st unix.Stat_t
	if unix.Fstatat(s.dir.fd, s.bare(), &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
		return failed(unix.EEXIST)
	}
	judged := c.file
	if m.folder {
		judged = c.folder
	}
	v := judged(policy.Create, s.path())
	if m.text != "" && !c.toTwin(s, m.text) { // everything that it leads to gets names below it
		v = stricter(v, c.view.Leads(policy.Create, s.path()))
	}
	if rank(v.Decision) == 1 && s.dir.readOnly() {
		return failed(unix.EROFS)
	}
	does, do := m.plan(c, s)
	if end := c.decide(v, func() *question {
		return &question{kind: wire.KindFile, op: policy.Create, target: s.path(), from: m.text, as: m.at.path, act: does}
	}); end != nil {
		return *end
	}
	return failed(do())
}

// toTwin reports whether a link in the place of s leads to a name beside it, below which the
// rules say what they say below the link. Git makes and removes such a link in each new
// repository, to see whether it can. What is there must not be a link, which would lead on;
// one that comes later is judged itself.
func (c *call) toTwin(s slot, text string) bool {
	if special(text) || strings.Contains(text, "/") {
		return false
	}
	var st unix.Stat_t
	switch err := unix.Fstatat(s.dir.fd, text, &st, unix.AT_SYMLINK_NOFOLLOW); {
	case err == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK, err != nil && err != unix.ENOENT:
		return false
	}
	return c.view.Twins(s.path(), join(s.dir.path, text))
}

// at returns the location whose folder and path are the arguments i and i+1; with i < 0
// the path is argument -i-1 and starts at the working directory. A path that cannot be
// read is an error when it is resolved, as the kernel's is.
func (c *call) at(i int) (location, error) {
	l := location{dirfd: unix.AT_FDCWD}
	if i < 0 {
		l.path, l.err = c.mem.path(c.args[-i-1])
		return l, nil
	}
	l.dirfd = int32(c.args[i])
	l.path, l.err = c.mem.path(c.args[i+1])
	return l, nil
}

// only is the place of a path that has no folder of its own: argument i.
func only(i int) int { return -i - 1 }

func decodeMkdir(at, mode int) decoder {
	return func(c *call) (func(*call) outcome, error) {
		l, err := c.at(at)
		bits := uint32(c.args[mode]) & 0o7777
		return making{l, true, "", func(c *call, s slot) (act, func() error) {
			mode := c.masked(s.dir, bits)
			return makesFolder(mode), func() error { return unix.Mkdirat(s.dir.fd, s.name, mode) }
		}}.perform, err
	}
}

func decodeMknod(at, mode int) decoder {
	return func(c *call) (func(*call) outcome, error) {
		l, err := c.at(at)
		bits := uint32(c.args[mode])
		switch bits & unix.S_IFMT {
		case 0, unix.S_IFREG, unix.S_IFIFO, unix.S_IFSOCK:
		case unix.S_IFCHR, unix.S_IFBLK, unix.S_IFDIR:
			return nil, unix.EPERM
		default:
			return nil, unix.EINVAL
		}
		return making{l, false, "", func(c *call, s slot) (act, func() error) {
			mode := c.masked(s.dir, bits)
			return makesNode(mode), func() error { return unix.Mknodat(s.dir.fd, s.name, mode, 0) }
		}}.perform, err
	}
}

func decodeSymlink(text, at int) decoder {
	return func(c *call) (func(*call) outcome, error) {
		to, err := c.mem.path(c.args[text])
		if err == nil && to == "" {
			err = unix.ENOENT
		}
		if err != nil {
			return nil, err
		}
		l, err := c.at(at)
		return making{l, false, to, func(_ *call, s slot) (act, func() error) {
			return symlinks(to), func() error { return unix.Symlinkat(to, s.dir.fd, s.name) }
		}}.perform, err
	}
}

// removing is a call that removes one name.
type removing struct {
	at    location
	flags int
}

func decodeUnlink(at, flags int) decoder {
	return func(c *call) (func(*call) outcome, error) {
		l, err := c.at(at)
		return removing{l, flags}.perform, err
	}
}

func decodeUnlinkat(c *call) (func(*call) outcome, error) {
	flags := int(int32(c.args[2]))
	if flags&^unix.AT_REMOVEDIR != 0 {
		return nil, unix.EINVAL
	}
	l, err := c.at(0)
	if err == nil && l.path == filter.ProbeName && int32(c.args[0]) == unix.AT_FDCWD {
		return nil, filter.ProbeErrno // nothing but a supervisor says so
	}
	return removing{l, flags}.perform, err
}

func (r removing) perform(c *call) outcome {
	s, err := c.slot(r.at)
	if err != nil {
		return failed(err)
	}
	defer s.close()
	if s.name == "" || special(s.name) { // refused by the kernel, each with its own number
		return failed(unremovable(s.name, r.flags))
	}
	o, err := s.pin(c)
	if err != nil {
		return failed(err)
	}
	defer o.close()
	v := c.file(policy.Delete, s.path())
	if o.kind() == unix.S_IFLNK && !c.toTwin(s, o.leadsTo()) {
		v = stricter(v, c.view.Leads(policy.Delete, s.path()))
	}
	if rank(v.Decision) == 1 { // nobody is asked about what cannot happen
		switch {
		case s.dir.readOnly():
			return failed(unix.EROFS)
		case r.flags&unix.AT_REMOVEDIR != 0 && o.occupied(): // git stash tries to remove .git
			return failed(unix.ENOTEMPTY)
		}
	}
	if end := c.decide(v, func() *question {
		return &question{kind: wire.KindFile, op: policy.Delete, target: s.path(), as: r.at.path,
			act: act{does: "unlink", with: []string{strconv.Itoa(r.flags)}}, identity: o.identity(), before: c.content(o), pins: keep(o)}
	}); end != nil {
		return *end
	}
	if c.granted != "" && !s.is(&o.st) { // an answer is about one file
		return failed(errAgain)
	}
	return failed(unix.Unlinkat(s.dir.fd, s.name, r.flags))
}

func unremovable(name string, flags int) error {
	if flags&unix.AT_REMOVEDIR == 0 {
		return unix.EISDIR
	}
	switch (slot{name: name}).bare() {
	case ".":
		return unix.EINVAL
	case "..":
		return unix.ENOTEMPTY
	}
	return unix.EBUSY
}

// keep pins objects once more, for as long as a question waits: the number of a pinned
// inode is not used for another one.
func keep(objects ...*object) []*object {
	var out []*object
	for _, o := range objects {
		if o == nil {
			continue
		}
		if fd, err := unix.FcntlInt(uintptr(o.fd), unix.F_DUPFD_CLOEXEC, 0); err == nil {
			out = append(out, &object{fd: fd})
		}
	}
	return out
}
