package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"loop/backend/core"
)

// OpenLocal makes and starts a Loop in this process for the command line: the same
// calls and events as over the listener, without the way through it. The caller
// closes it.
func OpenLocal(ctx context.Context, opts Options) (*Daemon, error) {
	opts.Command = true
	return newStarted(ctx, opts)
}

// OpenIdle makes a Loop in which nothing works by itself: no queue is worked, no
// run of an earlier launch is taken up, and no other command finds it. It is for
// a look at the folder, or a change of it, that must not start an agent. The
// caller closes it.
func OpenIdle(ctx context.Context, opts Options) (*Daemon, error) {
	opts.Command = true
	return New(ctx, opts)
}

func newStarted(ctx context.Context, opts Options) (*Daemon, error) {
	d, err := New(ctx, opts)
	if err != nil {
		return nil, err
	}
	if err := d.Start(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Call calls a bound method and returns when it does, or with ctx. A method
// that is left behind goes on until the app ends.
func (d *Daemon) Call(ctx context.Context, method string, args ...any) (json.RawMessage, error) {
	in, err := json.Marshal(append([]any{}, args...)) // no arguments are an empty list
	if err != nil {
		return nil, fmt.Errorf("encode call: %w", err)
	}
	var out json.RawMessage
	done := make(chan error, 1)
	d.work.Go(func() {
		v, err := d.calls.Call(method, bytes.NewReader(in))
		if err != nil {
			done <- core.AsFailure(err)
			return
		}
		out, err = json.Marshal(v)
		done <- err
	})
	select {
	case err := <-done:
		return out, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Events follows everything from now on. The channel is closed when ctx or the app
// ends.
func (d *Daemon) Events(ctx context.Context) (<-chan []core.Event, error) {
	return d.events.Follow(ctx, "", 0), nil
}

// Serve runs a Loop with its listener until ctx ends.
func Serve(ctx context.Context, opts Options, ready func(url, token string)) error {
	d, err := newStarted(ctx, opts)
	if err != nil {
		return err
	}
	ready(d.URL(), d.Token())
	<-ctx.Done()
	return d.Close()
}
