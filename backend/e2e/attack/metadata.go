//go:build linux

package main

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// metadataAttacks change what a file is, through descriptors that only read.
func metadataAttacks() []attack {
	return []attack{{"X21", changeReadOnly}, {"X22", writeByAppending}}
}

func changeReadOnly(p place, r *report) {
	for _, name := range []string{"ask/file", ".git/config"} { // both may be read
		fd, err := unix.Open(p.at(name), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if !r.tried("open "+name, err) {
			continue
		}
		r.tried("fchmod", unix.Fchmod(fd, 0o777))
		r.tried("fchown", unix.Fchown(fd, unix.Getuid(), unix.Getgid()))
		r.tried("fsetxattr", unix.Fsetxattr(fd, "user.attack", []byte("x"), 0))
		r.tried("fremovexattr", unix.Fremovexattr(fd, "user.there"))
		times := [4]uint64{1, 0, 1, 0}
		_, err = call(unix.SYS_UTIMENSAT, uintptr(fd), 0, uintptr(unsafe.Pointer(&times)), 0)
		r.tried("utimensat of a descriptor", err)
		r.tried("chmod by name", unix.Chmod(selfFD(fd), 0o777))
		r.tried("setxattr by name", unix.Setxattr(selfFD(fd), "user.attack2", []byte("x"), 0))
		flags := 0x20 // append only
		_, err = call(unix.SYS_IOCTL, uintptr(fd), unix.FS_IOC_SETFLAGS, uintptr(unsafe.Pointer(&flags)))
		r.tried("FS_IOC_SETFLAGS", err)
		r.tried("ftruncate", unix.Ftruncate(fd, 1))
		_, err = unix.MmapPtr(fd, 0, nil, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		r.tried("mmap for writing", err)
		r.tried("mprotect", remap(fd))
		_ = unix.Close(fd)
	}
}

// remap maps a file to read, and then asks to write.
func remap(fd int) error {
	m, err := unix.MmapPtr(fd, 0, nil, 4096, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	if err := callOnly(unix.SYS_MPROTECT, uintptr(m), 4096, unix.PROT_READ|unix.PROT_WRITE); err != nil {
		return err
	}
	*(*byte)(m) = 'E'
	return nil
}

// writeByAppending changes the file without writing to it by that name.
func writeByAppending(p place, r *report) {
	src, err := unix.Open(p.free("good"), unix.O_RDWR|unix.O_CLOEXEC, 0)
	r.tried("open good", err)
	dst, err := unix.Open(p.at("ask/file"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	r.tried("open asked", err)
	_, err = unix.CopyFileRange(src, nil, dst, nil, 4, 0)
	r.tried("copy_file_range", err)
	r.tried("FICLONE", unix.IoctlFileClone(dst, src))
	_, err = unix.Sendfile(dst, src, nil, 4)
	r.tried("sendfile", err)
	r.tried("fallocate", unix.Fallocate(dst, 0, 0, 1<<16))
	_, err = unix.FcntlInt(uintptr(dst), unix.F_SETFL, unix.O_RDWR|unix.O_APPEND)
	r.tried("F_SETFL", err)
	_, err = unix.Write(dst, []byte("x"))
	r.tried("write", err)
}
