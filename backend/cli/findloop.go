package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"loop/backend/core"
	"loop/backend/instance"
)

// Core is Loop as commands see it: what the window may call, and the events.
// Methods may be called from any goroutine.
type Core interface {
	// Call calls a bound method, e.g. "Runs.Prompt". Errors a person can act on
	// are *core.Failure. It returns when the method does, or with ctx.
	Call(ctx context.Context, method string, args ...any) (json.RawMessage, error)
	// Events follows everything that happens from now on, in order. The channel
	// is closed when ctx ends or when Loop lets the follower go (it fell
	// behind, or Loop ended); then events may have been missed, and the caller
	// asks again and reads the timeline.
	Events(ctx context.Context) (<-chan []core.Event, error)
	Close() error
}

// call is Core.Call with a typed answer.
func call[T any](ctx context.Context, c Core, method string, args ...any) (out T, err error) {
	raw, err := c.Call(ctx, method, args...)
	if err == nil {
		err = decodeAnswer(method, raw, &out)
	}
	return out, err
}

func decodeAnswer(method string, raw json.RawMessage, into any) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return notUnderstood(fmt.Errorf("decode answer of %s: %w", method, err))
	}
	return nil
}

// notUnderstood is the Failure for a message of a running instance that this
// program cannot read.
func notUnderstood(err error) error {
	return core.Fail(core.CodeInternal, err, "The running Loop gave an answer this command does not understand.",
		"Both may be of different versions: close that Loop and start this one.")
}

// failedAs reports that err is a Failure with one of the codes.
func failedAs(err error, codes ...core.Code) bool {
	f, ok := errors.AsType[*core.Failure](err)
	return ok && slices.Contains(codes, f.Code)
}

// opener finds Loop: connect or connectIdle. The caller closes it.
type opener func(ctx context.Context) (Core, error)

// connect finds the running instance if there is one, else starts Loop in this
// process.
func (a *app) connect(ctx context.Context) (Core, error) { return a.connectOr(ctx, a.deps.Open) }

// connectIdle is connect for what must not start an agent: a Loop in this process
// leaves the queue alone.
func (a *app) connectIdle(ctx context.Context) (Core, error) {
	return a.connectOr(ctx, a.deps.OpenIdle)
}

// lockPause is the time between two tries to open a folder that another process
// holds.
const lockPause = 100 * time.Millisecond

func (a *app) connectOr(ctx context.Context, open opener) (Core, error) {
	said := false
	for begun := time.Now(); ; {
		if r := a.running(ctx); r != nil {
			return r, nil
		}
		// SIGTERM ends ctx; Loop in this process must outlive that, so that the run can be stopped in order.
		c, err := open(context.WithoutCancel(ctx))
		waited := time.Since(begun)
		if !failedAs(err, core.CodeConflict) || waited > a.times.startup {
			return c, err
		}
		if waited > a.times.probe && !said {
			said = true
			a.err.line("Another Loop holds the folder and does not answer yet; waiting for it.")
		}
		select { // the other process is starting or closing
		case <-time.After(lockPause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// running returns the instance that instance.json names, if it is alive and is
// really a Loop: another program may have taken its port since.
func (a *app) running(ctx context.Context) Core {
	i, err := instance.Read(a.deps.Home)
	if err != nil {
		return nil
	}
	r, err := newRemote(i)
	if err != nil {
		return nil
	}
	probe, cancel := context.WithTimeout(ctx, a.times.probe)
	defer cancel()
	_, err = r.Call(probe, "Channels.List")
	// A failure of Loop's own is an answer too: it is alive.
	if _, answered := errors.AsType[*core.Failure](err); err == nil ||
		answered && !failedAs(err, instance.CodeUnauthorized, instance.CodeLost) {
		return r
	}
	_ = r.Close()
	return nil
}
