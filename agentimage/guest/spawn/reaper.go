//go:build linux

package spawn

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"loop/backend/wire"
)

// Reaper collects every child of this process: those it started, and the
// orphans that fall to PID 1. Nothing else in the process may wait for children.
type Reaper struct {
	mu   sync.Mutex // held from fork to registration, so no exit is missed
	kids map[int]chan syscall.WaitStatus
}

var errNoProcess = wire.NewError(wire.CodeLimit, "the container has reached its limit of processes")

// NewReaper returns an idle one; Run does the work.
func NewReaper() *Reaper { return &Reaper{kids: make(map[int]chan syscall.WaitStatus)} }

// Run reaps until ctx is done.
func (r *Reaper) Run(ctx context.Context) {
	sig := make(chan os.Signal, 1)
	signal.Notify(sig, syscall.SIGCHLD)
	defer signal.Stop(sig)
	for {
		r.sweep()
		select {
		case <-sig:
		case <-ctx.Done():
			return
		}
	}
}

func (r *Reaper) sweep() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
		if done, ok := r.kids[pid]; ok {
			delete(r.kids, pid)
			done <- ws
		}
	}
}

// Start forks and executes. The channel gets the wait status once.
func (r *Reaper) Start(exe string, argv []string, attr *syscall.ProcAttr) (int, <-chan syscall.WaitStatus, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	pid, err := syscall.ForkExec(exe, argv, attr)
	if err == syscall.EAGAIN {
		return 0, nil, errNoProcess
	}
	if err != nil {
		return 0, nil, fmt.Errorf("start %s: %w", argv, err)
	}
	done := make(chan syscall.WaitStatus, 1)
	r.kids[pid] = done
	return pid, done, nil
}

// Known reports whether pid was started by Start and still runs.
func (r *Reaper) Known(pid int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.kids[pid]
	return ok
}
