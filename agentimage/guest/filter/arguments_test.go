//go:build linux

package filter

import "golang.org/x/sys/unix"

// arguments are the rules of the calls that calls.txt marks with args. The arguments
// stand where they do on amd64 and arm64, whose words are the same but for the flags of
// open that architecture has.
var arguments = map[string]func(Variant, architecture) node{
	"open":   func(v Variant, a architecture) node { return opening(v, a, 1) },
	"openat": func(v Variant, a architecture) node { return opening(v, a, 2) },
	"sendto": func(v Variant, _ architecture) node {
		if v == Static {
			return pass
		}
		return has(3, unix.MSG_FASTOPEN, deny(unix.EOPNOTSUPP), null(4, pass, notify))
	},
	"sendmsg":    func(v Variant, _ architecture) node { return sending(v, 2) },
	"sendmmsg":   func(v Variant, _ architecture) node { return sending(v, 3) },
	"socket":     sockets,
	"socketpair": sockets,
	// A child of the caller's parent would go by the parent's policy.
	"clone": func(Variant, architecture) node {
		return none(0, namespaces|unix.CLONE_PARENT, pass, deny(unix.EPERM))
	},
	// CLONE_NEWTIME lies where clone has the signal of the child's end.
	"unshare": func(Variant, architecture) node {
		return none(0, namespaces|unix.CLONE_NEWTIME, pass, deny(unix.EPERM))
	},
	"ioctl": func(Variant, architecture) node { return isOne(1, requests, deny(unix.EPERM), pass) },
	"fcntl": func(Variant, architecture) node { return isOne(1, commands, deny(unix.EPERM), pass) },
	"prctl": func(Variant, architecture) node { return is(0, unix.PR_SET_MM, deny(unix.EPERM), pass) },
	"seccomp": func(Variant, architecture) node {
		return has(1, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, deny(unix.EPERM), pass)
	},
}

const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// commands of fcntl that are refused. The first three choose a process and a signal that
// the kernel sends it when a descriptor is ready: uid 0 may name any, without the
// capability to send signals. A lease stops whoever else opens the file, for 45 seconds.
var commands = []uint32{
	unix.F_SETOWN,
	unix.F_SETOWN_EX,
	unix.F_SETSIG,
	unix.F_SETLEASE,
	1040, // F_SETDELEG of Linux 6.19, a lease of a folder
}

// requests of ioctl that are refused. Those of btrfs make and remove names through a
// descriptor that was opened only to read.
var requests = []uint32{
	unix.TIOCSTI,
	unix.TIOCLINUX,
	0x8901, // FIOSETOWN, as F_SETOWN
	0x8902, // SIOCSPGRP, as F_SETOWN
	unix.FS_IOC_SETFLAGS,
	0x40046602, // FS_IOC32_SETFLAGS
	0x401c5820, // FS_IOC_FSSETXATTR
	0x50009401, // BTRFS_IOC_SNAP_CREATE
	0x5000940e, // BTRFS_IOC_SUBVOL_CREATE
	0x5000940f, // BTRFS_IOC_SNAP_DESTROY
	0x50009417, // BTRFS_IOC_SNAP_CREATE_V2
	0x50009418, // BTRFS_IOC_SUBVOL_CREATE_V2
	0x5000943f, // BTRFS_IOC_SNAP_DESTROY_V2
	0x4008941a, // BTRFS_IOC_SUBVOL_SETFLAGS
	// These take a descriptor that was opened only to read, and make a file unchangeable for
	// ever or a folder's new files unreadable.
	0x40806685, // FS_IOC_ENABLE_VERITY
	0x800c6613, // FS_IOC_SET_ENCRYPTION_POLICY
}

// opening tests the flags of an open. With O_PATH the kernel ignores all others that
// matter, and what was opened so can be neither read nor written. An access mode of 3
// checks for both and gives neither; it is not only to read.
//
// What is opened only to read and with O_DIRECTORY is a folder or an error, whatever the
// path has become, and what can be read of a folder is its names. No rule is about these
// (a folder's files are judged one by one, also through its descriptor), so they pass:
// programs that walk trees open little else.
func opening(v Variant, a architecture, flags int) node {
	const tmpfile = unix.O_TMPFILE &^ unix.O_DIRECTORY
	if v == Static {
		return pass
	}
	read := node(pass)
	if v == AgentReads || v == Debuggers {
		read = has(flags, a.directory, pass, notify)
	}
	return has(flags, unix.O_PATH, pass, none(flags, unix.O_ACCMODE|unix.O_CREAT|unix.O_TRUNC|tmpfile, read, notify))
}

func sending(v Variant, flags int) node {
	if v == Static {
		return pass
	}
	return has(flags, unix.MSG_FASTOPEN, deny(unix.EOPNOTSUPP), pass)
}

// sockets refuses what could reach somebody without connect. SOCK_RAW of AF_UNIX is a
// datagram socket as well.
func sockets(v Variant, _ architecture) node {
	const typeMask = 0xf // SOCK_TYPE_MASK; above it are SOCK_CLOEXEC and SOCK_NONBLOCK
	other := is(0, unix.AF_VSOCK, deny(unix.EAFNOSUPPORT), pass)
	if v == Static {
		return other
	}
	refused := deny(unix.EPROTONOSUPPORT)
	datagram := word{lowWord(1), typeMask, unix.SOCK_DGRAM, refused,
		word{lowWord(1), typeMask, unix.SOCK_RAW, refused, pass}}
	return is(0, unix.AF_UNIX, datagram, other)
}
