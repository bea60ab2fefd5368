package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"loop/backend/core"
)

// Local is a Loop in this process as the command line uses it: the same calls
// and events as over the listener, without the way through it.
type Local struct{ d *Daemon }

// OpenLocal makes and starts a Loop. The caller closes it.
func OpenLocal(ctx context.Context, opts Options) (*Local, error) {
	opts.Command = true
	d, err := New(ctx, opts)
	if err != nil {
		return nil, err
	}
	if err := d.Start(); err != nil {
		_ = d.Close()
		return nil, err
	}
	return &Local{d}, nil
}

// OpenIdle makes a Loop in which nothing works by itself: no queue is worked, no
// run of an earlier launch is taken up, and no other command finds it. It is for
// a look at the folder, or a change of it, that must not start an agent. The
// caller closes it.
func OpenIdle(ctx context.Context, opts Options) (*Local, error) {
	opts.Command = true
	d, err := New(ctx, opts)
	if err != nil {
		return nil, err
	}
	return &Local{d}, nil
}

// Call calls a bound method and returns when it does, or with ctx. A method
// that is left behind goes on until the app ends.
func (l *Local) Call(ctx context.Context, method string, args ...any) (json.RawMessage, error) {
	if args == nil {
		args = []any{}
	}
	in, err := json.Marshal(args)
	if err != nil {
		return nil, fmt.Errorf("encode call: %w", err)
	}
	type answer struct {
		out json.RawMessage
		err error
	}
	done := make(chan answer, 1)
	l.d.work.Go(func() {
		v, err := l.d.calls.Call(method, bytes.NewReader(in))
		if err != nil {
			done <- answer{err: core.AsFailure(err)}
			return
		}
		out, err := json.Marshal(v)
		done <- answer{out, err}
	})
	select {
	case a := <-done:
		return a.out, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Events follows everything from now on.
func (l *Local) Events(ctx context.Context) (<-chan []core.Event, error) {
	events, cancel := l.d.SubscribeEvents()
	context.AfterFunc(ctx, cancel)
	return events, nil
}

// Close ends the Loop.
func (l *Local) Close() error { return l.d.Close() }

// Serve runs a Loop with its listener until ctx ends.
func Serve(ctx context.Context, opts Options, ready func(url, token string)) error {
	d, err := New(ctx, opts)
	if err != nil {
		return err
	}
	if err := d.Start(); err != nil {
		_ = d.Close()
		return err
	}
	ready(d.URL(), d.Token())
	<-ctx.Done()
	return d.Close()
}
