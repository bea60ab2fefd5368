//go:build linux

package supervise

import (
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/sys/unix"

	"loop/backend/policy"
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

// maxLine is PIPE_BUF: a pipe that poll(2) calls writable takes so much at once.
const maxLine = 4096

// say tells the caller on its standard error why a call is denied. A policy's default is
// not named: a program under one that allows little would be told all the time. Nothing
// is said where that could block.
func (s *Supervisor) say(c *call, v policy.Verdict, why string) {
	if v.Rule == "" && why == "" {
		return
	}
	pid := c.process()
	if !s.lines.may(strconv.Itoa(pid)+" "+v.Rule, time.Now()) {
		return
	}
	fd, err := c.fetch(2)
	if err != nil {
		return
	}
	defer func() { _ = unix.Close(fd) }()
	text := "loop: denied: " + c.name
	for _, part := range []string{v.Message, why} {
		if part != "" {
			text += ": " + printable(part)
		}
	}
	if len(text) > maxLine-1 {
		text = strings.ToValidUTF8(text[:maxLine-1], "")
	}
	writeLine(fd, text+"\n")
}

// writeLine writes without blocking, or not at all.
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

// printable keeps a text from acting on a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
}
