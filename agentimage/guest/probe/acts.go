//go:build linux

package probe

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/threads"
	"loop/backend/wire"
)

const content = "written by loop gate-probe\n"

// write makes a file, and looks whether it is there.
func write(path string) wire.TrialWrite {
	err := os.WriteFile(path, []byte(content), 0o600)
	is, rerr := os.ReadFile(path)
	return wire.TrialWrite{Error: name(err), There: rerr == nil && string(is) == content}
}

// ioUring asks for a ring without entries, which no kernel makes.
func ioUring() string {
	fd, _, e := unix.Syscall(unix.SYS_IO_URING_SETUP, 0, 0, 0)
	if e == 0 {
		_ = unix.Close(int(fd))
		return ""
	}
	return name(e)
}

// ptrace looks into a process that this one does not trace, which no kernel allows.
func ptrace() string {
	_, _, e := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_PEEKDATA, uintptr(os.Getpid()), 0, 0, 0, 0)
	if e == 0 {
		return ""
	}
	return name(e)
}

// outside attaches to the parent of this process, which is the supervisor, as a debugger.
func outside() string {
	_, _, e := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(os.Getppid()), 0, 0, 0, 0)
	if e == 0 {
		return ""
	}
	return name(e)
}

// Bounds of the series.
const (
	signals  = 100
	pause    = time.Millisecond // between two signals
	starts   = 20
	patience = 5 * time.Second // for one series, of which one round is made in any case
)

// interrupted makes and removes a folder over and over while signals arrive. A call that
// a signal sends back after the supervisor has done it finds its own work there when it
// is tried again.
func interrupted(dir string) (s wire.TrialSeries) {
	heard := make(chan os.Signal, 1) // what does not fit is dropped; it has interrupted all the same
	signal.Notify(heard, unix.SIGUSR1)
	defer signal.Stop(heard)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	thread, done := unix.Gettid(), make(chan struct{})
	var sender sync.WaitGroup
	sender.Go(func() {
		defer close(done)
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for range signals {
			<-tick.C
			_ = unix.Tgkill(os.Getpid(), thread, unix.SIGUSR1)
		}
	})
	defer sender.Wait()
	for end := time.Now().Add(patience); ; {
		s.Add(name(unix.Mkdir(dir, 0o700)))
		s.Add(name(unix.Rmdir(dir)))
		select {
		case <-done:
			return s
		default:
		}
		if !time.Now().Before(end) {
			return s
		}
	}
}

// start runs a program several times, each of which should end well.
func start(program []string, patience time.Duration) (s wire.TrialSeries) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		s.Add("open " + os.DevNull + ": " + name(err))
		return s
	}
	defer func() { _ = null.Close() }()
	attr := &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{null.Fd(), null.Fd(), null.Fd()}}
	for end := time.Now().Add(patience); s.Tried < starts && time.Now().Before(end); {
		_, err := syscall.ForkExec(program[0], program, attr)
		if err != nil {
			s.Add("start: " + name(err))
			continue
		}
		threads.WaitAll(func(_ int, ws syscall.WaitStatus) {
			switch {
			case ws.Signaled():
				s.Add("ended by " + unix.SignalName(ws.Signal()))
			case ws.ExitStatus() != 0:
				s.Add(fmt.Sprintf("ended with %d", ws.ExitStatus()))
			default:
				s.Add("")
			}
		})
	}
	return s
}
