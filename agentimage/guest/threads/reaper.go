//go:build linux

package threads

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

// Reaper is the one thread of loop init that starts processes and waits for them:
// those it started, and the orphans that fall to PID 1. Nothing else in the
// process may wait. A second wait would take exits away from their owners, and
// stops away from a tracer; ptrace answers only the thread that attached; and a
// parent-death signal takes the thread that forked for the parent.
type Reaper struct {
	asks  chan func() // done on the thread
	ended chan struct{}
	kids  map[int]child // the thread's own
}

// child is a process that Start made and that has not been waited for.
type child struct {
	name string
	done chan<- syscall.WaitStatus
}

// NewReaper returns one whose calls wait for Run.
func NewReaper() *Reaper {
	return &Reaper{asks: make(chan func()), ended: make(chan struct{}), kids: make(map[int]child)}
}

// Run is the thread: it works until ctx is done, once.
func (r *Reaper) Run(ctx context.Context) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(r.ended)
	sig := make(chan os.Signal, 1)
	signal.Notify(sig, syscall.SIGCHLD)
	defer signal.Stop(sig)
	for {
		wait(syscall.WNOHANG, r.deliver)
		select {
		case <-sig:
		case ask := <-r.asks:
			ask()
		case <-ctx.Done():
			return
		}
	}
}

func (r *Reaper) deliver(pid int, ws syscall.WaitStatus) {
	if kid, ok := r.kids[pid]; ok {
		delete(r.kids, pid)
		kid.done <- ws
	}
}

// do runs f on the thread, if there still is one.
func (r *Reaper) do(f func()) {
	done := make(chan struct{})
	select {
	case r.asks <- func() { defer close(done); f() }:
		<-done
	case <-r.ended:
	}
}

// Start forks and executes; Name knows the process by name. The channel gets the
// wait status once. Where there is no process left to have, the error is a
// syscall.EAGAIN.
func (r *Reaper) Start(name, exe string, argv []string, attr *syscall.ProcAttr) (int, <-chan syscall.WaitStatus, error) {
	done := make(chan syscall.WaitStatus, 1)
	pid, err := 0, os.ErrClosed
	r.do(func() {
		if pid, err = syscall.ForkExec(exe, argv, attr); err == nil {
			r.kids[pid] = child{name: name, done: done}
		}
	})
	if err != nil {
		return 0, nil, fmt.Errorf("start %s: %w", argv, err)
	}
	return pid, done, nil
}

// Name says which process that Start made has this pid. Until it is waited for
// nobody else can have it.
func (r *Reaper) Name(pid int) (name string, known bool) {
	r.do(func() {
		var kid child
		kid, known = r.kids[pid]
		name = kid.name
	})
	return name, known
}

// WaitAll is a Reaper's work for a process that does nothing else: it waits on
// the calling thread, which must be the one that started the children, says how
// each ended, and returns when none is left.
func WaitAll(ended func(pid int, ws syscall.WaitStatus)) { wait(0, ended) }

// wait takes ends until there is none to take. It is the only wait of the guest.
func wait(options int, ended func(pid int, ws syscall.WaitStatus)) {
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, options, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil || pid <= 0: // ECHILD: nothing is left
			return
		case ws.Exited() || ws.Signaled(): // a stop is not an end
			ended(pid, ws)
		}
	}
}
