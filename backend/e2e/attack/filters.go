//go:build linux

package main

import (
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

func lockThread() { runtime.LockOSThread() }

// filterAttacks put filters of their own on top.
func filterAttacks() []attack {
	return []attack{
		{"A17", listenMyself},
		{"A18", filterMyself},
		{"A29", leaveNamespace},
		{"X12", forgeIdentity},
		{"continue", raceContinue},
	}
}

const (
	retAllow  = 0x7fff0000
	retNotify = 0x7fc00000
	newListen = 1 << 3

	notifRecv = 0xc0502100
	notifSend = 0xc0182101
	goOn      = 1 // SECCOMP_USER_NOTIF_FLAG_CONTINUE
)

// install puts a filter on the calling thread, which answers one number with one action.
func install(number, action uint32, flags uintptr) (int, error) {
	prog := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: number, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: action},
		{Code: unix.BPF_RET | unix.BPF_K, K: retAllow},
	}
	_ = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	fprog := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	fd, err := call(unix.SYS_SECCOMP, 1, flags, uintptr(unsafe.Pointer(&fprog)))
	runtime.KeepAlive(prog)
	return fd, err
}

// notification is struct seccomp_notif.
type notification struct {
	ID         uint64
	Pid, Flags uint32
	Nr         int32
	Arch       uint32
	IP         uint64
	Args       [6]uint64
}

type notifResponse struct {
	ID    uint64
	Val   int64
	Error int32
	Flags uint32
}

// underListener runs do on a thread whose opens are answered by answer.
func underListener(r *report, answer func(notification) notifResponse, do func()) {
	var wg sync.WaitGroup
	listener := make(chan int, 1)
	finished := make(chan struct{})
	wg.Go(func() {
		runtime.LockOSThread() // and ends with the thread, so that nothing else gets the filter
		defer close(finished)
		fd, err := install(unix.SYS_OPENAT, retNotify, newListen)
		listener <- fd
		if r.tried("seccomp NEW_LISTENER", err) {
			do()
		}
	})
	fd := <-listener
	if fd < 0 {
		wg.Wait()
		return
	}
	go func() {
		for {
			n := notification{}
			if _, err := call(unix.SYS_IOCTL, uintptr(fd), notifRecv, uintptr(unsafe.Pointer(&n))); err != nil {
				if err == unix.EINTR || err == unix.ENOENT {
					continue
				}
				return
			}
			a := answer(n)
			a.ID = n.ID
			_, _ = call(unix.SYS_IOCTL, uintptr(fd), notifSend, uintptr(unsafe.Pointer(&a)))
		}
	}()
	<-finished
	wg.Wait()
	_ = unix.Close(fd)
}

// listenMyself answers its own opens with “go on”, which the kernel then does without
// asking anybody else.
func listenMyself(p place, r *report) {
	underListener(r, func(notification) notifResponse { return notifResponse{Flags: goOn} }, func() { both(p.secret(), r) })
}

// filterMyself installs filters without a listener: one that allows, one that asks nobody.
func filterMyself(p place, r *report) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		_, err := install(unix.SYS_OPENAT, retAllow, 0)
		r.tried("seccomp allow", err)
		both(p.secret(), r)
		_, err = install(unix.SYS_OPENAT, retNotify, 0)
		r.tried("seccomp notify", err)
		both(p.secret(), r)
	}()
	<-done
}

// raceContinue is a gate that reads the path and lets the kernel go on, which is how
// gates fail: it shows that the race of A1 can be won on this computer.
func raceContinue(p place, r *report) {
	f, err := flip(p.at("dent/secret"), p.secret())
	if !r.tried("mmap", err) {
		return
	}
	stop := f.run()
	defer stop()
	raced := func() {
		race(rounds(2000), (*raced).hasWon, opener(f.path, unix.O_RDONLY, p.secret(), r)).count(r, "")
	}
	underListener(r, func(n notification) notifResponse {
		path := unsafe.String((*byte)(f.path), len(p.secret()))
		if uintptr(n.Args[1]) == uintptr(f.path) && strings.Clone(path) == p.secret() {
			return notifResponse{Error: -int32(unix.EACCES)}
		}
		return notifResponse{Flags: goOn}
	}, raced)
}

// leaveNamespace asks for namespaces, in which names mean something else.
func leaveNamespace(p place, r *report) {
	for name, flag := range map[string]uintptr{"user": unix.CLONE_NEWUSER, "mount": unix.CLONE_NEWNS, "pid": unix.CLONE_NEWPID,
		"both": unix.CLONE_NEWUSER | unix.CLONE_NEWNS} {
		pid, _, e := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD)|flag, 0, 0, 0, 0, 0)
		if e == 0 && pid == 0 {
			unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
		if e != 0 {
			r.tried("clone "+name, e)
			continue
		}
		r.count("left", 1)
		_, _ = unix.Wait4(int(pid), nil, 0, nil)
	}
	args := [11]uint64{unix.CLONE_NEWUSER, 0, 0, 0, uint64(unix.SIGCHLD)}
	pid, _, e := unix.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&args)), unsafe.Sizeof(args), 0)
	if e == 0 && pid == 0 {
		unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
	if e != 0 {
		r.tried("clone3", e)
	} else {
		r.count("left", 1)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		for _, flag := range []int{unix.CLONE_NEWUSER, unix.CLONE_NEWNS, unix.CLONE_NEWUSER | unix.CLONE_NEWNS} {
			if r.tried("unshare", unix.Unshare(flag)) {
				r.count("left", 1)
				r.tried("mount", unix.Mount(p.at("dent"), p.at("deny"), "", unix.MS_BIND, ""))
			}
		}
		fd, err := unix.Open("/proc/1/ns/mnt", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if r.tried("open a namespace", err) && r.tried("setns", unix.Setns(fd, 0)) {
			r.count("left", 1)
		}
	}()
	<-done
}

// forgeIdentity changes what the kernel says of this process.
func forgeIdentity(p place, r *report) {
	const setMM, exeFile, argStart, mapAll = 35, 13, 8, 14
	fd, err := unix.Open("/bin/true", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if r.tried("open", err) && r.tried("PR_SET_MM_EXE_FILE", unix.Prctl(setMM, exeFile, uintptr(fd), 0, 0)) {
		r.count("forged", 1)
	}
	if r.tried("PR_SET_MM_ARG_START", unix.Prctl(setMM, argStart, uintptr(cstring("innocent")), 0, 0)) {
		r.count("forged", 1)
	}
	var all [104]byte
	if r.tried("PR_SET_MM_MAP", unix.Prctl(setMM, mapAll, uintptr(unsafe.Pointer(&all[0])), 104, 0)) {
		r.count("forged", 1)
	}
	r.tried("PR_SET_DUMPABLE", unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)) // the supervisor must still read its calls
	both(p.secret(), r)
}
