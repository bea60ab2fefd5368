//go:build linux

package main

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pressureAttacks try to stop, fill or confuse the supervisor.
func pressureAttacks() []attack {
	return []attack{
		{"B1", blockOnFIFOs},
		{"B1-lease", blockOnLeases},
		{"B4", dieInCalls},
		{"B8", blockManyThreads},
		{"B8-memory", askWithLongCommands},
		{"B9", exhaustProcesses},
		{"B6", openWhileStopped},
	}
}

// blockOnFIFOs has threads wait in opens of FIFOs that nobody writes, while others work.
func blockOnFIFOs(p place, r *report) { blockThreads(p, 16, r) }

// blockManyThreads does it with as many as the container has room for.
func blockManyThreads(p place, r *report) { blockThreads(p, rounds(100), r) }

func blockThreads(p place, n int, r *report) {
	if !r.tried("mkfifo", unix.Mkfifo(p.free("fifo"), 0o644)) {
		return
	}
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			runtime.LockOSThread()
			for {
				fd, err := unix.Open(p.free("fifo"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
				if err == unix.EINTR {
					continue
				}
				if err == nil {
					_ = unix.Close(fd)
				}
				return
			}
		})
	}
	began := time.Now()
	for range 200 {
		fd, err := unix.Open(p.free("good"), unix.O_RDWR|unix.O_CLOEXEC, 0)
		if err != nil {
			r.tried("open beside", err)
			return
		}
		_ = unix.Close(fd)
	}
	r.count("opened", 200)
	r.count("ms", int(time.Since(began).Milliseconds()))
	fd, err := unix.Open(p.free("fifo"), unix.O_RDWR|unix.O_CLOEXEC, 0) // wakes every reader
	if !r.tried("open the FIFO", err) {
		return
	}
	wg.Wait()
	_ = unix.Close(fd)
	r.count("woke", n)
}

// blockOnLeases has threads wait for a file that a lease keeps from them, for as long as
// the kernel grants its holder (45 s), while others work.
func blockOnLeases(p place, r *report) {
	fd, err := unix.Open(p.free("leased"), unix.O_CREAT|unix.O_RDONLY|unix.O_CLOEXEC, 0o644)
	if !r.tried("create", err) {
		return
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK); !r.tried("F_SETLEASE", err) {
		r.count("unhindered", 1) // nobody can be held up by a lease that is not given
		return
	}
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			runtime.LockOSThread()
			if i%2 == 0 {
				_ = unix.Truncate(p.free("leased"), 0)
			} else if w, err := unix.Open(p.free("leased"), unix.O_WRONLY|unix.O_CLOEXEC, 0); err == nil {
				_ = unix.Close(w)
			}
		})
	}
	<-time.After(50 * time.Millisecond)
	began := time.Now()
	giveUp := time.AfterFunc(4*time.Second, func() { _, _ = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_UNLCK) })
	defer giveUp.Stop()
	for range 200 {
		beside, err := unix.Open(p.free("good"), unix.O_RDWR|unix.O_CLOEXEC, 0)
		if !r.tried("open beside", err) {
			break
		}
		_ = unix.Close(beside)
	}
	r.Steps = nil
	if time.Since(began) < 3*time.Second {
		r.count("unhindered", 1)
	}
	r.count("ms", int(time.Since(began).Milliseconds()))
	_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_UNLCK)
	r.tried("F_UNLCK", err)
	wg.Wait()
}

// askWithLongCommands has many programs ask at once to run something whose arguments are
// as long as the kernel takes.
func askWithLongCommands(p place, r *report) {
	argv := []unsafe.Pointer{cstring("askrun")}
	long := cstring(strings.Repeat("a", 120<<10))
	for range 16 {
		argv = append(argv, long)
	}
	argv = append(argv, nil, nil)
	own := len(argv) - 2
	env := []unsafe.Pointer{nil}
	path := cstring(p.at("bin/askrun"))
	args := []uintptr{uintptr(path), uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&env[0]))}
	var pids []int
	for i := range rounds(100) {
		argv[own] = cstring(decimal(i)) // no two commands are the same
		pid, err := forkCall(unix.SYS_EXECVE, args)
		if err != nil {
			r.tried("fork", err)
			break
		}
		pids = append(pids, pid)
	}
	r.count("children", len(pids))
	for _, pid := range pids {
		_, _ = unix.Wait4(pid, nil, 0, nil)
	}
	runtime.KeepAlive(argv)
	runtime.KeepAlive(env)
	runtime.KeepAlive(path)
	if fd, err := unix.Open(p.free("good"), unix.O_RDWR|unix.O_CLOEXEC, 0); r.tried("open afterwards", err) {
		_ = unix.Close(fd)
		r.count("alive", 1)
	}
}

// dieInCalls starts children that end in the middle of their calls, so that their thread
// numbers are others' soon.
func dieInCalls(p place, r *report) {
	self, err := os.Executable()
	if !r.tried("own name", err) {
		return
	}
	for range rounds(30) {
		c := exec.Command(self, "A12", string(p)) //nolint:noctx,gosec // killed below
		if c.Start() != nil {
			continue
		}
		timer := time.NewTimer(3 * time.Millisecond)
		<-timer.C
		_ = c.Process.Kill()
		_ = c.Wait()
		r.count("killed", 1)
	}
	if fd, err := unix.Open(p.free("good"), unix.O_RDWR|unix.O_CLOEXEC, 0); r.tried("open afterwards", err) {
		_ = unix.Close(fd)
		r.count("alive", 1)
	}
}

// exhaustProcesses takes every process that the container has, and tries the closed file then.
func exhaustProcesses(p place, r *report) {
	var pids []int
	for {
		pid, _, e := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		if e != 0 {
			r.tried("fork", e)
			break
		}
		if pid == 0 {
			for {
				unix.RawSyscall(unix.SYS_PPOLL, 0, 0, 0)
			}
		}
		pids = append(pids, int(pid))
	}
	r.count("children", len(pids))
	both(p.secret(), r)
	if fd, err := unix.Open(p.free("good"), unix.O_RDWR|unix.O_CLOEXEC, 0); r.tried("open good", err) {
		_ = unix.Close(fd)
		r.count("alive", 1)
	}
	for _, pid := range pids {
		_ = unix.Kill(pid, unix.SIGKILL)
		_, _ = unix.Wait4(pid, nil, 0, nil)
	}
}

// openWhileStopped opens again and again until the test ends it, and says in a file
// when an open of the closed file succeeded.
func openWhileStopped(p place, r *report) {
	r.tried("tell", say(p.free("running")))
	for {
		if fd, err := unix.Open(p.at("ask/file"), unix.O_WRONLY|unix.O_APPEND|unix.O_CLOEXEC, 0); err == nil {
			_, _ = unix.Write(fd, []byte("x"))
			_ = unix.Close(fd)
		}
		if fd, err := unix.Open(p.secret(), unix.O_WRONLY|unix.O_APPEND|unix.O_CLOEXEC, 0); err == nil {
			_, _ = unix.Write(fd, []byte("x"))
			_ = unix.Close(fd)
		}
	}
}
