//go:build linux

package main

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// folderAttacks change what a name means while a person thinks about it. The test,
// which stands outside of every gate, swaps the folder.
func folderAttacks() []attack {
	return []attack{
		{"A22", openSwapped},
		{"X23", createSwapped},
		{"X24", stallCopy},
	}
}

func openSwapped(p place, r *report) {
	fd, err := unix.Open(p.at("mid/sub/secret"), unix.O_WRONLY|unix.O_APPEND|unix.O_CLOEXEC, 0)
	r.wrote("open", fd, err)
}

func createSwapped(p place, r *report) {
	fd, err := unix.Open(p.at("mid/sub/made"), unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o644)
	r.wrote("create", fd, err)
}

// stallCopy gives a path in memory that a program of its own pages in, so that it could
// hold the supervisor's copy, or give it another text than the kernel.
func stallCopy(p place, r *report) {
	fd, err := call(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|1) // USER_MODE_ONLY, which needs no right
	if r.tried("userfaultfd", err) {
		r.count("stalls", 1)
		_ = unix.Close(fd)
	}
	fd, err = unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if r.tried("open /dev/fuse", err) {
		r.count("stalls", 1)
		_ = unix.Close(fd)
	}
	fd, err = unix.Open("/dev/userfaultfd", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if r.tried("open /dev/userfaultfd", err) {
		r.count("stalls", 1)
		_ = unix.Close(fd)
	}
	// A path in a file that shrinks under the reader: SIGBUS here must be EFAULT there.
	mem, err := unix.MemfdCreate("path", unix.MFD_CLOEXEC)
	if !r.tried("memfd_create", err) || !r.tried("ftruncate", unix.Ftruncate(mem, 4096)) {
		return
	}
	m, err := unix.MmapPtr(mem, 0, nil, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if !r.tried("mmap", err) {
		return
	}
	copy(unsafe.Slice((*byte)(m), 4096), p.secret())
	r.tried("ftruncate", unix.Ftruncate(mem, 0))
	cwd := unix.AT_FDCWD
	fd, err = call(unix.SYS_OPENAT, uintptr(cwd), uintptr(m), unix.O_WRONLY)
	r.wrote("open a path that is gone", fd, err)
	if fd, err := unix.Open(p.free("good"), unix.O_RDWR|unix.O_CLOEXEC, 0); r.tried("open afterwards", err) {
		_ = unix.Close(fd)
		r.count("alive", 1)
	}
}
