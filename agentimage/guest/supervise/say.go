//go:build linux

package supervise

import (
	"cmp"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/denial"
	"loop/backend/policy"
	"loop/backend/wire"
)

// lines remembers what was said, so that a program that tries again and again is told
// once a second.
type lines struct {
	mu   sync.Mutex
	said map[string]time.Time // by process and rule
}

// maxSaid bounds that memory; it is forgotten as a whole.
const maxSaid = 1024

func (l *lines) may(key string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at, ok := l.said[key]; ok && now.Sub(at) < time.Second {
		return false
	}
	if l.said == nil || len(l.said) >= maxSaid {
		l.said = make(map[string]time.Time)
	}
	l.said[key] = now
	return true
}

// deny tells why a call is denied: the agent in the record of its spawn, and the caller on
// its standard error. There a policy's default is not named: a program under one that
// allows little would be told all the time. Nothing is said where that could block.
func (s *Supervisor) deny(c *call, d denial.Denial, rule string) {
	now := time.Now()
	d.At, d.Call, d.PID = now.UnixMilli(), c.name, c.process()
	if s.options.Denied != nil {
		s.options.Denied(d)
	}
	if d.By == denial.ByDefault || !s.lines.may(strconv.Itoa(d.PID)+" "+rule, now) {
		return
	}
	fd, err := c.fetch(2)
	if err != nil {
		return
	}
	defer func() { _ = unix.Close(fd) }()
	writeLine(fd, "loop: "+d.Text()+"\n")
}

// deny says what a policy denies. A question is made up only where nothing else names
// what the call is about.
func (c *call) deny(v policy.Verdict, about func() *question) {
	by := cmp.Or(v.Rule, denial.ByDefault)
	if r := c.refused; r.path != "" && r.rule == v.Rule {
		c.s.deny(c, denial.Denial{Operation: string(r.op), Target: r.path, By: by, Why: v.Told()}, v.Rule)
		return
	}
	q := about()
	q.unpin()
	c.s.deny(c, q.denial(by, v.Told()), v.Rule)
}

// denial describes a call that is denied.
func (q *question) denial(by, why string) denial.Denial {
	d := denial.Denial{Operation: string(q.op), Target: q.target, By: by, Why: why}
	switch q.kind {
	case wire.KindExec:
		d.Operation = denial.Run
	case wire.KindConnect:
		d.Operation = denial.Connect
	}
	return d
}

// writeLine writes without blocking, or not at all. A line is shorter than PIPE_BUF, which
// a pipe that poll(2) calls writable takes at once.
func writeLine(fd int, line string) {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFIFO:
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
		if n, err := unix.Poll(fds, 0); n == 1 && err == nil && fds[0].Revents == unix.POLLOUT {
			// Another writer may fill it now; an older kernel cannot be told not to wait.
			if _, err := unix.Pwritev2(fd, [][]byte{[]byte(line)}, -1, unix.RWF_NOWAIT); err == unix.EOPNOTSUPP {
				_, _ = unix.Write(fd, []byte(line))
			}
		}
	case unix.S_IFSOCK:
		_ = unix.Sendto(fd, []byte(line), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, nil)
	case unix.S_IFREG:
		_, _ = unix.Write(fd, []byte(line))
	case unix.S_IFCHR: // a description of our own, so that the caller's keeps its flags
		if unix.Major(st.Rdev) < 136 || unix.Major(st.Rdev) > 143 {
			return
		}
		own, err := unix.Open(descriptorPath(fd), unix.O_WRONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
		if err == nil {
			_, _ = unix.Write(own, []byte(strings.ReplaceAll(line, "\n", "\r\n")))
			_ = unix.Close(own)
		}
	}
}
