package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"loop/backend/core"
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
func call[T any](ctx context.Context, c Core, method string, args ...any) (T, error) {
	raw, err := c.Call(ctx, method, args...)
	if err != nil {
		return *new(T), err
	}
	return answer[T](method, raw)
}

// answer decodes what a call answered.
func answer[T any](method string, raw json.RawMessage) (T, error) {
	var out T
	if err := json.Unmarshal(raw, &out); err != nil {
		return out, core.Fail(core.CodeInternal, fmt.Errorf("decode answer of %s: %w", method, err),
			"The running Loop gave an answer this command does not understand.",
			"Both may be of different versions: close that Loop and start this one.")
	}
	return out, nil
}

// show calls a method and prints its answer: as it is where asJSON is set, otherwise
// in words.
func show[T any](ctx context.Context, a *app, c Core, asJSON bool, say func(T), method string, args ...any) error {
	raw, err := c.Call(ctx, method, args...)
	if err != nil {
		return err
	}
	if asJSON {
		a.printJSON(raw)
		return nil
	}
	v, err := answer[T](method, raw)
	if err == nil {
		say(v)
	}
	return err
}

// connect finds Loop: the running instance if there is one, else Loop in this
// process. The caller closes it.
func (a *app) connect(ctx context.Context) (Core, error) { return a.connectOr(ctx, a.deps.Open) }

// connectIdle is connect for what must not start an agent: a Loop in this process
// leaves the queue alone.
func (a *app) connectIdle(ctx context.Context) (Core, error) {
	return a.connectOr(ctx, a.deps.OpenIdle)
}

// withCore does something with Loop, found by connect, until Ctrl-C.
func (a *app) withCore(ctx context.Context, connect func(context.Context) (Core, error), do func(ctx context.Context, c Core) error) error {
	ctx, stop := a.untilInterrupt(ctx)
	defer stop()
	c, err := connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	return do(ctx, c)
}

func (a *app) connectOr(ctx context.Context, open func(context.Context) (Core, error)) (Core, error) {
	if r := a.running(ctx); r != nil {
		return r, nil
	}
	if open == nil {
		return nil, core.Fail(core.CodeInternal, nil, "No Loop is running, and this program cannot start one.", "Start “loop serve” first.")
	}
	// SIGTERM ends ctx; Loop in this process must outlive that, so that the run can be stopped in order.
	c, err := open(context.WithoutCancel(ctx))
	if f, ok := errors.AsType[*core.Failure](err); !ok || f.Code != core.CodeConflict {
		return c, err
	}
	// Another process holds the folder but did not answer above: it is starting
	// or closing.
	conflict := err
	deadline := time.NewTimer(a.times.startup)
	defer deadline.Stop()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	patience := time.NewTimer(a.times.probe)
	defer patience.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-deadline.C:
			return nil, conflict
		case <-patience.C:
			a.err.line("Another Loop holds the folder and does not answer yet; waiting for it.")
		case <-tick.C:
			if r := a.running(ctx); r != nil {
				return r, nil
			}
			c, err = open(context.WithoutCancel(ctx))
			if f, ok := errors.AsType[*core.Failure](err); !ok || f.Code != core.CodeConflict {
				return c, err // opened, or nothing that waiting mends
			}
		}
	}
}

// running returns the instance named by instance.json if it is alive and is
// really ours: something else may have taken its port since.
func (a *app) running(ctx context.Context) Core {
	i, err := readInstance(a.deps.Home)
	if err != nil {
		return nil
	}
	r, err := newRemote(i)
	if err != nil {
		return nil
	}
	probe, cancel := context.WithTimeout(ctx, a.times.probe)
	defer cancel()
	if err := r.health(probe); err == nil {
		if _, err = r.Call(probe, "Channels.List"); err == nil {
			return r
		}
		// Loop itself answered with a failure of its own: it is alive.
		if f, ok := errors.AsType[*core.Failure](err); ok && f.Code != codeUnauthorized && f.Code != codeLost {
			return r
		}
	}
	_ = r.Close()
	return nil
}

// localClient speaks to this machine only: no proxy, no redirects.
func localClient() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{Proxy: nil, MaxIdleConns: 4, IdleConnTimeout: 30 * time.Second},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
