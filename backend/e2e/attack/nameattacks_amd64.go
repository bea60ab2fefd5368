//go:build linux

package main

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// olderPathCalls are those that later architectures do not have.
func olderPathCalls(p place) []pathCall {
	s := func(path string) uintptr { return uintptr(cstring(path)) }
	cwd := unix.AT_FDCWD
	secret, made, free, taken := s(p.secret()), s(p.at("deny/made")), s(p.free("good")), s(p.free("taken"))
	times := uintptr(unsafe.Pointer(&[4]uint64{1, 0, 1, 0}))
	uid, gid := uintptr(unix.Getuid()), uintptr(unix.Getgid())
	type u = []uintptr
	return []pathCall{
		{"open", unix.SYS_OPEN, u{secret, unix.O_WRONLY | unix.O_APPEND}},
		{"open read", unix.SYS_OPEN, u{secret, unix.O_RDONLY}},
		{"creat", unix.SYS_CREAT, u{secret, 0o644}},
		{"creat new", unix.SYS_CREAT, u{made, 0o644}},
		{"mkdir", unix.SYS_MKDIR, u{made, 0o755}},
		{"mknod", unix.SYS_MKNOD, u{made, unix.S_IFREG | 0o644, 0}},
		{"symlink", unix.SYS_SYMLINK, u{free, made}},
		{"link onto", unix.SYS_LINK, u{free, made}},
		{"link from", unix.SYS_LINK, u{secret, taken}},
		{"chmod", unix.SYS_CHMOD, u{secret, 0o777}},
		{"chown", unix.SYS_CHOWN, u{secret, uid, gid}},
		{"lchown", unix.SYS_LCHOWN, u{secret, uid, gid}},
		{"utime", unix.SYS_UTIME, u{secret, times}},
		{"utimes", unix.SYS_UTIMES, u{secret, times}},
		{"futimesat", unix.SYS_FUTIMESAT, u{uintptr(cwd), secret, times}},
		{"uselib", unix.SYS_USELIB, u{secret}},
		{"rename onto", unix.SYS_RENAME, u{free, secret}},
		{"rename from", unix.SYS_RENAME, u{secret, taken}},
		{"unlink", unix.SYS_UNLINK, u{secret}},
		{"rmdir", unix.SYS_RMDIR, u{s(p.at("deny/sub"))}},
	}
}
