//go:build linux

package supervise

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// location is a path as the caller gave it, and the folder from which it starts.
type location struct {
	dirfd int32
	path  string
	err   error // why the path could not be read
}

// how says how a path is followed.
type how struct {
	follow  bool   // the last part, where it is a symbolic link
	dir     bool   // it must be a folder
	makes   bool   // it may be made as a file, for which no name may end in a slash
	resolve uint64 // RESOLVE_* of openat2(2)
}

// base opens the folder from which a path starts; AT_FDCWD where it is absolute, unless
// the folder is to be the root.
func (c *call) base(l location, resolve uint64) (int, error) {
	if strings.HasPrefix(l.path, "/") && resolve&unix.RESOLVE_IN_ROOT == 0 {
		return unix.AT_FDCWD, nil
	}
	return c.handle(l.dirfd)
}

// handle pins what the caller's descriptor is, or its working directory.
func (c *call) handle(fd int32) (int, error) {
	c.th.with(capPtrace)
	defer c.th.with(0)
	at := "/proc/" + strconv.Itoa(c.tid) + "/cwd"
	if fd != unix.AT_FDCWD {
		if fd < 0 {
			return -1, unix.EBADF
		}
		at = "/proc/" + strconv.Itoa(c.tid) + "/fd/" + strconv.Itoa(int(fd))
	}
	pinned, err := unix.Open(at, unix.O_PATH|unix.O_CLOEXEC, 0)
	if fd == unix.AT_FDCWD {
		return pinned, err
	}
	switch err {
	case unix.ENOENT:
		err = unix.EBADF
	case unix.EACCES: // the descriptors of a process that may not be dumped are root's to look at
		return c.fetch(fd)
	}
	return pinned, err
}

// find pins what a path leads to. Where only the last name is missing it returns ENOENT,
// and the slot to make it in if how wants it. Both are the caller's to close.
func (c *call) find(l location, h how) (*object, *slot, error) {
	if l.err != nil {
		return nil, nil, l.err
	}
	if l.path == "" {
		return nil, nil, unix.ENOENT
	}
	base, err := c.base(l, h.resolve)
	if err != nil {
		return nil, nil, err
	}
	if base >= 0 {
		defer func() { _ = unix.Close(base) }()
	}
	if !c.s.listener.valid(c.id) {
		return nil, nil, errGone
	}
	return c.findFrom(base, l.path, h)
}

func (c *call) findFrom(base int, path string, h how) (*object, *slot, error) {
	o, err := c.quick(base, path, h)
	if err == nil {
		if !o.proc {
			return o, nil, nil
		}
		o.close()
	}
	if err == unix.ENOENT && h.resolve == 0 {
		if !h.makes {
			if c.absent(base, path) {
				return nil, nil, unix.ENOENT
			}
		} else if missing := c.missing(base, path); missing != nil {
			return nil, missing, unix.ENOENT
		}
	}
	switch {
	case h.resolve&(unix.RESOLVE_BENEATH|unix.RESOLVE_IN_ROOT|unix.RESOLVE_NO_XDEV|resolveCached) == 0:
		return c.walk(base, path, h)
	case err != nil:
		return nil, nil, err
	}
	return nil, nil, unix.EAGAIN // below /proc, where the caller's own view cannot be kept within bounds
}

// quick lets the kernel resolve, without magic links: those would be the supervisor's.
func (c *call) quick(base int, path string, h how) (*object, error) {
	flags := uint64(unix.O_PATH | unix.O_CLOEXEC)
	if !h.follow {
		flags |= unix.O_NOFOLLOW
	}
	if h.dir {
		flags |= unix.O_DIRECTORY
	}
	fd, err := unix.Openat2(base, path, &unix.OpenHow{Flags: flags, Resolve: h.resolve | unix.RESOLVE_NO_MAGICLINKS})
	if err != nil {
		return nil, err
	}
	return c.s.describe(fd)
}

// maxAbsent is how many missing folders absent looks above before it gives up.
const maxAbsent = 8

// absent reports that a name of a path is missing where every program finds the same: in
// a folder that is not of /proc. Programs look for most of their files in several places,
// so this is as frequent as a file that is there. False says nothing.
func (c *call) absent(base int, path string) bool {
	for range maxAbsent {
		dir, name := split(path)
		if name == "" || special(name) {
			return false
		}
		fd, err := unix.Openat2(base, dir, &unix.OpenHow{
			Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_DIRECTORY, Resolve: unix.RESOLVE_NO_MAGICLINKS})
		if err == unix.ENOENT {
			if path = strings.TrimSuffix(dir, "."); path == "" || path == "/" {
				return false
			}
			continue
		}
		if err != nil {
			return false
		}
		var at, st unix.Stat_t
		sure := unix.Fstat(fd, &at) == nil && at.Dev != c.s.procDev &&
			unix.Fstatat(fd, slot{name: name}.bare(), &st, unix.AT_SYMLINK_NOFOLLOW) == unix.ENOENT
		_ = unix.Close(fd)
		return sure
	}
	return false
}

// missing returns the slot of a path whose folder is there and whose last name is not;
// nil where that needs a closer look.
func (c *call) missing(base int, path string) *slot {
	dir, name := split(path)
	if name == "" || special(name) {
		return nil
	}
	parent, err := c.quick(base, dir, how{follow: true, dir: true})
	if err != nil {
		return nil
	}
	var st unix.Stat_t
	s := &slot{parent, name}
	if parent.proc || unix.Fstatat(parent.fd, s.bare(), &st, unix.AT_SYMLINK_NOFOLLOW) != unix.ENOENT {
		parent.close()
		return nil
	}
	return s
}

// split cuts a path before its last name, which keeps its slashes. A path of slashes
// only has no name. The folder ends in ".", so that the permission to search it is
// checked, as for any path through it.
func split(path string) (dir, name string) {
	end := len(strings.TrimRight(path, "/"))
	cut := strings.LastIndexByte(path[:end], '/') + 1
	dir, name = path[:cut], path[cut:]
	if end == 0 {
		return "/.", ""
	}
	return dir + ".", name
}

// special reports whether a name is "." or "..", perhaps with slashes.
func special(name string) bool {
	name = strings.TrimRight(name, "/")
	return name == "." || name == ".."
}

// slot pins the folder of a path whose last name is about to be made or removed. The
// name is empty for the root.
func (c *call) slot(l location) (slot, error) {
	if l.err != nil {
		return slot{}, l.err
	}
	if l.path == "" {
		return slot{}, unix.ENOENT
	}
	dir, name := split(l.path)
	parent, missing, err := c.find(location{dirfd: l.dirfd, path: dir}, how{follow: true, dir: true})
	if missing != nil {
		missing.close()
	}
	if err != nil {
		return slot{}, err
	}
	return slot{parent, name}, nil
}
