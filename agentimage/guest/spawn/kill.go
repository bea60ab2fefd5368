//go:build linux

package spawn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/kernel"
	"loop/agentimage/guest/spool"
	"loop/backend/wire"
)

// Output is one stream that a spawn writes.
func (tab *Table) Output(id, stream string) (*spool.Log, error) {
	p, err := tab.ready(id)
	if err != nil {
		return nil, err
	}
	for _, o := range p.outlets {
		if o.name == stream {
			return o.Log, nil
		}
	}
	if p.master != nil && stream == wire.StreamErr {
		return nil, wire.NewError(wire.CodeInvalid, "a terminal has no stderr of its own")
	}
	return nil, wire.NewError(wire.CodeInvalid, "the program writes no stream "+stream)
}

// Resize sets the size of a terminal, in cells.
func (tab *Table) Resize(id string, cols, rows uint16) error {
	p, err := tab.ready(id)
	if err != nil {
		return err
	}
	if p.master == nil {
		return wire.NewError(wire.CodeConflict, "spawn "+id+" has no terminal")
	}
	return p.onTerminal(func(fd int) error { return setSize(fd, cols, rows) })
}

// keys are the signals that the keys of a terminal send. They reach the programs in
// front, also when the queue of input is full.
var keys = []unix.Signal{unix.SIGINT, unix.SIGQUIT, unix.SIGTSTP}

// Signal sends one signal to the program itself, or what a terminal's key would
// send to the programs in front.
func (tab *Table) Signal(id, name string) error {
	sig := unix.SignalNum(name)
	if sig == 0 {
		return wire.NewError(wire.CodeInvalid, fmt.Sprintf("no signal %q", name))
	}
	p, err := tab.ready(id)
	if err != nil {
		return err
	}
	if p.master != nil && slices.Contains(keys, sig) {
		if slices.Contains(ends, sig) {
			p.deny(whySignal)
		}
		return p.onTerminal(func(fd int) error { return unix.IoctlSetInt(fd, unix.TIOCSIG, int(sig)) })
	}
	if q, ok := readProcess(p.pid); ok && q.ppid == p.keeper && !isClosed(p.exited) {
		if slices.Contains(ends, sig) {
			p.deny(whySignal)
		}
		return signalProcess(q, sig)
	}
	return p.hasEnded()
}

// ends are the signals that programs end by, or stop their work. A call that is held is
// interrupted by SIGKILL alone, so it is denied before one of them is sent.
var ends = []unix.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGKILL, unix.SIGTERM}

// What a program reads of a call that is denied because of what happens to the program.
const (
	whySignal = "the program was told to stop"
	whyEnding = "the program is being ended"
)

// deny answers whatever the spawn waits for.
func (p *proc) deny(why string) {
	if k := p.keep.Load(); k != nil && p.supervised {
		k.deny(why)
	}
}

// onTerminal makes a call on the master of a terminal.
func (p *proc) onTerminal(f func(fd int) error) error {
	if isClosed(p.exited) {
		return p.hasEnded()
	}
	err := kernel.Control(p.master, f)
	if errors.Is(err, os.ErrClosed) {
		return p.hasEnded()
	}
	return err
}

func (p *proc) hasEnded() error { return wire.NewError(wire.CodeEnded, "spawn "+p.id+" has ended") }

// Kill ends the whole tree of a spawn, politely for Grace at first, and returns once
// its keeper, which outlives everything below it, has been reaped.
func (tab *Table) Kill(ctx context.Context, id string) error {
	p, err := tab.find(id)
	if err != nil {
		return err
	}
	return tab.kill(ctx, p, tab.cfg.Grace)
}

// kill asks the tree to end for grace, then hunts it. The hunt sweeps again and
// again, because a process may fork between being listed and being signalled.
func (tab *Table) kill(ctx context.Context, p *proc, grace time.Duration) error {
	p.ending.Store(true)
	p.deny(whyEnding) // also what keeps it from starting
	if err := await(ctx, p.ready); err != nil {
		return err
	}
	p.killMu.Lock()
	defer p.killMu.Unlock()
	defer func() {
		if isClosed(p.gone) {
			<-p.exited // the keeper's last words may still be read: whoever asks next must find them
		}
	}()
	for _, s := range p.farewell(grace) {
		if err := sweep(p.keeper, p.gone, s.sig, unix.SIGCONT); err != nil { // a stopped process could not hear
			return err
		}
		if p.goes(ctx, s.wait) {
			return nil
		}
	}
	return tab.hunt(p)
}

