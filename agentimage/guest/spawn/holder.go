//go:build linux

package spawn

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/threads"
	"loop/backend/wire"
)

// Bounds of one search for a socket's holders. The agent decides how many
// descriptors there are: of one process more than a program has use for are not
// looked at, and of all together as many as take some tenths of a second.
const (
	maxProcessFDs = 1 << 13
	maxFDs        = 1 << 18
	maxClimb      = 1 << 15 // more generations than a pids limit lets live
	fdBatch       = 256
)

// Why a socket has no spawn.
var (
	errNoHolder = wire.NewError(wire.CodeNotFound, "no process of a program that Loop started here holds the connection")
	errShared   = wire.NewError(wire.CodeConflict, "several programs hold the connection, so that it is not known which of them asks")
	errTooMany  = wire.NewError(wire.CodeLimit, "too many files are open in this container to see who asks")
)

// holderMu lets one goroutine at a time search, as tableMu does for its walk.
var holderMu sync.Mutex

// Holder names the spawn to which every process belongs that has the socket with
// this inode open. It is an error, always a *wire.Error where the agent is the
// cause, when there is none, when there are several, and when one of the processes
// is of no spawn.
//
// A process belongs to the spawn whose keeper it descends from. It cannot leave
// that tree: a keeper takes in every orphan below it, sessions of their own or not,
// and no process that runs as the agent can end a keeper. Nothing that a process
// says of itself counts, neither its environment nor its session.
func (tab *Table) Holder(inode uint64) (string, error) {
	holderMu.Lock()
	defer holderMu.Unlock()
	s := search{reaper: tab.cfg.Reaper, link: "socket:[" + strconv.FormatUint(inode, 10) + "]"}
	all, err := pids()
	if err != nil {
		return "", err
	}
	for _, pid := range all {
		if pid == os.Getpid() {
			continue
		}
		if err := s.look(pid); err != nil {
			return "", err
		}
	}
	if s.spawn == "" {
		return "", errNoHolder
	}
	return s.spawn, nil
}

// search is one search for the holders of a socket.
type search struct {
	reaper *threads.Reaper
	link   string // what /proc shows of the socket
	seen   int    // descriptors
	spawn  string // of the holders so far
}

// look adds a process if it holds the socket.
func (s *search) look(pid int) error {
	p, err := pin(pid)
	if err != nil {
		return nil // gone: then it does not ask
	}
	defer func() { _ = p.Close() }()
	holds, err := s.holds(p)
	if err != nil || !holds {
		return err
	}
	spawn, err := s.owner(pid, p)
	if errors.Is(err, errGone) {
		return nil
	}
	if err == nil && s.spawn != "" && s.spawn != spawn {
		err = errShared
	}
	s.spawn = spawn
	return err
}

// owner names the spawn of a process. A keeper is of its own: it holds a copy of a socket
// while it connects it for one of its programs.
func (s *search) owner(pid int, p *os.Root) (string, error) {
	if name, keeper := s.reaper.Name(pid); keeper {
		if parent, err := parentOf(p); err == nil && parent == os.Getpid() { // lives, so the pid is still its own
			return name, nil
		}
	}
	return s.above(p)
}

// holds reports whether the process has the socket open.
func (s *search) holds(p *os.Root) (bool, error) {
	dir, err := p.Open("fd")
	if err != nil {
		return false, nil // gone
	}
	defer func() { _ = dir.Close() }()
	buf := make([]byte, len(s.link)+1) // a longer one is another
	for n := 0; n < maxProcessFDs; n += fdBatch {
		names, err := dir.Readdirnames(fdBatch)
		for _, name := range names {
			if s.seen++; s.seen > maxFDs {
				return false, errTooMany
			}
			if k, err := unix.Readlinkat(int(dir.Fd()), name, buf); err == nil && string(buf[:k]) == s.link {
				return true, nil
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ESRCH) {
				return false, fmt.Errorf("list descriptors: %w", err)
			}
			return false, nil
		}
	}
	return false, nil
}

// errGone is a process that ended while it was looked at.
var errGone = errors.New("the process has ended")

// above climbs from a process to the keeper it descends from.
//
// Every step is read twice: a process that has the same parent before and after
// the look at that parent had it all along, since a parent that is lost is never
// found again. So no step leads to a stranger who got a dead parent's pid.
// It closes p.
func (s *search) above(p *os.Root) (spawn string, err error) {
	defer func() { _ = p.Close() }()
	for range maxClimb {
		parent, err := parentOf(p)
		if err != nil {
			return "", errGone
		}
		if parent <= 0 || parent == os.Getpid() {
			return "", errNoHolder // started through docker exec, or its keeper is dead
		}
		name, keeper := s.reaper.Name(parent)
		next, perr := pin(parent)
		still, err := parentOf(p)
		if perr != nil {
			continue // its parent has just ended
		}
		if err != nil || still != parent {
			_ = next.Close()
			continue // as above, or it has ended itself
		}
		_ = p.Close()
		p = next
		if keeper {
			return name, nil
		}
	}
	return "", errTooMany
}

// pin opens a process's folder in /proc, which never becomes another process's.
func pin(pid int) (*os.Root, error) { return os.OpenRoot("/proc/" + strconv.Itoa(pid)) }

// parentOf is the pid of the process that would be told of p's end.
func parentOf(p *os.Root) (int, error) {
	line, err := p.ReadFile("stat")
	if err != nil {
		return 0, err
	}
	q, ok := parseStat(0, line)
	if !ok {
		return 0, errors.New("no line of a process")
	}
	return q.ppid, nil
}
