//go:build linux

package supervise

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/threads"
	"loop/backend/wire"
)

// Supervisor answers the calls of one filter. Its methods may be called from any
// goroutine.
type Supervisor struct {
	listener listener
	agent    Agent
	options  Options
	log      *slog.Logger
	own      *os.File // the open folder /proc/self/fd; a path to it would cost each call a third more
	procDev  uint64
	view     atomic.Pointer[view]

	descent descent      // of the processes
	names   sync.RWMutex // see lock
	crews   [sides]*crew // threads that may wait
	growing sync.Mutex   // held by whoever adds a thread to a crew
	desk    *desk        // what is asked
	lines   lines        // what the callers were told
	tally   *tally       // what the policy has decided
	wg      sync.WaitGroup
	stop    chan struct{}
	done    chan struct{}
	once    sync.Once
	ended   *os.File // closed by Close, which wakes the one that watches the listener
}

// Start supervises until every program under the filter has ended, or until Close. It
// makes the process's umask 0 and takes over its handling of SIGUSR2; a process runs
// several supervisors only for the same agent.
func Start(o Options) (*Supervisor, error) {
	if os.Getuid() != wire.SupervisorID || o.Agent.UID == wire.SupervisorID {
		return nil, fmt.Errorf("supervise as uid %d an agent with uid %d: the agent could signal its supervisor", os.Getuid(), o.Agent.UID)
	}
	if err := armWake(); err != nil {
		return nil, err
	}
	own, err := os.OpenFile(descriptors, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, fmt.Errorf("open own descriptors: %w", err)
	}
	var proc unix.Stat_t
	if err := unix.Fstat(int(own.Fd()), &proc); err != nil {
		_ = own.Close()
		return nil, fmt.Errorf("look at own descriptors: %w", err)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.room == nil {
		o.room = func() bool { return threads.Room(roomFor) }
	}
	if o.Receivers <= 0 {
		o.Receivers = DefaultReceivers
	}
	unix.Umask(0)
	s := &Supervisor{
		listener: listener(o.Listener), agent: o.Agent, options: o, log: o.Log.With("spawn", o.SpawnID),
		own: own, procDev: proc.Dev, stop: make(chan struct{}), done: make(chan struct{}),
	}
	s.SetJudge(o.Judge, o.Version)
	for i := range s.crews {
		s.crews[i] = newCrew(s, side(i))
	}
	s.desk = newDesk(s)
	s.tally = newTally(s)
	quit, ended, err := os.Pipe()
	if err != nil {
		_ = own.Close()
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	s.ended = ended
	if err := s.receivers(o.Receivers); err != nil {
		_ = s.Close()
		_ = quit.Close()
		return nil, err
	}
	s.wg.Add(1)
	go func() { defer s.wg.Done(); s.watch(quit) }()
	return s, nil
}

// SetJudge replaces the policy. A call that was already judged is performed by the one
// it was judged by; one that waits for a person is judged again.
func (s *Supervisor) SetJudge(j Judge, version int64) { s.view.Store(newView(j, version)) }

// Done is closed when the last program under the filter has ended, or after Close.
func (s *Supervisor) Done() <-chan struct{} { return s.done }

// Close ends the supervision: calls that wait, and all that come, fail with ENOSYS. It
// returns when no goroutine is left.
func (s *Supervisor) Close() error {
	s.end()
	s.wg.Wait()
	_ = s.own.Close() // a second Close finds it closed
	return nil
}

func (s *Supervisor) over() bool {
	select {
	case <-s.stop:
		return true
	default:
		return false
	}
}

// end begins the end; closing the listener answers whoever waits for it.
func (s *Supervisor) end() {
	s.once.Do(func() {
		for _, c := range s.crews {
			c.close() // first: then no job begins that would not be interrupted
		}
		s.desk.close()
		close(s.stop)
		_ = s.ended.Close()
		close(s.done)
	})
}

// watch ends the supervision when no program is left under the filter.
func (s *Supervisor) watch(quit *os.File) {
	defer func() { _ = quit.Close() }()
	fds := []unix.PollFd{{Fd: int32(s.listener)}, {Fd: int32(quit.Fd())}}
	for {
		_, err := unix.Poll(fds, -1)
		if err != nil && err != unix.EINTR {
			s.log.Error("watch the listener", "err", err)
		}
		// POLLERR is not the end: the kernel says so when a signal comes while it waits for
		// the filter's lock.
		if fds[0].Revents&^unix.POLLERR != 0 || fds[1].Revents != 0 {
			s.end()
			return
		}
	}
}

// receivers starts n threads that take calls, and one goroutine that ends them.
func (s *Supervisor) receivers(n int) error {
	began := make(chan error, n)
	receiving := make(chan *thread, n)
	var running sync.WaitGroup
	for range n {
		running.Add(1)
		s.wg.Add(1)
		go func() {
			defer s.wg.Done()
			defer running.Done()
			th, err := become(s.agent, 0) // stays locked: the thread ends with the goroutine
			if err == nil {
				receiving <- th
			}
			began <- err
			if err == nil {
				s.receive(th)
			}
		}()
	}
	var err error
	for range n {
		err = errors.Join(err, <-began)
	}
	close(receiving)
	s.listener.syncWakeUp()
	s.wg.Add(1)
	go func() {
		defer s.wg.Done()
		<-s.stop
		gone := make(chan struct{})
		go func() { running.Wait(); close(gone) }()
		interruptUntil(gone, receiving)
		_ = unix.Close(int(s.listener))
	}()
	return err
}

// receive takes calls until the end.
func (s *Supervisor) receive(th *thread) {
	var n notification
	for {
		e := s.listener.receive(&n)
		select {
		case <-s.stop:
			return
		default:
		}
		switch e {
		case 0:
			s.handle(th, &n)
		case unix.EINTR, unix.ENOENT: // ENOENT: gone before it was read, or no program is left
		default:
			s.log.Error("receive a call", "err", e)
			s.end()
			return
		}
	}
}

// handle decodes one call and makes the first attempt at it.
func (s *Supervisor) handle(th *thread, n *notification) {
	c := &call{s: s, th: th, id: n.ID, tid: int(n.Tid), nr: int(n.Nr), args: n.Args, mem: memory{int(n.Tid)}}
	d, ok := table[c.nr]
	if !ok || n.Tid == 0 {
		s.finish(c, failed(unix.ENOSYS))
		return
	}
	c.name, c.locked = d.name, d.locked
	th.with(capPtrace)
	perform, err := d.decode(c)
	th.with(0)
	if err != nil {
		s.finish(c, failed(err))
		return
	}
	c.perform = perform
	s.finish(c, c.attempt())
}

// attempt performs a call, and starts over while what was judged changes meanwhile.
func (c *call) attempt() outcome {
	c.view = c.s.viewFor(c)
	c.view.once.Do(c.view.follow)
	for range maxStarts {
		c.refused, c.ruling = subject{}, nil
		unlock := c.s.lock(c.locked)
		out := c.perform(c)
		unlock()
		if out.err != errAgain {
			return out
		}
	}
	return failed(unix.EAGAIN)
}

// lock says which calls must not change names at the same time. A name that was judged
// to be a file's must not have become a folder's when it is moved; only the agent's own
// programs could do that, and all of theirs come through here.
type lock int

const (
	free   lock = iota // changes no name
	shared             // makes or removes one
	alone              // moves what was judged
)

func (s *Supervisor) lock(l lock) (unlock func()) {
	switch l {
	case shared:
		s.names.RLock()
		return s.names.RUnlock
	case alone:
		s.names.Lock()
		return s.names.Unlock
	}
	return func() {}
}

// finish does what an attempt has led to.
func (s *Supervisor) finish(c *call, out outcome) {
	if out.err == errGone {
		return
	}
	if out.how < asks {
		s.tally.count(c) // while the caller stands still
	}
	switch out.how {
	case returns:
		s.send(c, out)
	case gives:
		s.give(c, out)
	case continues:
		s.reply(c, response{ID: c.id, Flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE})
	case executes:
		s.execute(c, out.exec)
	case asks:
		s.desk.hold(c, out.ask)
	case blocks:
		s.crews[out.side].do(job{c: c, run: out.then})
	case waits:
		out.wait(func(o outcome) { s.finish(c, o) })
	}
}

func (s *Supervisor) send(c *call, out outcome) {
	r := response{ID: c.id, Val: out.val}
	if out.err != nil {
		r.Val, r.Error = 0, -int32(errno(out.err))
	}
	s.reply(c, r)
}

// give answers with a descriptor. One that can write is closed here before the caller goes
// on: a program that it writes and then executes would be busy (ETXTBSY) for as long as
// the copy is open.
func (s *Supervisor) give(c *call, out outcome) {
	flags := uint32(unix.SECCOMP_ADDFD_FLAG_SEND)
	if out.alone {
		flags = 0
	}
	n, e := s.listener.give(c.id, out.fd, out.val != 0, flags)
	_ = unix.Close(out.fd)
	switch {
	case e == unix.ENOENT:
	case e != 0:
		s.reply(c, response{ID: c.id, Error: -int32(e)})
	case out.alone:
		s.reply(c, response{ID: c.id, Val: int64(n)})
	}
}

// given gives a descriptor before the call's end, so that the rest of the call can depend
// on it. then learns whether the caller has it.
func (c *call) given(out outcome, then func(error) error) outcome {
	n, e := c.s.listener.give(c.id, out.fd, out.val != 0, 0)
	var err error
	switch e {
	case 0:
	case unix.ENOENT:
		err = errGone
	default:
		err = e
	}
	err = then(err)
	_ = unix.Close(out.fd)
	return result(int64(n), err)
}

// reply sends an answer; that nobody waits for it any more is no fault.
func (s *Supervisor) reply(c *call, r response) {
	if e := s.listener.send(r); e != 0 && e != unix.ENOENT && e != unix.EINPROGRESS {
		s.log.Error("answer a call", "call", c.name, "err", e)
	}
}
