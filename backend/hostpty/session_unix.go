//go:build linux || darwin

package hostpty

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"loop/backend/core"
)

// session is a program that leads one, and what came out of it.
type session struct {
	leader int
	marker string
	dev    atomic.Uint64 // the terminal's device number, while it can be no other's
	kill   func(process) // process.kill; tests replace it

	// released is set before the leader's number is given free: from then on the
	// number may be another process's.
	released atomic.Bool
}

// left lists the processes of the session that still run, its leader among them.
func (s *session) left() []process { return s.look(nil) }

// look is left, and does each to a process of the session in the moment it is found.
func (s *session) look(each func(process)) []process {
	dead := map[int]string{}
	for looks := emptyLooks; ; looks-- {
		sid := s.leader
		if s.released.Load() {
			sid = 0
		}
		left, sure := find(sid, s.marker, s.dev.Load(), each, dead)
		if len(left) > 0 || sure || looks <= 1 {
			return left
		}
		<-time.After(unsurePause)
	}
}

// Others names what Close would end besides the program that was started: its
// jobs in the background, stopped ones too, and what it left behind. Helpers that
// come back by themselves when they are needed are not among them.
func (s *session) Others() []string {
	var names []string
	for _, q := range s.left() {
		if q.pid != s.leader && !helper(q.name) {
			names = append(names, q.name)
		}
	}
	return names
}

// end asks everything of the session to end with a signal, and after hangupGrace kills it.
func (s *session) end(farewell unix.Signal) error {
	left := s.left()
	for _, q := range left {
		// A stopped program takes its hang-up only when it goes on.
		q.signal(farewell)
		q.signal(unix.SIGCONT)
	}
	left = s.until(hangupGrace, 1, nil)
	if len(left) > 0 {
		left = s.until(killGrace, killLooks, s.kill)
	}
	if len(left) == 0 {
		return nil
	}
	names := make([]string, 0, len(left))
	for _, q := range left {
		names = append(names, fmt.Sprintf("%s (%d)", q.name, q.pid))
	}
	return core.Fail(core.CodeConflict, nil, "Some programs could not be ended: "+strings.Join(names, ", ")+".",
		"They belong to another user or wait for a disk; end them by hand.")
}

// until looks for processes that are left and does each to them. It looks again until
// nothing is left, or limit has passed and it has looked that often.
func (s *session) until(limit time.Duration, looks int, each func(process)) []process {
	begun := time.Now()
	tick := time.NewTicker(lookEvery) // no pause behind a look that took as long: what hops away is chased
	defer tick.Stop()
	for {
		left := s.look(each)
		// One that hops may escape a look behind a parent that is dead and not collected yet.
		for again := 0; each != nil && len(left) == 0 && again < hopLooks; again++ {
			left = s.look(each)
		}
		if looks--; len(left) == 0 || looks < 0 && time.Since(begun) > limit {
			return left
		}
		if each != nil {
			for _, q := range left {
				each(q)
			}
		}
		<-tick.C
	}
}

// withDescendants are those of all that are in, and what came out of them.
func withDescendants(all []process, in map[int]bool) []process {
	for grew := true; grew; {
		grew = false
		for _, p := range all {
			if !in[p.pid] && in[p.ppid] {
				in[p.pid], grew = true, true
			}
		}
	}
	return slices.DeleteFunc(all, func(p process) bool { return !in[p.pid] })
}
