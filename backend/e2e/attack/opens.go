//go:build linux

package main

import (
	"fmt"
	"runtime/debug"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// openAttacks reach a closed file by other calls and other architectures' numbers.
func openAttacks() []attack {
	return []attack{
		{"A5", openAs32},
		{"A6", openAsX32},
		{"A7", openResolved},
		{"A20", openAcrossHole},
		{"A21", openStrangeNames},
		{"A28", openOwnFiles},
		{"X5", openInRoot},
		{"X6", openFromFolder},
	}
}

// openAs32 opens with the numbers of 32-bit programs, for which the path must lie low.
// On a kernel without these calls the instruction faults.
func openAs32(p place, r *report) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() != nil {
			r.count("absent", 1)
		}
	}()
	page, err := unix.MmapPtr(-1, 0, nil, uintptr(unix.Getpagesize()), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|0x40) // MAP_32BIT
	if !r.tried("mmap", err) {
		return
	}
	copy(unsafe.Slice((*byte)(page), unix.Getpagesize()), p.secret())
	low := uint32(uintptr(page)) //nolint:gosec // MAP_32BIT
	for _, flags := range []uint32{unix.O_RDONLY, unix.O_WRONLY | unix.O_APPEND} {
		fd := int80(5, low, flags, 0)
		if fd < 0 {
			r.tried("int80 open", unix.Errno(-fd))
		} else if flags == unix.O_RDONLY {
			r.took("int80 open", int(fd), nil)
		} else {
			r.wrote("int80 open", int(fd), nil)
		}
	}
}

func openAsX32(p place, r *report) {
	const x32 = 0x40000000
	cwd := unix.AT_FDCWD
	fd, err := call(x32|unix.SYS_OPENAT, uintptr(cwd), uintptr(cstring(p.secret())), unix.O_RDONLY)
	r.took("x32 openat", fd, err)
	fd, err = call(x32|unix.SYS_OPENAT, uintptr(cwd), uintptr(cstring(p.secret())), unix.O_WRONLY|unix.O_APPEND)
	r.wrote("x32 openat", fd, err)
}

