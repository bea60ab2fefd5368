//go:build linux

package supervise

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"loop/backend/policy"
)

// AgentsJudge is a Judge that knows programs under which another one judges: them, and
// everything that comes from them. It is stricter than the Judge itself.
type AgentsJudge interface {
	Agents() (files []string, stricter Judge) // nil: there are none
}

// viewFor is what decides a call: the policy, or that of the agents from which its
// process comes.
func (s *Supervisor) viewFor(c *call) *view {
	v := s.view.Load()
	if v.agents != nil && s.descent.ofAgent(c.process()) {
		return v.agents
	}
	return v
}

// newView compiles nothing; it only asks once what a judge knows of agents.
func newView(j Judge, version int64) *view {
	v := &view{Judge: j, version: version, debuggers: debuggers(j)}
	if a, ok := j.(AgentsJudge); ok {
		if files, stricter := a.Agents(); stricter != nil {
			v.files, v.agents = files, &view{Judge: stricter, version: version}
		}
	}
	return v
}

// descent knows which processes come from an agent. Until one was started it knows none
// and costs nothing.
type descent struct {
	started atomic.Bool
	mu      sync.Mutex
	known   map[lineage]bool // whether it is an agent's
}

// lineage names a process for good.
type lineage struct {
	pid     int
	started uint64
}

// maxKnown is how many processes are remembered before those that have ended are
// forgotten.
const maxKnown = 4096

// ofAgent tells by the parents of a process, the first time that it calls. One that has
// lost its parent before counts as an agent's. The filter lets nobody make a child of its
// own parent.
func (d *descent) ofAgent(pid int) bool {
	if !d.started.Load() {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	own := os.Getpid()
	var young []lineage
	agent, last := true, ^uint64(0)
	for len(young) < maxKnown && pid > 1 && pid != own {
		parent, started, err := parentage("/proc/" + strconv.Itoa(pid))
		if err != nil || started > last { // gone; another one has its number
			break
		}
		is, found := d.known[lineage{pid, started}]
		if found {
			agent = is
			break
		}
		young = append(young, lineage{pid, started})
		pid, last = parent, started
	}
	for _, l := range young {
		d.known[l] = agent
	}
	if len(d.known) > maxKnown {
		d.forget()
	}
	return agent
}

// forget drops what has ended.
func (d *descent) forget() {
	for l := range d.known {
		if _, started, err := parentage("/proc/" + strconv.Itoa(l.pid)); err != nil || started != l.started {
			delete(d.known, l)
		}
	}
}

// begin makes a process an agent's. With the first one, what runs already is known to be
// no agent's: orphans among it stay the person's.
func (d *descent) begin(pid int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.started.Load() {
		d.known = make(map[lineage]bool)
		for _, l := range running() {
			d.known[l] = false
		}
		d.started.Store(true)
	}
	if _, started, err := parentage("/proc/" + strconv.Itoa(pid)); err == nil {
		d.known[lineage{pid, started}] = true
	}
}

// running lists every process there is.
func running() []lineage {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	names, _ := dir.Readdirnames(-1)
	var all []lineage
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if _, started, err := parentage("/proc/" + name); err == nil {
			all = append(all, lineage{pid, started})
		}
	}
	return all
}

// runtimes run a program that is their first argument.
var runtimes = []string{"node", "nodejs", "bun", "deno", "sh", "bash", "dash", "zsh", "python3", "python"}

func isRuntime(file *object) bool {
	return slices.Contains(runtimes, file.path[strings.LastIndexByte(file.path, '/')+1:])
}

// startsAgent reports whether one of the programs, or the script that the last of them is
// given, is a file where an agent is installed, or a copy of one. An agent that is only to
// write down what the person has typed does not count.
func (c *call) startsAgent(all programs) bool {
	if first := all[0]; first.file != nil && !isRuntime(first.file) && policy.OnlyEdits(first.argv) {
		return false
	}
	var files []*object
	for _, p := range all {
		if p.file != nil {
			files = append(files, p.file)
		}
	}
	if last := all[len(all)-1]; last.file != nil && isRuntime(last.file) {
		if script := c.script(last.argv); script != nil {
			defer script.close()
			files = append(files, script)
		}
	}
	for _, name := range c.view.files {
		fd, err := unix.Open(name, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			continue
		}
		installed, err := c.s.describe(fd)
		if err != nil {
			continue
		}
		is := slices.ContainsFunc(files, func(o *object) bool { return sameContent(o, installed) })
		installed.close()
		if is {
			return true
		}
	}
	return false
}

// script is the first argument of a runtime that is no option.
func (c *call) script(argv []string) *object {
	i := slices.IndexFunc(argv[1:], func(a string) bool { return !strings.HasPrefix(a, "-") })
	if i < 0 {
		return nil
	}
	o, missing, err := c.find(location{dirfd: unix.AT_FDCWD, path: argv[1+i]}, how{follow: true})
	if missing != nil {
		missing.close()
	}
	if err != nil {
		return nil
	}
	return o
}

// sameContent reports whether two objects are one file, or one is a copy of the other.
func sameContent(a, b *object) bool {
	if a.identity() == b.identity() {
		return true
	}
	if a.kind() != unix.S_IFREG || b.kind() != unix.S_IFREG || a.st.Size != b.st.Size || a.st.Size == 0 {
		return false
	}
	one, err := os.Open(a.itself())
	if err != nil {
		return false
	}
	defer func() { _ = one.Close() }()
	two, err := os.Open(b.itself())
	if err != nil {
		return false
	}
	defer func() { _ = two.Close() }()
	var left, right [64 << 10]byte
	for {
		n, err := io.ReadFull(one, left[:])
		m, _ := io.ReadFull(two, right[:])
		if !bytes.Equal(left[:n], right[:m]) {
			return false
		}
		if err != nil {
			return err == io.EOF || err == io.ErrUnexpectedEOF
		}
	}
}