// graceParts is how many waits a grace is made of: a machine that stood still
// takes one of them from the programs, and not all.
const graceParts = 20

// goes waits for the tree to end, for d at the most, and reports whether it has.
func (p *proc) goes(ctx context.Context, d time.Duration) bool {
	for range graceParts {
		select {
		case <-p.gone:
			return true
		case <-time.After(d / graceParts):
		case <-ctx.Done(): // whoever asked has left; the tree must go all the same
			return false
		}
	}
	return false
}

// step is a signal and how long it may take to be heeded.
type step struct {
	sig  unix.Signal
	wait time.Duration
}

// farewell lists the signals that a tree gets before it is killed. A terminal hangs up
// first, as any that is closed does: interactive shells ignore TERM, save their
// history on HUP and pass it on. A program that ignores HUP wants to outlive its
// terminal; here it gets TERM like others.
func (p *proc) farewell(grace time.Duration) []step {
	switch {
	case grace <= 0:
		return nil
	case p.req.Stdio == wire.StdioPTY:
		return []step{{unix.SIGHUP, grace / 3}, {unix.SIGTERM, grace - grace/3}}
	}
	return []step{{unix.SIGTERM, grace}}
}

func (tab *Table) hunt(p *proc) error {
	deadline := time.Now().Add(killDeadline)
	pause := time.Millisecond
	for sweeps := 1; ; sweeps++ {
		if err := sweep(p.keeper, p.gone, unix.SIGKILL); err != nil {
			return err
		}
		select {
		case <-p.gone:
			return nil
		case <-time.After(pause):
		}
		if sweeps >= killSweeps && time.Now().After(deadline) {
			return wire.NewError(wire.CodeInternal, "processes of spawn "+p.id+" are still there")
		}
		pause = min(2*pause, 50*time.Millisecond)
	}
}

// sweep signals everything below the keeper once.
func sweep(keeper int, gone <-chan struct{}, sigs ...unix.Signal) error {
	if isClosed(gone) {
		return nil // and the keeper's pid may be somebody else's by now
	}
	below, err := descendants(keeper)
	if err != nil {
		return err
	}
	var errs []error
	hit := map[int]bool{} // groups: a fork bomb leaves no time for one process after another
	for _, q := range below {
		if hit[q.group] {
			continue
		}
		whole, err := signalGroup(q, sigs)
		errs = append(errs, err)
		if whole {
			hit[q.group] = true
			continue
		}
		for _, sig := range sigs {
			if err := signalProcess(q, sig); err != nil {
				errs = append(errs, fmt.Errorf("signal process %d: %w", q.pid, err))
			}
		}
	}
	return errors.Join(errs...)
}

// killStrays ends the processes that fell to this one when a keeper died: every child
// that is not a keeper. A helper that somebody left behind through docker exec is among
// them.
func (tab *Table) killStrays() {
	deadline := time.Now().Add(killDeadline)
	for time.Now().Before(deadline) {
		all, err := processes()
		if err != nil {
			tab.cfg.Log.Error("kill strays", "err", err)
			return
		}
		found := false
		for _, q := range all {
			if _, known := tab.cfg.Reaper.Name(q.pid); known || q.ppid != os.Getpid() {
				continue
			}
			found = true
			below, err := descendants(q.pid) // no groups: docker exec may share one with what is no stray
			for _, c := range append(below, q) {
				err = errors.Join(err, signalProcess(c, unix.SIGKILL))
			}
			if err != nil {
				tab.cfg.Log.Error("kill stray", "pid", q.pid, "err", err)
			}
		}
		if !found {
			return
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-tab.ctx.Done():
			return
		}
	}
}

// await waits for c to be closed, or ctx to end.
func await(ctx context.Context, c <-chan struct{}) error {
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
