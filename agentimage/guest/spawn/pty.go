//go:build linux

package spawn

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// ptyThread opens terminals. devpts gives the slave to the file system uid of
// whoever opens the master, and loop init has no CHOWN, so one thread has the
// agent's file system uid for good and does nothing but open masters. It is
// never given back to the runtime: the change also takes capabilities from it.
type ptyThread struct {
	ask chan chan<- ptyMaster
}

type ptyMaster struct {
	fd  int
	err error
}

func newPTYThread(uid int, done <-chan struct{}) *ptyThread {
	t := &ptyThread{ask: make(chan chan<- ptyMaster)}
	ready := make(chan struct{})
	defer func() { <-ready }() // before any agent runs
	var serve func()
	serve = func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		if unix.Gettid() == unix.Getpid() {
			// The main thread is what /proc says of the whole process: another one
			// is taken while this one is held.
			go serve()
			<-ready
			runtime.UnlockOSThread()
			return
		}
		if uid != unix.Getuid() {
			becomeFS(uid)
		}
		close(ready)
		for {
			select {
			case answer := <-t.ask:
				fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
				answer <- ptyMaster{fd, err}
			case <-done:
				return
			}
		}
	}
	go serve()
	return t
}

// becomeFS changes the calling thread's file system uid. The kernel answers any
// change of credentials by making the whole process undumpable, which would
// hand its /proc files to root, and so to an agent that is uid 0: what was set
// before is set again. Neither call fails for a process with SETUID; if one
// did, terminals would belong to the supervisor and still work.
func becomeFS(uid int) {
	was, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	_, _, _ = unix.RawSyscall(unix.SYS_SETFSUID, uintptr(uid), 0, 0)
	if err == nil {
		_ = unix.Prctl(unix.PR_SET_DUMPABLE, uintptr(was), 0, 0, 0)
	}
}

// open returns the master and the slave of a new terminal.
func (t *ptyThread) open(done <-chan struct{}, cols, rows uint16) (master, slave *os.File, err error) {
	answer := make(chan ptyMaster, 1)
	select {
	case t.ask <- answer:
	case <-done:
		return nil, nil, os.ErrClosed
	}
	r := <-answer
	if r.err != nil {
		return nil, nil, fmt.Errorf("open terminal: %w", r.err)
	}
	master = os.NewFile(uintptr(r.fd), "ptmx")
	if err := unix.IoctlSetPointerInt(r.fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("unlock terminal: %w", err), master.Close())
	}
	if err := setSize(r.fd, cols, rows); err != nil {
		return nil, nil, errors.Join(err, master.Close())
	}
	// Opened through the master, not by path: the path belongs to the agent.
	peer, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(r.fd), unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC)
	if e != 0 {
		return nil, nil, errors.Join(fmt.Errorf("open terminal's other end: %w", e), master.Close())
	}
	return master, os.NewFile(peer, "tty"), nil
}

// setSize sets a terminal's size, or a usual one where none is known yet.
func setSize(fd int, cols, rows uint16) error {
	if cols == 0 || rows == 0 {
		cols, rows = 80, 24
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: cols}); err != nil {
		return fmt.Errorf("resize terminal: %w", err)
	}
	return nil
}
