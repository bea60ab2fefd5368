//go:build linux

package spawn

import (
	"context"
	"errors"
	"os"
	"time"

	"loop/backend/wire"
)

// Input writes to a program's terminal or open pipe.
type Input struct {
	p    *proc
	file *os.File
}

// Stdin is a way to the program's terminal or open pipe.
func (tab *Table) Stdin(id string) (*Input, error) {
	p, err := tab.find(id)
	if err != nil {
		return nil, err
	}
	if !p.isReady() {
		return nil, wire.NewError(wire.CodeNotFound, "spawn "+id+" has not started")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.master != nil:
		return &Input{p, p.master}, nil
	case p.stdin != nil && p.req.OpenStdin:
		return &Input{p, p.stdin}, nil
	}
	return nil, wire.NewError(wire.CodeConflict, "spawn "+id+" has no open stdin")
}

// Write waits for as long as the program does not read, or until ctx ends: then
// it says how much was written. Several writes come one after another, whole.
func (in *Input) Write(ctx context.Context, data []byte) (int, error) {
	select {
	case in.p.writing <- struct{}{}:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	defer func() { <-in.p.writing }()
	in.p.out.Hurry()
	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = in.file.SetWriteDeadline(time.Now()) // the write below returns
		close(interrupted)
	})
	n, err := in.file.Write(data)
	if !stop() {
		<-interrupted
		_ = in.file.SetWriteDeadline(time.Time{})
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
	if in.p.req.Stdio == wire.StdioPTY {
		return nil
	}
	return in.p.closeStdin()
}

func (p *proc) closeStdin() error {
	p.mu.Lock()
	f := p.stdin
	p.stdin = nil
	p.mu.Unlock()
	if f == nil {
		return nil
	}
	return f.Close()
}
