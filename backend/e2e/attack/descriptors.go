//go:build linux

package main

import (
	"fmt"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func selfFD(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }

// descriptorAttacks carry rights on in descriptors.
func descriptorAttacks() []attack {
	return []attack{
		{"X17", passPathDescriptor},
		{"X18", keepWriting},
		{"X19", mapWriting},
		{"X20", openByHandle},
		{"X32", writeAfterwards},
	}
}

// passPathDescriptor sends a descriptor without rights to itself, where it is another
// number, and reopens it there.
func passPathDescriptor(p place, r *report) {
	fd, err := unix.Open(p.secret(), unix.O_PATH|unix.O_CLOEXEC, 0)
	if !r.tried("open O_PATH", err) {
		return
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if !r.tried("socketpair", err) || !r.tried("sendmsg", unix.Sendmsg(pair[0], []byte("x"), unix.UnixRights(fd), nil, 0)) {
		return
	}
	buf, oob := make([]byte, 8), make([]byte, 64)
	_, n, _, _, err := unix.Recvmsg(pair[1], buf, oob, 0)
	if !r.tried("recvmsg", err) {
		return
	}
	msgs, err := unix.ParseSocketControlMessage(oob[:n])
	if !r.tried("parse", err) {
		return
	}
	for _, m := range msgs {
		fds, err := unix.ParseUnixRights(&m)
		if r.tried("rights", err) {
			both(selfFD(fds[0]), r)
			again, err := unix.Openat(fds[0], "", unix.O_RDONLY|unix.O_CLOEXEC, 0)
			r.took("openat with no name", again, err)
			r.tried("fchmod", unix.Fchmod(fds[0], 0o777))
			_, err = call(unix.SYS_FCHMODAT2, uintptr(fds[0]), uintptr(cstring("")), 0o777, unix.AT_EMPTY_PATH)
			r.tried("fchmodat2", err)
			r.tried("fchownat", unix.Fchownat(fds[0], "", unix.Getuid(), unix.Getgid(), unix.AT_EMPTY_PATH))
		}
	}
}

// approvable writes a file that a person will like, and keeps it open.
func approvable(p place, r *report) (int, bool) {
	fd, err := unix.Open(p.free("new"), unix.O_CREAT|unix.O_RDWR|unix.O_CLOEXEC, 0o644)
	if !r.tried("create", err) {
		return 0, false
	}
	_, err = unix.Write(fd, []byte("approved text\n"))
	return fd, r.tried("write", err)
}

// keepWriting has a rename approved and writes on to the file that it had open.
func keepWriting(p place, r *report) {
	fd, ok := approvable(p, r)
	if !ok {
		return
	}
	stop := meanwhile(p, func() { _, _ = unix.Pwrite(fd, []byte("EVIL     text\n"), 0) })
	r.tried("rename", unix.Rename(p.free("new"), p.at("ask/file")))
	stop()
	for range 20 {
		_, _ = unix.Pwrite(fd, []byte("EVIL     text\n"), 0)
	}
}

// writeAfterwards changes the file once the approved rename is done.
func writeAfterwards(p place, r *report) {
	fd, ok := approvable(p, r)
	if !ok {
		return
	}
	m, err := unix.MmapPtr(fd, 0, nil, uintptr(unix.Getpagesize()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if !r.tried("mmap", err) {
		return
	}
	r.tried("rename", unix.Rename(p.free("new"), p.at("ask/file")))
	_, err = unix.Pwrite(fd, []byte("EVIL"), 0)
	r.tried("write", err)
	copy(unsafe.Slice((*byte)(unsafe.Add(m, 5)), 4), "EVIL")
	r.tried("truncate", unix.Ftruncate(fd, 9))
	r.tried("link", unix.Linkat(unix.AT_FDCWD, selfFD(fd), unix.AT_FDCWD, p.at("ask/file"), unix.AT_SYMLINK_FOLLOW))
}

// mapWriting does the same with memory that is the file.
func mapWriting(p place, r *report) {
	fd, ok := approvable(p, r)
	if !ok {
		return
	}
	m, err := unix.MmapPtr(fd, 0, nil, uintptr(unix.Getpagesize()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if !r.tried("mmap", err) {
		return
	}
	write := func() { copy(unsafe.Slice((*byte)(m), 14), "EVIL     text\n") }
	stop := meanwhile(p, write)
	r.tried("rename", unix.Rename(p.free("new"), p.at("ask/file")))
	stop()
	write()
}

// meanwhile does something again and again from the moment a person is asked.
func meanwhile(p place, do func()) (stop func()) {
	end, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		if os.Getenv("ASKED") != "" && !await(p.free("asked")) {
			return
		}
		do()
		_ = say(p.free("swapped"))
		tick := time.NewTicker(200 * time.Microsecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				do()
			case <-end:
				return
			}
		}
	}()
	return func() { close(end); <-done }
}

func openByHandle(p place, r *report) {
	h, mount, err := unix.NameToHandleAt(unix.AT_FDCWD, p.secret(), 0)
	if !r.tried("name_to_handle_at", err) {
		return
	}
	_ = mount
	dir, err := unix.Open(string(p), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	r.tried("open the folder", err)
	fd, err := unix.OpenByHandleAt(dir, h, unix.O_RDONLY)
	r.took("open_by_handle_at", fd, err)
}
