//go:build linux

package supervise

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// object is something that a path led to, pinned by an O_PATH descriptor.
type object struct {
	fd   int
	st   unix.Stat_t
	path string // canonical; what it was called last, where it has no name any more
	gone bool   // no name leads to it: deleted, or made with O_TMPFILE
	// nameless objects never had a path: pipes, sockets, memory, what is mounted nowhere.
	nameless bool
	proc     bool // of a proc file system
}

func (o *object) close() {
	if o != nil && o.fd >= 0 {
		_ = unix.Close(o.fd)
		o.fd = -1
	}
}

func (o *object) kind() uint32 { return o.st.Mode & unix.S_IFMT }

// itself is a path that leads the kernel to exactly the object.
func (o *object) itself() string { return descriptorPath(o.fd) }

// descriptors is the folder of what this process has open.
const descriptors = "/proc/self/fd"

// descriptorPath is a path that leads the kernel to what fd is.
func descriptorPath(fd int) string { return descriptors + "/" + strconv.Itoa(fd) }

// leadsTo is the text of a symbolic link; "/" where it cannot be read.
func (o *object) leadsTo() string {
	var buf [pathMax]byte
	n, err := unix.Readlinkat(o.fd, "", buf[:])
	if err != nil {
		return "/"
	}
	return string(buf[:n])
}

// readOnly reports whether nothing can be changed where the object is mounted, whoever
// allows it. No program in the container can change that.
func (o *object) readOnly() bool {
	var st unix.Statfs_t
	return unix.Fstatfs(o.fd, &st) == nil && st.Flags&unix.ST_RDONLY != 0
}

// occupied reports whether a folder has something in it, so that it cannot be removed.
func (o *object) occupied() bool {
	fd, err := unix.Openat(o.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Close(fd) }()
	var buf [1024]byte // four names at least
	n, err := unix.ReadDirent(fd, buf[:])
	if err != nil {
		return false
	}
	_, count, _ := unix.ParseDirent(buf[:n], 1, nil) // which leaves out the folder itself and its parent
	return count > 0
}

// identity names the object until it is deleted.
func (o *object) identity() string {
	return strconv.FormatUint(uint64(o.st.Dev), 10) + ":" + strconv.FormatUint(o.st.Ino, 10)
}

// slot is a name in a folder, whether there is something of that name or not.
type slot struct {
	dir  *object
	name string // the last part of a path, with the slash it ended in
}

func (s slot) close() { s.dir.close() }

// bare is the name without a slash.
func (s slot) bare() string { return strings.TrimRight(s.name, "/") }

// path is the canonical path of the name.
func (s slot) path() string { return join(s.dir.path, s.bare()) }

// is reports whether the name is that of a certain file now.
func (s slot) is(file *unix.Stat_t) bool {
	var now unix.Stat_t
	return unix.Fstatat(s.dir.fd, s.bare(), &now, unix.AT_SYMLINK_NOFOLLOW) == nil && now.Dev == file.Dev && now.Ino == file.Ino
}

func join(dir, name string) string {
	if dir == "/" {
		return "/" + name
	}
	return dir + "/" + name
}

// pin opens what has the name now, without following it.
func (s slot) pin(c *call) (*object, error) {
	fd, err := unix.Openat(s.dir.fd, s.bare(), unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	o, err := c.s.describe(fd)
	if err == nil && !o.proc {
		o.path = s.path()
	}
	return o, err
}

const deleted = " (deleted)"

// describe says what a descriptor pins, and owns it from then on.
func (s *Supervisor) describe(fd int) (*object, error) {
	o := &object{fd: fd}
	if err := unix.Fstat(fd, &o.st); err != nil {
		o.close()
		return nil, err
	}
	var buf [pathMax + 16]byte
	n, err := unix.Readlinkat(int(s.own.Fd()), strconv.Itoa(fd), buf[:])
	if err != nil {
		o.close()
		return nil, err
	}
	o.path = string(buf[:n])
	if strings.HasPrefix(o.path, "(unreachable)") { // below a mount that is no more
		o.close()
		return nil, unix.EACCES
	}
	o.proc = o.st.Dev == s.procDev
	o.nameless = !strings.HasPrefix(o.path, "/") || strings.HasPrefix(o.path, "/memfd:")
	if o.st.Nlink == 0 || strings.HasSuffix(o.path, deleted) && !o.named() {
		o.gone = true
		o.path = strings.TrimSuffix(o.path, deleted)
	}
	return o, nil
}

// named reports whether an object whose name seems to say that it is deleted is only
// called so.
func (o *object) named() bool {
	var st unix.Stat_t
	return unix.Lstat(o.path, &st) == nil && st.Ino == o.st.Ino && st.Dev == o.st.Dev
}

// ofProcess returns whose files a path below /proc is, and what follows the number.
func ofProcess(path string) (pid int, rest string, ok bool) {
	below, ok := strings.CutPrefix(path, "/proc/")
	if !ok {
		return 0, "", false
	}
	first, rest, _ := strings.Cut(below, "/")
	pid, err := strconv.Atoi(first)
	return pid, rest, err == nil
}

// ourProcess reports whether pid is the supervisor or one of its threads, to whom the
// kernel shows everything of each other.
func ourProcess(pid int) bool {
	if pid == os.Getpid() {
		return true
	}
	var st unix.Stat_t
	return unix.Lstat("/proc/self/task/"+strconv.Itoa(pid), &st) == nil
}

// ourPublic are the files of the supervisor in /proc that any other uid may read.
var ourPublic = map[string]bool{
	"": true, "task": true, "stat": true, "status": true, "statm": true, "cmdline": true, "comm": true,
	"cgroup": true, "limits": true, "oom_score": true, "oom_score_adj": true, "oom_adj": true, "loginuid": true, "sessionid": true,
}

// othersPublic are the files of a process in /proc that every program may read, and which
// programs that list processes need.
var othersPublic = map[string]bool{
	"mounts": true, "mountinfo": true, "mountstats": true, "net": true, "sched": true, "schedstat": true, "wchan": true, "cpuset": true,
}

// procFile returns whose file of /proc an object is, and its name there, which is the same
// for a process and for its threads.
func (o *object) procFile() (pid int, name string, ok bool) {
	pid, rest, ok := ofProcess(o.path)
	if task, in := strings.CutPrefix(rest, "task/"); in {
		_, rest, _ = strings.Cut(task, "/")
	}
	return pid, rest, ok && o.proc
}

// refuse says why an object of /proc may not be opened, whatever a policy says: files of
// the supervisor's own, which the kernel would show to its threads, memory, and what is of
// processes that the caller could not look into by itself, as the fence keeps them apart.
func (c *call) refuse(o *object, writes bool) error {
	pid, name, ok := o.procFile()
	if !ok {
		return nil
	}
	switch {
	case writes && name == "mem":
		return unix.EACCES
	case ourProcess(pid) && (writes || !ourPublic[name]):
		return unix.EACCES
	case c.apart(pid):
		top, _, _ := strings.Cut(name, "/")
		if writes || !ourPublic[name] && !othersPublic[top] {
			return unix.EACCES
		}
	}
	return nil
}

// errno is the error number that a caller gets.
func errno(err error) unix.Errno {
	var e unix.Errno
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return e
	}
	return unix.EACCES
}
