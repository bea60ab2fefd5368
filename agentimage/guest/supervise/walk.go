//go:build linux

package supervise

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"loop/backend/policy"
	"loop/backend/wire"
)

const maxLinks = 40 // MAXSYMLINKS of the kernel

// walk resolves a path name by name, as the kernel does, but with the links of /proc
// being the caller's: self and thread-self name its process and thread, and what leads
// to an object of some process is followed with the agent's rights, or with those that
// a process has over itself.
func (c *call) walk(base int, path string, h how) (*object, *slot, error) {
	start := "."
	if strings.HasPrefix(path, "/") {
		start = "/"
	}
	w := walk{c: c, h: h, todo: path}
	if err := w.enter(unix.Openat(base, start, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)); err != nil {
		return nil, nil, err
	}
	o, missing, err := w.run()
	if err != nil && missing == nil {
		w.at.close()
	}
	if o != nil && h.dir && o.kind() != unix.S_IFDIR {
		o.close()
		return nil, nil, unix.ENOTDIR
	}
	return o, missing, err
}

type walk struct {
	c     *call
	h     how
	at    *object
	todo  string
	links int
}

// enter makes what was opened the place where the walk stands.
func (w *walk) enter(fd int, err error) error {
	if err != nil {
		return err
	}
	o, err := w.c.s.describe(fd)
	if err != nil {
		return err
	}
	w.at.close()
	w.at = o
	return nil
}

func (w *walk) run() (*object, *slot, error) {
	for {
		w.todo = strings.TrimLeft(w.todo, "/")
		if w.todo == "" {
			return w.at, nil, nil
		}
		name, rest, slash := strings.Cut(w.todo, "/")
		last := strings.Trim(rest, "/") == ""
		w.todo = rest
		if name == "." || name == ".." {
			if err := w.enter(unix.Openat(w.at.fd, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)); err != nil {
				return nil, nil, err
			}
			continue
		}
		if w.h.makes && last && slash { // which the kernel says of a folder that may be searched
			if err := unix.Faccessat2(w.at.fd, "", unix.X_OK, unix.AT_EACCESS|unix.AT_EMPTY_PATH); err != nil {
				return nil, nil, err
			}
			return nil, nil, unix.EISDIR
		}
		fd, err := unix.Openat(w.at.fd, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err == unix.ENOENT && last {
			if slash {
				name += "/"
			}
			return nil, &slot{w.at, name}, err
		}
		if err != nil {
			return nil, nil, err
		}
		next, err := w.c.s.describe(fd)
		if err != nil {
			return nil, nil, err
		}
		if next.kind() == unix.S_IFLNK && (!last || slash || w.h.follow) {
			err = w.link(next, name, last, slash)
			next.close()
			if err != nil {
				return nil, nil, err
			}
			continue
		}
		if (!last || slash) && next.kind() != unix.S_IFDIR {
			next.close()
			return nil, nil, unix.ENOTDIR
		}
		w.at.close()
		w.at = next
	}
}

// link follows a symbolic link.
func (w *walk) link(l *object, name string, last, slash bool) error {
	if w.links++; w.links > maxLinks || w.h.resolve&unix.RESOLVE_NO_SYMLINKS != 0 {
		return unix.ELOOP
	}
	text := ""
	if l.proc {
		if pid, _, ok := ofProcess(w.at.path); ok {
			return w.magic(pid, name, last, slash)
		}
		switch self := strconv.Itoa(w.c.process()); {
		case w.at.path == "/proc" && name == "self":
			text = self
		case w.at.path == "/proc" && name == "thread-self":
			text = self + "/task/" + strconv.Itoa(w.c.tid)
		}
	}
	if text == "" {
		var buf [pathMax]byte
		n, err := unix.Readlinkat(l.fd, "", buf[:])
		if err != nil {
			return err
		}
		if text = string(buf[:n]); text == "" {
			return unix.ENOENT
		}
	}
	if !last || slash {
		text += "/" + w.todo
	}
	w.todo = text
	if strings.HasPrefix(text, "/") {
		return w.enter(unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0))
	}
	return nil
}

// magic follows a link of a process, as exe, cwd or fd/N, to the object itself. The
// kernel checks that the agent may look into the process; what a process may do to
// itself the caller may do.
func (w *walk) magic(pid int, name string, last, slash bool) error {
	if w.h.resolve&unix.RESOLVE_NO_MAGICLINKS != 0 {
		return unix.ELOOP
	}
	if ourProcess(pid) || w.c.apart(pid) {
		return unix.EACCES
	}
	if pid == w.c.process() {
		w.c.th.with(capPtrace)
		defer w.c.th.with(0)
	}
	fds := w.at.path
	if err := w.enter(unix.Openat(w.at.fd, name, unix.O_PATH|unix.O_CLOEXEC, 0)); err != nil {
		return err
	}
	if (!last || slash) && w.at.kind() != unix.S_IFDIR {
		return unix.ENOTDIR
	}
	if w.at.nameless && w.c.strictness() > 0 && !w.c.holds(pid, fds, name, w.at) {
		w.at.path = fds + "/" + name
		foreign := policy.Verdict{Decision: policy.Deny, Rule: "foreign", Category: policy.Socket, Message: foreignPipe}
		w.c.decide(foreign, func() *question { return &question{kind: wire.KindFile, op: policy.Write, target: w.at.path} })
		return unix.EACCES
	}
	return nil
}
