package runner

import (
	"context"
	"errors"
	"time"

	"loop/backend/backoff"
	"loop/backend/core"
)

// reconnect opens the link again. It returns nil, nil when the present try can be
// read again, or there is none; an ending when there is nothing left to read from;
// and errQuit when Loop closes.
func (w *work) reconnect(ctx context.Context) (*ending, error) {
	w.closeLink()
	pause := backoff.Backoff{First: 50 * time.Millisecond, Most: 5 * time.Second}
	var lost, silentSince time.Time
	silent := 0
	for {
		facts, err := w.s.p.Containers.Facts(ctx, w.container.ID)
		switch {
		case ctx.Err() != nil:
			return nil, errQuit
		case errors.Is(err, core.ErrNotFound):
			return &ending{gone: true}, nil
		case err != nil:
			if lost.IsZero() {
				lost = time.Now()
				w.s.p.Publish(w.notice("warning", "The container engine does not answer. Loop goes on with the run as soon as it does."))
				w.log.Warn("engine does not answer", "error", err)
			}
			if !w.resumed && time.Since(lost) >= w.s.o.EngineGrace {
				return &ending{engineLost: true}, nil
			}
		case !facts.Running:
			return &ending{gone: true, facts: &facts, engineLost: !lost.IsZero()}, nil
		default:
			lost = time.Time{}
			var known *core.SpawnInfo
			if err = w.openLink(ctx); err == nil && w.run.SpawnID != "" {
				known, err = w.spawned(ctx)
			}
			switch {
			case err == nil && (known != nil || w.run.SpawnID == ""):
				return nil, nil
			case ctx.Err() != nil:
				return nil, errQuit
			case err == nil: // loop init was restarted: nothing of the run lives
				return w.giveUp(ctx, nil)
			}
			w.log.Warn("link does not open", "error", err)
			if silent++; silent == 1 {
				silentSince = time.Now()
			}
			if silent >= linkTries && time.Since(silentSince) >= linkGrace {
				return w.giveUp(ctx, err)
			}
		}
		if !pause.Wait(ctx) {
			return nil, errQuit
		}
	}
}

// giveUp stops a container that cannot be talked to; why is nil when it is known
// that nothing of the run lives in it.
func (w *work) giveUp(ctx context.Context, why error) (*ending, error) {
	w.closeLink()
	facts, err := w.stopContainer(ctx)
	if errors.Is(err, errEngineLost) {
		return &ending{engineLost: true}, nil
	}
	return &ending{gone: true, facts: facts, noLink: why}, err
}

// salvage reads the rest of the output from its file on this host.
func (w *work) salvage(ctx context.Context, e ending) (ending, error) {
	rc, err := w.s.p.Spools.Open(ctx, w.run.ChannelID, w.run.SpawnID, w.readOff)
	if err == nil {
		err = w.follow(ctx, rc, func() {})
	}
	if ctx.Err() != nil {
		return e, errQuit
	}
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		w.log.Error("read what the container left", "error", err)
	}
	if e.exit == nil {
		if st, ok := w.s.p.Spools.Exit(ctx, w.run.ChannelID, w.run.SpawnID); ok {
			e.exit = &st
		}
	}
	return e, nil
}
