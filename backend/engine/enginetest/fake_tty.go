package enginetest

import (
	"context"
	"fmt"
	"io"
	"sync"

	"loop/backend/core"
)

// FakeTTY is the program's end of a terminal that a hook plays.
type FakeTTY struct {
	io.ReadWriter
	Container core.ContainerID
	Spec      core.ExecSpec    // with its defaults
	Sizes     <-chan [2]uint16 // columns and rows as they change; the last one counts
}

// fakeTTY is the host's end.
type fakeTTY struct {
	out   *io.PipeReader
	in    *io.PipeWriter
	sizes chan [2]uint16
	end   context.CancelFunc
	done  chan struct{} // the hook returned, exit is set
	exit  core.TerminalExit

	mu sync.Mutex // one Resize at a time
}

func (t *fakeTTY) Read(p []byte) (int, error) {
	n, err := t.out.Read(p)
	if err != nil {
		err = io.EOF // as a real one gives, however it ended
	}
	return n, err
}

func (t *fakeTTY) Write(p []byte) (int, error) { return t.in.Write(p) }

func (t *fakeTTY) Resize(ctx context.Context, cols, rows uint16) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-t.done:
		return fmt.Errorf("resize the terminal: %w", core.ErrNotFound)
	case <-ctx.Done():
		return ctx.Err()
	default:
	}
	select {
	case <-t.sizes: // the program has not read the size before
	default:
	}
	t.sizes <- [2]uint16{cols, rows}
	return nil
}

func (t *fakeTTY) Wait(ctx context.Context) (core.TerminalExit, error) {
	select {
	case <-t.done:
		return t.exit, nil
	case <-ctx.Done():
		return core.TerminalExit{}, ctx.Err()
	}
}

func (t *fakeTTY) End(ctx context.Context) error {
	t.end()
	_ = t.in.Close()
	_ = t.out.Close()
	_, err := t.Wait(ctx)
	return err
}

func (t *fakeTTY) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return t.End(ctx)
}

// ExecTTY starts the TTY hook.
func (f *Fake) ExecTTY(ctx context.Context, id core.ContainerID, spec core.ExecSpec) (core.TTY, error) {
	if err := f.enter(ctx, "ExecTTY"); err != nil {
		return nil, err
	}
	defer f.mu.Unlock()
	b, err := f.box(id)
	if err != nil {
		return nil, err
	}
	if !b.facts.Running {
		return nil, fmt.Errorf("prepare a terminal: %w", core.ErrNotRunning)
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	run, end := context.WithCancel(context.Background())
	t := &fakeTTY{out: outR, in: inW, sizes: make(chan [2]uint16, 1), end: end, done: make(chan struct{})}
	call := FakeTTY{ReadWriter: struct {
		io.Reader
		io.Writer
	}{inR, outW}, Container: id, Spec: withDefaults(spec), Sizes: t.sizes}
	boxDone := b.done
	f.wg.Go(func() { // the end of the container ends its programs
		select {
		case <-boxDone:
			_ = inR.Close()
		case <-t.done:
		}
		end()
	})
	f.wg.Go(func() {
		if f.TTY != nil {
			t.exit = f.TTY(run, call)
		}
		select {
		case <-boxDone:
			t.exit = core.TerminalExit{Code: 137, Reason: "Its container was stopped."}
		default:
		}
		close(t.done)
		_ = inR.Close()
		_ = outW.Close()
	})
	return t, nil
}
