package hostpty

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
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
	ending                bool // it starts nothing any more
	becoming              bool // a program, of which the kernel shows nothing yet
}

// table is where the kernel shows its processes.
type table string

const proc table = "/proc"

// kill ends it. A group of a session of ours is hit in one step, which nothing
// that forks in it escapes; one after the other they could be chased for ever.
func (p process) kill() {
	if p.ours && p.group > 1 && p.group != unix.Getpgrp() {
		if now, ok := proc.stat(p.pid); ok && now.start == p.start && now.group == p.group {
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
	if now, ok := proc.stat(p.pid); ok && now.start == p.start {
		_ = unix.PidfdSendSignal(fd, sig, nil, 0)
	}
}

// find lists the running members of session sid (0: of none), their descendants,
// and every process with the marker. The table is not a picture of one moment: sure
// says that none can have been missed. One is missed when another starts it after the
// table was listed and ends, and while it becomes a program, when it shows no
// environment. dead has the numbers and starts of processes that an earlier look saw to
// end: what they started was listed by now. meet, unless nil, is called for members of
// the session and processes with the marker as soon as each is found, the youngest first:
// a process that starts the next one and ends is gone when the table has been read.
func find(sid int, marker string, _ uint64, meet func(process), dead map[int]string) (out []process, sure bool) {
	return proc.find(sid, marker, meet, dead)
}

func (t table) find(sid int, marker string, meet func(process), dead map[int]string) (out []process, sure bool) {
	dirs, err := os.ReadDir(string(t))
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
		p, ok := t.stat(pid)
		if p.ending && dead[pid] != p.start {
			dead[pid], sure = p.start, false
		}
		if !ok {
			if _, err := os.Lstat(t.of(pid, "")); err != nil {
				sure = false
			}
			continue
		}
		all = append(all, p)
		member := sid != 0 && p.sid == sid
		if !member {
			var known bool
			member, known = t.marked(pid, marker)
			sure = sure && known
		}
		if member {
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

func (t table) of(pid int, file string) string {
	return filepath.Join(string(t), strconv.Itoa(pid), file)
}

// stat reads one line of the process table; a dead process is not there.
func (t table) stat(pid int) (process, bool) {
	line, err := os.ReadFile(t.of(pid, "stat"))
	if err != nil {
		return process{}, false
	}
	return parseStat(pid, line)
}

// isEnding is the kernel's PF_EXITING.
const isEnding = 4

// parseStat takes the line apart. The name in it is the process's own choice and
// may hold anything, so the last bracket counts.
func parseStat(pid int, line []byte) (process, bool) {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return process{}, false
	}
	f := strings.Fields(string(line[end+1:]))
	// state ppid pgrp session … flags is the 7th behind the name, starttime the 20th, the
	// size of its memory the 21st, and the end of the environment in it the 49th.
	if len(f) < 20 {
		return process{}, false
	}
	if f[0] == "Z" || f[0] == "X" {
		return process{pid: pid, start: f[19], ending: true}, false
	}
	ppid, err1 := strconv.Atoi(f[1])
	group, err2 := strconv.Atoi(f[2])
	sid, err3 := strconv.Atoi(f[3])
	if err1 != nil || err2 != nil || err3 != nil {
		return process{}, false
	}
	p := process{pid: pid, ppid: ppid, group: group, sid: sid, start: f[19], name: string(line[open+1 : end])}
	flags, _ := strconv.ParseUint(f[6], 10, 64)
	p.ending = flags&isEnding != 0
	p.becoming = len(f) > 48 && f[20] != "0" && f[48] == "0" && !p.ending
	return p, true
}

// namespace is the one that Loop numbers processes in.
var namespace = sync.OnceValue(func() string {
	ns, _ := os.Readlink("/proc/self/ns/pid") // empty is none of theirs; then nothing is found by its mark
	return ns
})

// maxEnviron bounds what is read of a process's environment: the kernel's own
// limit for arguments and environment of a default stack.
const maxEnviron = 2 << 20

// marked reports whether a process has the marker. It is not known while the process
// becomes a program: the kernel has put its new memory in place and the environment not yet.
func (t table) marked(pid int, marker string) (is, known bool) {
	// What is in a container may make its environment long or slow to read, and
	// did not come from a terminal of this computer.
	if ns, err := os.Readlink(t.of(pid, "ns/pid")); err == nil && ns != namespace() {
		return false, true
	}
	for again := false; ; again = true {
		env, err := t.environ(pid)
		if err != nil {
			return false, true // another user's
		}
		if len(env) > 0 {
			return bytes.Contains(slices.Concat([]byte{0}, env, []byte{0}), []byte("\x00"+Marker+"="+marker+"\x00")), true
		}
		if p, ok := t.stat(pid); ok && p.becoming {
			return false, false
		}
		if again { // it has none: that was not shown too early
			return false, true
		}
	}
}

func (t table) environ(pid int) ([]byte, error) {
	f, err := os.Open(t.of(pid, "environ"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, maxEnviron))
}
