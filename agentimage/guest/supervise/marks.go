//go:build linux

package supervise

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"loop/backend/policy"
	"loop/backend/wire"
)

// Marks tell the supervisors of one container how strict the policy is by which the maker
// of a Unix socket or a terminal goes. Programs under a stricter one may not connect to it
// or open it, or they would act through its maker. Every socket and terminal is marked anew
// before its maker has it; so an old mark never stands for a new object.
type Marks struct {
	// Dir holds an empty file for each mark. It is the supervisors' and closed to agents.
	Dir string
	// Strictness is that of the supervised program's policy, at most policy.Strictest.
	// What comes from an agent under a person's policy goes by the agent's in any case.
	Strictness int
}

// strictness is that of the policy by which a call's program goes.
func (c *call) strictness() int {
	m := c.s.options.Marks
	if m == nil {
		return 0
	}
	if m.Strictness < policy.Strict && c.s.view.Load().agents != nil && c.s.descent.ofAgent(c.process()) {
		return policy.Strict
	}
	return m.Strictness
}

// mark notes whose something is that the caller is making.
func (c *call) mark(name string) error {
	m := c.s.options.Marks
	if m == nil {
		return nil
	}
	strictness := c.strictness()
	return asSupervisor(func() error { return m.set(name, strictness) })
}

// file is the mark of something whose maker's policy is so strict. What the strictest
// programs make has none, as everybody may use it.
func (m *Marks) file(name string, strictness int) string {
	return filepath.Join(m.Dir, strconv.Itoa(strictness)+" "+name)
}

// set marks something. The calling thread must be the supervisor's own.
func (m *Marks) set(name string, strictness int) error {
	for other := range policy.Strictest {
		if other == strictness {
			continue
		}
		if err := os.Remove(m.file(name, other)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if strictness >= policy.Strictest {
		return nil
	}
	if err := os.Mkdir(m.Dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	fd, err := unix.Open(m.file(name, strictness), unix.O_CREAT|unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// SetTerminal marks the terminal that a program is given at its start.
func (m *Marks) SetTerminal(rdev uint64) error { return m.set(terminalMark(rdev), m.Strictness) }

// laxer reports whether something was made by a program under a laxer policy than one of
// such strictness; also where that cannot be found out.
func (m *Marks) laxer(name string, strictness int) bool {
	for lax := range strictness {
		if _, err := os.Lstat(m.file(name, lax)); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}

// foreign denies a caller what a program under a laxer policy has made; about says what it
// wants with it.
func (c *call) foreign(name, message string, about question) *outcome {
	strictness, laxer := c.strictness(), false
	if strictness == 0 {
		return nil
	}
	_ = asSupervisor(func() error { laxer = c.s.options.Marks.laxer(name, strictness); return nil })
	if !laxer {
		return nil
	}
	return c.decide(policy.Verdict{Decision: policy.Deny, Rule: "foreign", Category: policy.Socket, Message: message},
		func() *question { return &about })
}

// asSupervisor calls f on a thread that is the supervisor's own and not the agent's.
func asSupervisor(f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	return <-done
}

const (
	foreignSocket   = "this socket is of a program that goes by a laxer policy, e.g. of a person's shell"
	foreignTerminal = "this terminal is of a program that goes by a laxer policy, e.g. a person's shell"
	foreignPipe     = "this pipe or memory is not of a program of the same agent"
)

func socketMark(o *object) string { return "socket " + o.identity() }

func abstractMark(name string) string {
	sum := sha256.Sum256([]byte(name))
	return "abstract " + hex.EncodeToString(sum[:])
}

func terminalMark(rdev uint64) string { return "terminal " + strconv.FormatUint(rdev, 10) }

// markPath marks a socket that was just bound to a path, before its maker can listen.
func (c *call) markPath(s slot) error {
	if c.s.options.Marks == nil {
		return nil
	}
	o, err := s.pin(c)
	if err != nil {
		return err
	}
	defer o.close()
	return c.mark(socketMark(o))
}

// markAbstract marks one that was just bound to a name, which the kernel has chosen where
// it is empty.
func (c *call) markAbstract(fd int, name string) error {
	if c.s.options.Marks == nil {
		return nil
	}
	if name == "" {
		sa, err := unix.Getsockname(fd)
		if err != nil {
			return err
		}
		if u, ok := sa.(*unix.SockaddrUnix); ok {
			name = strings.TrimPrefix(u.Name, "@")
		}
	}
	return c.mark(abstractMark(name))
}

// isTerminal reports whether an object is the end of a terminal that programs use.
func isTerminal(o *object) bool {
	major := unix.Major(o.st.Rdev)
	return o.kind() == unix.S_IFCHR && major >= 136 && major <= 143
}

// notOwn denies the terminal of another program. The caller's own is always its.
func (c *call) notOwn(o *object) *outcome {
	if !isTerminal(o) || c.strictness() == 0 {
		return nil
	}
	if own, err := c.terminal(); err == nil {
		defer own.close()
		if own.st.Rdev == o.st.Rdev {
			return nil
		}
	}
	return c.foreign(terminalMark(o.st.Rdev), foreignTerminal,
		question{kind: wire.KindFile, op: policy.Write, target: o.path})
}

// markMaster marks the terminal of a master that was just opened for the caller.
func (c *call) markMaster(found *object, fd int) error {
	if c.s.options.Marks == nil || found.kind() != unix.S_IFCHR || found.st.Rdev != unix.Mkdev(5, 2) {
		return nil
	}
	n, err := unix.IoctlGetUint32(fd, unix.TIOCGPTN)
	if err != nil {
		return err
	}
	return c.mark(terminalMark(unix.Mkdev(136+n>>20, n&0xfffff)))
}

// holds reports whether a process that may do no more than the strict caller has something
// without a name open itself. fds is the folder of its descriptors. One that only points
// (O_PATH) is none: anybody who may look into a process can make it.
func (c *call) holds(pid int, fds, name string, o *object) bool {
	if !strings.HasSuffix(fds, "/fd") || !c.among(pid) {
		return false
	}
	raw, err := os.ReadFile(fds + "info/" + name)
	if err != nil {
		return false
	}
	var flags, ino uint64
	for line := range strings.Lines(string(raw)) {
		field, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		value = strings.TrimSpace(value)
		switch field {
		case "flags":
			flags, err = strconv.ParseUint(value, 8, 64)
		case "ino": // since Linux 5.14
			ino, err = strconv.ParseUint(value, 10, 64)
		}
		if err != nil {
			return false
		}
	}
	return ino == o.st.Ino && flags&unix.O_PATH == 0
}

// among reports whether a process may do no more than the strict caller.
func (c *call) among(pid int) bool {
	return c.s.supervises(pid) && (c.s.options.Marks.Strictness != policy.Lax || c.s.descent.ofAgent(pid))
}

// apart reports whether a process is none that the caller may look into.
func (c *call) apart(pid int) bool {
	return c.strictness() > policy.Lax && pid != c.process() && !c.among(pid)
}

// supervises reports whether a process is the supervisor's, by its parents: orphans are
// adopted by the supervisor.
func (s *Supervisor) supervises(pid int) bool {
	own := os.Getpid()
	for last := ^uint64(0); pid > 1; {
		if pid == own {
			return true
		}
		parent, started, err := parentage("/proc/" + strconv.Itoa(pid))
		if err != nil || started > last {
			return false
		}
		pid, last = parent, started
	}
	return false
}
