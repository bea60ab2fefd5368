package terminal

import (
	"context"
	"errors"
	"io"
	"sync"

	"loop/backend/core"
)

// returning is a Program of an earlier launch that has not been found yet: it is
// looked for with every call until it is found or known to be gone.
type returning struct {
	programs Programs
	saved    Saved
	met      func(end int64)

	mu     sync.Mutex
	p      Program
	gone   error
	closed bool
}

func (r *returning) found(ctx context.Context) (Program, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.p != nil || r.gone != nil {
		return r.p, r.gone
	}
	if r.closed {
		return nil, core.ErrNotFound
	}
	p, end, err := r.programs.Resume(ctx, r.saved)
	if err != nil {
		return nil, err
	}
	r.met(end)
	r.p = p
	return p, nil
}

func (r *returning) Output(ctx context.Context, offset int64) (io.ReadCloser, int64, error) {
	p, err := r.found(ctx)
	if err != nil {
		return nil, 0, err
	}
	return p.Output(ctx, offset)
}

func (r *returning) Write(ctx context.Context, b []byte) error {
	p, err := r.found(ctx)
	if err != nil {
		return err
	}
	return p.Write(ctx, b)
}

func (r *returning) Resize(ctx context.Context, cols, rows uint16) error {
	p, err := r.found(ctx)
	if err != nil {
		return err
	}
	return p.Resize(ctx, cols, rows)
}

func (r *returning) End(ctx context.Context) error {
	p, err := r.found(ctx)
	if errors.Is(err, core.ErrNotFound) {
		return nil // it has ended
	}
	if err != nil {
		return err
	}
	return p.End(ctx)
}

func (r *returning) Wait(ctx context.Context) (core.TerminalExit, error) {
	p, err := r.found(ctx)
	if err != nil {
		return core.TerminalExit{}, err
	}
	return p.Wait(ctx)
}

func (r *returning) Forget(ctx context.Context) error {
	r.mu.Lock()
	f, ok := r.p.(Forgetter)
	r.mu.Unlock()
	if !ok {
		return nil
	}
	return f.Forget(ctx)
}

func (r *returning) Relaunch(ctx context.Context, at int64) error {
	p, err := r.found(ctx)
	if err != nil {
		return err
	}
	if a, ok := p.(Relauncher); ok {
		return a.Relaunch(ctx, at)
	}
	return core.ErrNotFound
}

func (r *returning) Typed() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t, ok := r.p.(Typist); ok {
		return t.Typed()
	}
	return ""
}

func (r *returning) Shift(by int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.p.(interface{ Shift(by int64) }); ok {
		s.Shift(by)
	}
}

func (r *returning) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.p == nil {
		return nil
	}
	return r.p.Close()
}
