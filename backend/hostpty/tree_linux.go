package hostpty

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// process is one member of a session's tree.
type process struct {
	pid, ppid, group, sid int
	start                 string // ticks since boot: with the number it names one process for good
	name                  string
	ours                  bool // its kernel session was begun by the tree
}

// kill ends it. A group of a session of ours is hit in one step, which nothing
// that forks in it escapes; one after the other they could be chased for ever.
func (p process) kill() {
	if p.ours && p.group > 1 && p.group != unix.Getpgrp() {
		if now, ok := stat(p.pid); ok && now.start == p.start && now.group == p.group {
			_ = unix.Kill(-p.group, unix.SIGKILL)
		}
	}
	p.signal(unix.SIGKILL)
}

// signal is sent through a handle, so that a number that was taken again in the
// meantime is not hit.
func (p process) signal(sig unix.Signal) {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err != nil {
		if err != unix.ESRCH { // an old kernel: by number, looked at just now
			_ = unix.Kill(p.pid, sig)
		}
		return
	}
	defer func() { _ = unix.Close(fd) }()
	if now, ok := stat(p.pid); ok && now.start == p.start {
		_ = unix.PidfdSendSignal(fd, sig, nil, 0)
	}
}

// find lists the running members of session sid (0: of none), their descendants,
// and every process with the marker. The table is not a picture of one moment: sure
// says that no process ended while it was read, so that none was missed that another
// started on its way out. meet, unless nil, is called for members of the session and
// processes with the marker as soon as each is found, the youngest first: a process
// that starts the next one and ends is gone when the table has been read.
func find(sid int, marker string, _ uint64, meet func(process)) (out []process, sure bool) {
	dirs, err := os.ReadDir("/proc")
	if err != nil {
		return nil, true
	}
	sure = true
	self := os.Getpid()
	var pids []int
	for _, d := range dirs {
		if pid, err := strconv.Atoi(d.Name()); err == nil && pid != self {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	var all []process
	in := map[int]bool{}
	for _, pid := range slices.Backward(pids) {
		p, ok := stat(pid)
		if !ok {
			if _, err := os.Lstat(fmt.Sprintf("/proc/%d", pid)); err != nil {
				sure = false
			}
			continue
		}
		all = append(all, p)
		if sid != 0 && p.sid == sid || marked(pid, marker) {
			in[pid] = true
			if meet != nil {
				p.ours = sid != 0 && p.sid == sid
				meet(p)
			}
		}
	}
	out = withDescendants(all, in)
	for i := range out {
		out[i].ours = sid != 0 && out[i].sid == sid || in[out[i].sid]
	}
	return out, sure
}

// stat reads one line of the process table; a dead process is not there.
func stat(pid int) (process, bool) {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return process{}, false
	}
	return parseStat(pid, line)
}

// parseStat takes the line apart. The name in it is the process's own choice and
// may hold anything, so the last bracket counts.
func parseStat(pid int, line []byte) (process, bool) {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return process{}, false
	}
	f := strings.Fields(string(line[end+1:]))
	// state ppid pgrp session … starttime is the 20th behind the name.
	if len(f) < 20 || f[0] == "Z" || f[0] == "X" {
		return process{}, false
	}
	ppid, err1 := strconv.Atoi(f[1])
	group, err2 := strconv.Atoi(f[2])
	sid, err3 := strconv.Atoi(f[3])
	if err1 != nil || err2 != nil || err3 != nil {
		return process{}, false
	}
	return process{pid: pid, ppid: ppid, group: group, sid: sid, start: f[19], name: string(line[open+1 : end])}, true
}

// namespace is the one that Loop numbers processes in.
var namespace = sync.OnceValue(func() string {
	ns, _ := os.Readlink("/proc/self/ns/pid") // empty is none of theirs; then nothing is found by its mark
	return ns
})

// maxEnviron bounds what is read of a process's environment: the kernel's own
// limit for arguments and environment of a default stack.
const maxEnviron = 2 << 20

func marked(pid int, marker string) bool {
	// What is in a container may make its environment long or slow to read, and
	// did not come from a terminal of this computer.
	if ns, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", pid)); err == nil && ns != namespace() {
		return false
	}
	f, err := os.Open(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return false // another user's
	}
	defer func() { _ = f.Close() }()
	env, err := io.ReadAll(io.LimitReader(f, maxEnviron))
	return err == nil && bytes.Contains(slices.Concat([]byte{0}, env, []byte{0}), []byte("\x00"+Marker+"="+marker+"\x00"))
}
