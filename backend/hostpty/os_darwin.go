package hostpty

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const (
	ioctlGetTermios = unix.TIOCGETA
	ioctlSetTermios = unix.TIOCSETA
	nonblocking     = false // the master: a read waits for the program
)

// pollable leaves the master as it is: the system's kqueue loses events of
// terminals. A Read ends when the last program lets go of the terminal, which
// Close sees to.
func pollable(master *os.File) (*os.File, error) { return master, nil }

// waitNoReap waits for the process's end and leaves its number taken. How it ended it
// cannot tell: the system says that only together with the number.
func waitNoReap(pid int) Exit {
	unknown := Exit{Code: -1}
	kq, err := unix.Kqueue()
	if err != nil {
		return unknown
	}
	defer func() { _ = unix.Close(kq) }()
	unix.CloseOnExec(kq)
	change := []unix.Kevent_t{{Ident: uint64(pid), Filter: unix.EVFILT_PROC, Flags: unix.EV_ADD | unix.EV_ONESHOT, Fflags: unix.NOTE_EXIT}}
	for {
		_, err := unix.Kevent(kq, change, make([]unix.Kevent_t, 1), nil)
		if !errors.Is(err, unix.EINTR) {
			return unknown
		}
	}
}

// peekEnd says whether a child ended. How, the system says only together with its number.
func peekEnd(pid int) (how Exit, ended bool) {
	now, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return Exit{Code: -1}, err != nil || now.Proc.P_stat == zombie
}

// identityOf names a running process for good.
func identityOf(pid int) (string, bool) {
	now, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || now.Proc.P_stat == zombie {
		return "", false
	}
	return fmt.Sprintf("%d.%06d", now.Proc.P_starttime.Sec, now.Proc.P_starttime.Usec), true
}

// process is one member of a session's tree.
type process struct {
	pid, ppid int
	start     unix.Timeval // with the number it names one process for good
	name      string
}

func (p process) signal(sig unix.Signal) {
	now, err := unix.SysctlKinfoProc("kern.proc.pid", p.pid)
	if err == nil && now.Proc.P_starttime == p.start {
		_ = unix.Kill(p.pid, sig)
	}
}

// kill ends it.
func (p process) kill() { p.signal(unix.SIGKILL) }

// zombie is the state of a process that ended and was not waited for.
const zombie = 5

// find lists the leader (0: no more) and everything whose controlling terminal is
// dev, their descendants, and what shows the marker. The table is complete at once:
// nobody is met before the others are known.
func find(leader int, marker string, dev uint64, _ func(process), _ map[int]string) (out []process, sure bool) {
	table, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, true
	}
	self := os.Getpid()
	in := map[int]bool{}
	var all []process
	for i := range table {
		k := &table[i]
		p := process{pid: int(k.Proc.P_pid), ppid: int(k.Eproc.Ppid), start: k.Proc.P_starttime, name: unix.ByteSliceToString(k.Proc.P_comm[:])}
		if p.pid == self || p.pid <= 1 || k.Proc.P_stat == zombie {
			continue
		}
		all = append(all, p)
		if p.pid == leader || leader != 0 && dev != 0 && uint32(k.Eproc.Tdev) == uint32(dev) || marked(p.pid, marker) {
			in[p.pid] = true
		}
	}
	return withDescendants(all, in), true // the table is the kernel's own copy of one moment
}

func marked(pid int, marker string) bool {
	raw, err := unix.SysctlRaw("kern.procargs2", pid)
	return err == nil && bytes.Contains(raw, []byte("\x00"+Marker+"="+marker+"\x00"))
}
