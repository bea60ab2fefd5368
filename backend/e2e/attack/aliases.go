//go:build linux

package main

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// aliasAttacks give a closed file other names.
func aliasAttacks() []attack {
	return []attack{
		{"A9", openThroughDescriptors},
		{"A12", openByOtherSpellings},
		{"A23", linkSecret},
		{"A24", reopenForWriting},
		{"X7", openThroughProc},
	}
}

// both opens a path for reading and for writing.
func both(path string, r *report) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	r.took("open "+path, fd, err)
	fd, err = unix.Open(path, unix.O_WRONLY|unix.O_APPEND|unix.O_CLOEXEC, 0)
	r.wrote("open "+path, fd, err)
}

func openByOtherSpellings(p place, r *report) {
	s := p.secret()
	r.tried("symlink", unix.Symlink(s, p.free("link")))
	r.tried("symlink", unix.Symlink("../deny", p.free("folder")))
	r.tried("symlink", unix.Symlink("link", p.free("link2")))
	r.tried("chdir", unix.Chdir(p.at("open")))
	for _, name := range []string{s, "../deny/secret", "link", "link2", "folder/secret", "folder/../deny/secret", "/" + s,
		strings.ReplaceAll(s, "/", "//"), strings.ReplaceAll(s, "/deny/", "/deny/./"), strings.ReplaceAll(s, "/deny/", "/open/../deny/"),
		s + "/", s + "/.", p.at("deny/sub/../secret"),
		"/../" + s, "./././../deny/secret", p.at("DENY/secret")} {
		both(name, r)
	}
}

func openThroughDescriptors(p place, r *report) {
	fd, err := unix.Open(p.secret(), unix.O_PATH|unix.O_CLOEXEC, 0)
	if !r.tried("open O_PATH", err) {
		return
	}
	both(fmt.Sprintf("/proc/self/fd/%d", fd), r)
	both(fmt.Sprintf("/dev/fd/%d", fd), r)
	r.tried("symlink", unix.Symlink(fmt.Sprintf("/proc/self/fd/%d", fd), p.free("to-fd")))
	both(p.free("to-fd"), r)
	dir, err := unix.Open(p.at("deny"), unix.O_PATH|unix.O_CLOEXEC, 0)
	if r.tried("open O_PATH", err) {
		both(fmt.Sprintf("/proc/self/fd/%d/secret", dir), r)
	}
	exe, err := unix.Open(p.at("bin/denied"), unix.O_PATH, 0) // not closed on exec: a script's name must last
	if r.tried("open O_PATH", err) {
		execute(r, fmt.Sprintf("/proc/self/fd/%d", exe), "denied", p.marker())
	}
	both("/proc/self/exe", r) // the program itself; the volume or its mode stops the writing
}

func reopenForWriting(p place, r *report) {
	for _, flags := range []int{unix.O_PATH, unix.O_RDONLY} {
		fd, err := unix.Open(p.at("ask/file"), flags|unix.O_CLOEXEC, 0)
		if !r.tried("open", err) {
			continue
		}
		for _, form := range []string{"/proc/self/fd/%d", "/proc/thread-self/fd/%d", "/dev/fd/%d"} {
			again, err := unix.Open(fmt.Sprintf(form, fd), unix.O_WRONLY|unix.O_TRUNC|unix.O_CLOEXEC, 0)
			r.wrote("reopen "+form, again, err)
		}
		for _, name := range []string{fmt.Sprintf("/proc/%d/fd/%d", unix.Getpid(), fd),
			fmt.Sprintf("/proc/self/task/%d/fd/%d", unix.Gettid(), fd)} {
			again, err := unix.Open(name, unix.O_WRONLY|unix.O_APPEND|unix.O_CLOEXEC, 0)
			r.wrote("reopen "+name, again, err)
		}
		r.tried("truncate", unix.Truncate(fmt.Sprintf("/proc/self/fd/%d", fd), 0))
		r.tried("chmod", unix.Chmod(fmt.Sprintf("/proc/self/fd/%d", fd), 0o777))
		_ = unix.Close(fd)
	}
}

// linkSecret gives closed files second names.
func linkSecret(p place, r *report) {
	r.tried("link", unix.Link(p.secret(), p.free("second")))
	both(p.free("second"), r)
	r.tried("link", unix.Link(p.at("ask/file"), p.free("third")))
	both(p.free("third"), r)
	fd, err := unix.Open(p.secret(), unix.O_PATH|unix.O_CLOEXEC, 0)
	if r.tried("open O_PATH", err) {
		r.tried("linkat", unix.Linkat(unix.AT_FDCWD, selfFD(fd), unix.AT_FDCWD, p.free("fourth"), unix.AT_SYMLINK_FOLLOW))
		r.tried("linkat", unix.Linkat(fd, "", unix.AT_FDCWD, p.free("fourth"), unix.AT_EMPTY_PATH))
		both(p.free("fourth"), r)
	}
	r.tried("link over", unix.Link(p.free("good"), p.at("deny/new")))
}

// openThroughProc reaches the file through roots and working folders that processes have.
func openThroughProc(p place, r *report) {
	r.tried("chdir", unix.Chdir(p.at("open")))
	for _, name := range []string{"/proc/self/root" + p.secret(), "/proc/self/cwd/../deny/secret",
		fmt.Sprintf("/proc/%d/root%s", unix.Getpid(), p.secret()),
		fmt.Sprintf("/proc/self/task/%d/root%s", unix.Gettid(), p.secret()), fmt.Sprintf("/proc/self/task/%d/cwd/../deny/secret", unix.Gettid()),
		"/proc/1/root" + p.secret(), fmt.Sprintf("/proc/%d/root%s", unix.Getppid(), p.secret()),
		fmt.Sprintf("/proc/%d/cwd/../deny/secret", unix.Getppid())} {
		both(name, r)
	}
}
