//go:build linux

package spawn

import (
	"cmp"
	"context"
	"errors"
	"os"
	"sync/atomic"
	"time"

	"loop/backend/wire"
)

// feed is our end of something that a program reads: its terminal or a pipe.
type feed struct {
	writing chan struct{} // holds one while something writes
	file    *os.File
	closed  atomic.Bool
	taken   atomic.Int64 // bytes
	first   atomic.Int32 // what came first: input or late; 0 while neither has
}

const (
	input int32 = iota + 1
	late
)

// write passes bytes on. It is for the one that holds writing.
func (f *feed) write(data []byte) (int, error) {
	if len(data) > 0 && !f.first.CompareAndSwap(0, input) && f.first.Load() == late {
		return 0, os.ErrClosed
	}
	n, err := f.file.Write(data)
	f.taken.Add(int64(n))
	return n, err
}

func newFeed(f *os.File) *feed { return &feed{writing: make(chan struct{}, 1), file: f} }

func (f *feed) close() error {
	if f.closed.Swap(true) {
		return nil
	}
	return f.file.Close()
}

// closeFeeds closes every pipe; a terminal's end is its reader's.
func (p *proc) closeFeeds() {
	for _, f := range p.feeds {
		if f.file != p.master {
			_ = f.close()
		}
	}
}

// awaitInput ends and forgets a program that gets no input in time: whoever was to give it
// is not there any more.
func (p *proc) awaitInput(f *feed, within time.Duration) {
	over := time.NewTimer(within)
	defer over.Stop()
	select {
	case <-over.C:
	case <-p.exited:
	case <-p.tab.ctx.Done():
		return
	}
	if !f.first.CompareAndSwap(0, late) {
		return
	}
	p.tab.cfg.Log.Info("nothing came for a program that waits for its input", "id", p.id)
	err := p.tab.kill(p.tab.ctx, p, p.tab.cfg.Grace)
	if err == nil {
		err = p.tab.Forget(p.tab.ctx, p.id)
	}
	if err != nil {
		p.tab.cfg.Log.Warn("end a program that waits for its input", "id", p.id, "err", err)
	}
}

// Input writes to a program's terminal or an open pipe.
type Input struct {
	p *proc
	f *feed
}

// Input is a way to the program's terminal or open stdin (wire.StreamIn), or to
// one of the pipes that it reads.
func (tab *Table) Input(id, stream string) (*Input, error) {
	p, err := tab.ready(id)
	if err != nil {
		return nil, err
	}
	f := p.feeds[stream]
	switch {
	case stream != wire.StreamIn && f == nil:
		return nil, wire.NewError(wire.CodeInvalid, "the program reads no stream "+stream)
	case f == nil || f.closed.Load() || stream == wire.StreamIn && p.master == nil && !p.req.OpenStdin:
		return nil, wire.NewError(wire.CodeConflict, "spawn "+id+" has no open "+cmp.Or(stream, "stdin"))
	}
	return &Input{p, f}, nil
}

// Write waits for as long as the program does not read, or until ctx ends: then
// it says how much was written. Several writes come one after another, whole.
func (in *Input) Write(ctx context.Context, data []byte) (int, error) {
	select {
	case in.f.writing <- struct{}{}:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	defer func() { <-in.f.writing }()
	in.p.outlets[0].Hurry()
	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = in.f.file.SetWriteDeadline(time.Now()) // the write below returns
		close(interrupted)
	})
	n, err := in.f.write(data)
	if !stop() {
		<-interrupted
		_ = in.f.file.SetWriteDeadline(time.Time{})
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = ctx.Err()
		}
	}
	return n, err
}

// Done is closed when the program has ended and nothing takes its input.
func (in *Input) Done() <-chan struct{} { return in.p.done }

// Close closes a pipe; a terminal stays open.
func (in *Input) Close() error {
	if in.f.file == in.p.master {
		return nil
	}
	return in.f.close()
}
