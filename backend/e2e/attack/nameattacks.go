//go:build linux

package main

import (
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// nameAttacks make, change and remove names.
func nameAttacks() []attack {
	return []attack{
		{"A27", tryEveryPathCall},
		{"X13", linkTemporary},
		{"X14", exchangeNames},
		{"X15", renameAway},
		{"X16", caseVariants},
		{"E11", twins},
	}
}

// pathCall is a call that takes a path, with its arguments.
type pathCall struct {
	name   string
	number uintptr
	args   []uintptr
}

// tryEveryPathCall makes every call that takes a path, each on the closed file. The test
// compares the list with the kernel's table.
func tryEveryPathCall(p place, r *report) {
	for _, c := range everyPathCall(p) {
		fd, err := call(c.number, c.args...)
		r.tried(c.name, err)
		if err == nil && fd > 2 {
			buf := make([]byte, 64)
			if n, err := unix.Pread(fd, buf, 0); err == nil {
				r.Got += string(buf[:n])
			}
			_, _ = unix.Write(fd, []byte("x"))
			_ = unix.Close(fd)
		}
	}
}

// Numbers that package unix does not have yet.
const (
	sysSetxattrat    = 463
	sysRemovexattrat = 466
	sysFileSetattr   = 469
	sysOpenTreeAttr  = 467
)

func everyPathCall(p place) []pathCall {
	cwd := unix.AT_FDCWD
	here := uintptr(cwd)
	s := func(path string) uintptr { return uintptr(cstring(path)) }
	secret, made, free, dir := s(p.secret()), s(p.at("deny/made")), s(p.free("good")), s(p.at("deny/sub"))
	taken := s(p.free("taken"))
	name, value := s("user.attack"), s("value")
	times := uintptr(unsafe.Pointer(&[4]uint64{1, 0, 1, 0}))
	how := uintptr(unsafe.Pointer(&unix.OpenHow{Flags: unix.O_WRONLY | unix.O_APPEND}))
	args := uintptr(unsafe.Pointer(&[4]uintptr{uintptr(cstring("x")), 0}))
	attr := uintptr(unsafe.Pointer(&[4]uint64{uint64(value), 5}))
	fileAttr := uintptr(unsafe.Pointer(&[4]uint64{0x10}))
	type u = []uintptr
	list := []pathCall{
		{"openat", unix.SYS_OPENAT, u{here, secret, unix.O_WRONLY | unix.O_APPEND}},
		{"openat read", unix.SYS_OPENAT, u{here, secret, unix.O_RDONLY}},
		{"openat create", unix.SYS_OPENAT, u{here, made, unix.O_WRONLY | unix.O_CREAT, 0o644}},
		{"openat create exclusively", unix.SYS_OPENAT, u{here, made, unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL, 0o644}},
		{"openat temporary", unix.SYS_OPENAT, u{here, s(p.at("deny")), unix.O_TMPFILE | unix.O_WRONLY, 0o644}},
		{"openat empty", unix.SYS_OPENAT, u{here, secret, unix.O_RDONLY | unix.O_TRUNC}},
		{"openat 3", unix.SYS_OPENAT, u{here, secret, 3}},
		{"openat2", unix.SYS_OPENAT2, u{here, secret, how, 24}},
		{"truncate", unix.SYS_TRUNCATE, u{secret, 1}},
		{"mkdirat", unix.SYS_MKDIRAT, u{here, made, 0o755}},
		{"mknodat", unix.SYS_MKNODAT, u{here, made, unix.S_IFIFO | 0o644, 0}},
		{"mknodat file", unix.SYS_MKNODAT, u{here, made, unix.S_IFREG | 0o644, 0}},
		{"symlinkat", unix.SYS_SYMLINKAT, u{free, here, made}},
		{"linkat onto", unix.SYS_LINKAT, u{here, free, here, made, 0}},
		{"linkat from", unix.SYS_LINKAT, u{here, secret, here, taken, 0}},
		{"fchmodat", unix.SYS_FCHMODAT, u{here, secret, 0o777}},
		{"fchmodat2", unix.SYS_FCHMODAT2, u{here, secret, 0o777, 0}},
		{"fchownat", unix.SYS_FCHOWNAT, u{here, secret, uintptr(unix.Getuid()), uintptr(unix.Getgid()), 0}},
		{"utimensat", unix.SYS_UTIMENSAT, u{here, secret, times, 0}},
		{"setxattr", unix.SYS_SETXATTR, u{secret, name, value, 5, 0}},
		{"lsetxattr", unix.SYS_LSETXATTR, u{secret, name, value, 5, 0}},
		{"setxattrat", sysSetxattrat, u{here, secret, 0, name, attr, 16}},
		{"removexattr", unix.SYS_REMOVEXATTR, u{secret, s("user.there")}},
		{"lremovexattr", unix.SYS_LREMOVEXATTR, u{secret, s("user.there")}},
		{"removexattrat", sysRemovexattrat, u{here, secret, 0, s("user.there")}},
		{"file_setattr", sysFileSetattr, u{here, secret, fileAttr, 24, 0}},
		{"execve", unix.SYS_EXECVE, u{s(p.at("bin/nothing")), args, args}},
		{"execveat", unix.SYS_EXECVEAT, u{here, s(p.at("bin/nothing")), args, args, 0}},
		{"mount", unix.SYS_MOUNT, u{s(p.at("dent")), s(p.at("deny")), 0, unix.MS_BIND, 0}},
		{"umount2", unix.SYS_UMOUNT2, u{s(p.at("deny")), 0}},
		{"pivot_root", unix.SYS_PIVOT_ROOT, u{s(p.at("deny")), s(p.at("deny"))}},
		{"chroot", unix.SYS_CHROOT, u{s("/nowhere")}},
		{"swapon", unix.SYS_SWAPON, u{secret, 0}},
		{"swapoff", unix.SYS_SWAPOFF, u{secret}},
		{"acct", unix.SYS_ACCT, u{secret}},
		{"open_tree", unix.SYS_OPEN_TREE, u{here, s(p.at("deny")), 1}},
		{"open_tree_attr", sysOpenTreeAttr, u{here, s(p.at("deny")), 1, 0, 0}},
		{"move_mount", unix.SYS_MOVE_MOUNT, u{here, s(p.at("dent")), here, s(p.at("deny")), 0}},
		{"fspick", unix.SYS_FSPICK, u{here, s(p.at("deny")), 0}},
		{"mount_setattr", unix.SYS_MOUNT_SETATTR, u{here, s(p.at("deny")), 0, attr, 32}},
		{"quotactl", unix.SYS_QUOTACTL, u{0, secret, 0, 0}},
		{"fanotify_mark", unix.SYS_FANOTIFY_MARK, u{0, 1, 1, here, secret}},
	}
	list = append(list, olderPathCalls(p)...)
	return append(list, // what moves and removes comes last
		pathCall{"renameat2 exchange", unix.SYS_RENAMEAT2, u{here, free, here, secret, unix.RENAME_EXCHANGE}},
		pathCall{"renameat onto", unix.SYS_RENAMEAT, u{here, free, here, secret}},
		pathCall{"renameat from", unix.SYS_RENAMEAT, u{here, secret, here, taken}},
		pathCall{"unlinkat", unix.SYS_UNLINKAT, u{here, secret, 0}},
		pathCall{"unlinkat folder", unix.SYS_UNLINKAT, u{here, dir, unix.AT_REMOVEDIR}},
	)
}

// linkTemporary gives a file that was made without a name one in the closed folder.
func linkTemporary(p place, r *report) {
	fd, err := unix.Open(p.at("open"), unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o644)
	if !r.tried("open O_TMPFILE", err) {
		return
	}
	_, err = unix.Write(fd, []byte("evil"))
	r.tried("write", err)
	for _, to := range []string{p.at("deny/made"), p.at("ask/made"), p.at("deny/sub/made")} {
		r.tried("linkat", unix.Linkat(unix.AT_FDCWD, selfFD(fd), unix.AT_FDCWD, to, unix.AT_SYMLINK_FOLLOW))
		r.tried("linkat AT_EMPTY_PATH", unix.Linkat(fd, "", unix.AT_FDCWD, to, unix.AT_EMPTY_PATH))
	}
}

func exchangeNames(p place, r *report) {
	for _, flags := range []uint{unix.RENAME_EXCHANGE, unix.RENAME_NOREPLACE, unix.RENAME_WHITEOUT, 0} {
		for _, name := range []string{"deny/secret", "ask/file", ".git/config", "deny/made", "ask/made"} {
			say(p.free("evil"))
			r.tried("renameat2 onto "+name, unix.Renameat2(unix.AT_FDCWD, p.free("evil"), unix.AT_FDCWD, p.at(name), flags))
			r.tried("renameat2 from "+name, unix.Renameat2(unix.AT_FDCWD, p.at(name), unix.AT_FDCWD, p.free("evil2"), flags))
		}
	}
	r.tried("symlink", unix.Symlink("nowhere", p.free("link")))
	r.tried("rename a link onto", unix.Rename(p.free("link"), p.at("ask/file")))
}

// renameAway moves closed files, and folders above them, to where everything is allowed.
func renameAway(p place, r *report) {
	r.tried("rename box", unix.Rename(p.at("box"), p.free("box")))
	both(p.free("box/inner/secret"), r)
	r.tried("rename inner", unix.Rename(p.at("box/inner"), p.free("inner")))
	both(p.free("inner/secret"), r)
	r.tried("rename deny", unix.Rename(p.at("deny"), p.free("deny")))
	both(p.free("deny/secret"), r)
	r.tried("rename the secret", unix.Rename(p.secret(), p.free("secret")))
	both(p.free("secret"), r)
	r.tried("rename .git", unix.Rename(p.at(".git"), p.free("git")))
	both(p.free("git/config"), r)
	r.tried("mkdir", unix.Mkdir(p.free("empty"), 0o755))
	r.tried("rename over deny/sub", unix.Rename(p.free("empty"), p.at("deny/sub")))
	r.tried("exchange folders", unix.Renameat2(unix.AT_FDCWD, p.at("dent"), unix.AT_FDCWD, p.at("box"), unix.RENAME_EXCHANGE))
	both(p.at("dent/inner/secret"), r)
	r.tried("unlink", unix.Unlink(p.at("box/inner/secret")))
	r.tried("rmdir", unix.Rmdir(p.at("deny/sub")))
}

// twins makes files whose names look like those of closed ones, moves them and removes
// them. They are other files: the closed ones must stay as they are. The closed one
// itself is in the list, which is what the gate refuses.
func twins(p place, r *report) {
	for _, name := range []string{"deny/caf\u00e9", "de\u0301ny/secret", "deny\u200b/secret",
		"\uff44eny/secret", "deny/\ufb01le", "deny/secret"} {
		_ = unix.Mkdir(p.at(name[:strings.LastIndexByte(name, '/')]), 0o755)
		fd, err := unix.Open(p.at(name), unix.O_WRONLY|unix.O_CREAT|unix.O_APPEND|unix.O_CLOEXEC, 0o644)
		r.wrote("open "+name, fd, err)
		r.tried("rename "+name, unix.Rename(p.at(name), p.free("taken")))
		r.tried("unlink "+name, unix.Unlink(p.at(name)))
	}
}

// caseVariants writes to what another system takes for the closed file. Here it is
// another file, so that the closed one must not change.
func caseVariants(p place, r *report) {
	for _, name := range []string{".GIT/config", ".git/CONFIG", ".git/config.", ".git/config ",
		".git\u200c/config", ".git/./config", ".git//config"} {
		fd, err := unix.Open(p.at(name), unix.O_WRONLY|unix.O_APPEND|unix.O_CLOEXEC, 0)
		r.wrote("open "+name, fd, err)
	}
	r.tried("lock", say(p.at(".git/config.lock")))
	r.tried("rename the lock", unix.Rename(p.at(".git/config.lock"), p.at(".git/config")))
}