func openResolved(p place, r *report) {
	root, err := unix.Open(string(p), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	r.tried("open the folder", err)
	for _, how := range []uint64{0, unix.RESOLVE_BENEATH, unix.RESOLVE_IN_ROOT, unix.RESOLVE_NO_SYMLINKS,
		unix.RESOLVE_NO_MAGICLINKS, unix.RESOLVE_NO_XDEV, 0x20} { // the last is RESOLVE_CACHED
		name := fmt.Sprintf("openat2 %#x", how)
		fd, err := unix.Openat2(root, "deny/secret", &unix.OpenHow{Flags: unix.O_RDONLY | unix.O_CLOEXEC, Resolve: how})
		r.took(name, fd, err)
		fd, err = unix.Openat2(root, "deny/secret", &unix.OpenHow{Flags: unix.O_WRONLY | unix.O_APPEND | unix.O_CLOEXEC, Resolve: how})
		r.wrote(name, fd, err)
	}
}

// openInRoot uses a folder as the root of names, within which an absolute link leads to
// the closed file, and “..” goes nowhere.
func openInRoot(p place, r *report) {
	r.tried("symlink", unix.Symlink("/deny/secret", p.free("link")))
	root, err := unix.Open(string(p), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	r.tried("open the folder", err)
	for _, name := range []string{"open/link", "/deny/secret", "../../../deny/secret", "open/../../deny/secret"} {
		fd, err := unix.Openat2(root, name, &unix.OpenHow{Flags: unix.O_RDONLY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT})
		r.took(name, fd, err)
		fd, err = unix.Openat2(root, name, &unix.OpenHow{Flags: unix.O_WRONLY | unix.O_APPEND | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT})
		r.wrote(name, fd, err)
	}
}

// openFromFolder starts from descriptors and working folders that lie in the closed one.
func openFromFolder(p place, r *report) {
	for _, flags := range []int{unix.O_PATH, unix.O_RDONLY} {
		dir, err := unix.Open(p.at("deny"), flags|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if !r.tried("open the closed folder", err) {
			continue
		}
		fd, err := unix.Openat(dir, "secret", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		r.took("openat", fd, err)
		fd, err = unix.Openat(dir, "secret", unix.O_WRONLY|unix.O_APPEND|unix.O_CLOEXEC, 0)
		r.wrote("openat", fd, err)
		r.tried("fchdir", unix.Fchdir(dir))
	}
	r.tried("chdir", unix.Chdir(p.at("deny")))
	fd, err := unix.Open("secret", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	r.took("open from the working folder", fd, err)
	fd, err = unix.Open("secret", unix.O_WRONLY|unix.O_APPEND|unix.O_CLOEXEC, 0)
	r.wrote("open from the working folder", fd, err)
	r.tried("unlink", unix.Unlink("secret"))
	r.tried("mkdir", unix.Mkdir("made", 0o755))
}

// openAcrossHole gives paths that end where no memory is, or begin there.
func openAcrossHole(p place, r *report) {
	size := unix.Getpagesize()
	pages, err := unix.MmapPtr(-1, 0, nil, uintptr(2*size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if !r.tried("mmap", err) {
		return
	}
	if !r.tried("mprotect", callOnly(unix.SYS_MPROTECT, uintptr(unsafe.Add(pages, size)), uintptr(size), unix.PROT_NONE)) {
		return
	}
	cwd := unix.AT_FDCWD
	half := p.secret()[:len(p.secret())/2]
	start := unsafe.Add(pages, size-len(half))
	copy(unsafe.Slice((*byte)(start), len(half)), half)
	for _, path := range []uintptr{uintptr(start), uintptr(unsafe.Add(pages, size)), 0, 1, ^uintptr(0), 1 << 62} {
		for _, flags := range []uintptr{unix.O_RDONLY, unix.O_WRONLY} {
			fd, err := call(unix.SYS_OPENAT, uintptr(cwd), path, flags)
			r.took("openat", fd, err)
		}
		_, err := call(unix.SYS_OPENAT2, uintptr(cwd), uintptr(cstring(p.secret())), path, 24)
		r.tried("openat2 with a hole", err)
		_, err = call(unix.SYS_RENAMEAT2, uintptr(cwd), uintptr(cstring(p.free("good"))), uintptr(cwd), path, 0)
		r.tried("renameat2 with a hole", err)
	}
	if fd, err := unix.Open(p.free("good"), unix.O_RDWR|unix.O_CLOEXEC, 0); r.tried("open afterwards", err) {
		_ = unix.Close(fd)
		r.count("alive", 1)
	}
}

// strangeNames are legal names that a careless reader of names takes for others.
func strangeNames() []string {
	return []string{"new\nline", "bidi\u202etxt.exe", "bad\xff\xfeutf8", "esc\x1b[31m", " space ", "-rf",
		strings.Repeat("n", 255), "ﬁ", "tab\t"}
}

// openStrangeNames makes files of such names in the closed folder and, which must work,
// in the free one. It also gives paths as long as the kernel takes, and longer.
func openStrangeNames(p place, r *report) {
	for _, name := range strangeNames() {
		fd, err := unix.Open(p.at("deny/"+name), unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o644)
		r.wrote("create closed", fd, err)
		fd, err = unix.Open(p.at("ask/"+name), unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o644)
		r.wrote("create asked", fd, err)
		fd, err = unix.Open(p.free(name), unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o644)
		if r.wrote("create free", fd, err) {
			r.count("free", 1)
		}
	}
	for _, size := range []int{4095, 4096, 5000} {
		path := p.at("deny/") + strings.Repeat("/", size-len(p.at("deny/"))-len("secret")) + "secret"
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		r.took(fmt.Sprintf("open %d", size), fd, err)
		fd, err = unix.Open(path, unix.O_WRONLY|unix.O_APPEND|unix.O_CLOEXEC, 0)
		r.wrote(fmt.Sprintf("open %d", size), fd, err)
	}
}

// openOwnFiles opens names that mean the process that opens them. Count says whether
// each was the caller's own.
func openOwnFiles(p place, r *report) {
	own := fmt.Sprintf("Pid:\t%d\n", unix.Getpid())
	read := func(path string) string {
		fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
		if err != nil { // a file of the kernel that nobody may write
			fd, err = unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		}
		if !r.tried("open "+path, err) {
			return ""
		}
		defer func() { _ = unix.Close(fd) }()
		buf := make([]byte, 8192)
		n, _ := unix.Read(fd, buf)
		return string(buf[:max(n, 0)])
	}
	same := func(name string, ok bool) {
		if ok {
			r.count("own", 1)
		} else {
			r.count("other: "+name, 1)
		}
	}
	for _, name := range []string{"/proc/self/status", "/proc/self/../self/status", "/proc/thread-self/../../status", "/proc/./self//status"} {
		same(name, strings.Contains(read(name), own))
	}
	same("cmdline", strings.Contains(read("/proc/self/cmdline"), "\x00A28\x00"))
	same("thread-self", strings.Contains(read("/proc/thread-self/status"), fmt.Sprintf("Tgid:\t%d\n", unix.Getpid())))
	good, err := unix.Open(p.free("good"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if r.tried("open good", err) {
		for _, dir := range []string{"/proc/self/fd", "/proc/thread-self/fd", "/dev/fd", fmt.Sprintf("/proc/%d/fd", unix.Getpid())} {
			same(dir, strings.HasPrefix(read(fmt.Sprintf("%s/%d", dir, good)), "GOOD"))
		}
	}
	r.tried("chdir", unix.Chdir(p.at("open")))
	same("cwd", strings.HasPrefix(read("/proc/self/cwd/good"), "GOOD"))
	same("root", strings.HasPrefix(read("/proc/self/root"+p.free("good")), "GOOD"))
}
