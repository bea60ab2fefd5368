package engine

import (
	"context"
	"strconv"
	"time"

	"github.com/docker/docker/api/types/events"
	"github.com/docker/docker/client"

	"loop/backend/backoff"
	"loop/backend/core"
)

const (
	// reconnectFirst and reconnectMost bound the pause between attempts to reconnect
	// the event stream: quick after a blip, gentle while the engine is down.
	reconnectFirst = 250 * time.Millisecond
	reconnectMost  = 5 * time.Second
	// healthyStream is how long a stream must have lasted for the pause to start
	// over from its minimum.
	healthyStream = 10 * time.Second
)

// Events reports what happens to containers that carry all the labels until ctx
// ends; then the channel is closed. A broken stream is reconnected. Each
// (re)connection is announced by a ContainerResync event, after which nothing is
// missed; what happened before it must be listed. The receiver must keep
// reading; while it does not, the engine's stream is held up and nothing is
// dropped.
func (d *Docker) Events(ctx context.Context, labels map[string]string) <-chan core.ContainerEvent {
	out := make(chan core.ContainerEvent)
	go func() {
		defer close(out)
		pause := backoff.Backoff{First: reconnectFirst, Most: reconnectMost}
		for alive := true; alive; alive = pause.Wait(ctx) {
			began := time.Now()
			err := d.watch(ctx, labels, out)
			if ctx.Err() != nil {
				return
			}
			if time.Since(began) > healthyStream {
				pause.Reset()
			}
			d.log.Warn("engine event stream ended; reconnecting", "err", err)
		}
	}()
	return out
}

func (d *Docker) watch(ctx context.Context, labels map[string]string, out chan<- core.ContainerEvent) error {
	return d.do(ctx, "follow the engine's events", func(ctx context.Context, cli *client.Client) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		f := labelFilter(labels)
		f.Add("type", string(events.ContainerEventType))
		msgs, errs := cli.Events(ctx, events.ListOptions{Filters: f})
		// The request was answered when Events returned, unless errs says otherwise.
		select {
		case err := <-errs:
			return err
		default:
		}
		ev, ok := core.ContainerEvent{Kind: core.ContainerResync, At: time.Now()}, true
		for {
			if ok {
				select {
				case out <- ev:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			select {
			case m := <-msgs:
				ev, ok = eventOf(m)
			case err := <-errs:
				return err
			}
		}
	})
}

func eventOf(m events.Message) (core.ContainerEvent, bool) {
	ev := core.ContainerEvent{ID: core.ContainerID(m.Actor.ID), Labels: m.Actor.Attributes, At: time.Unix(0, m.TimeNano)}
	switch m.Action {
	case events.ActionCreate, events.ActionStart, events.ActionOOM:
		ev.Kind = string(m.Action)
	case events.ActionDie, "died": // Podman has said died
		ev.Kind = core.ContainerDied
		ev.ExitCode, _ = strconv.Atoi(m.Actor.Attributes["exitCode"])
	case events.ActionDestroy, events.ActionRemove: // Podman says remove
		ev.Kind = core.ContainerDestroyed
	default:
		return ev, false
	}
	return ev, true
}
