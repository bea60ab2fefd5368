package runner

import (
	"context"
	"errors"
	"time"

	"loop/backend/backoff"
	"loop/backend/core"
)

// reconnect opens the link again. It returns nil, nil when the spawn can be
// read again, an ending when there is nothing left to read from, and errQuit
// when Loop closes.
func (w *work) reconnect(ctx context.Context) (*ending, error) { return w.relink(ctx, true) }

// relink is reconnect; without read nothing runs in the container that could be
// read, and an open link is all that is wanted.
func (w *work) relink(ctx context.Context, read bool) (*ending, error) {
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
			known := false
			err := w.openLink(ctx)
			if err == nil && !read {
				return nil, nil
			}
			if err == nil {
				known, err = w.spawnKnown(ctx)
			}
			if err == nil && known {
				return nil, nil
			}
			if ctx.Err() != nil {
				return nil, errQuit
			}
			if err == nil && w.run.Attempt.Number > 1 && w.neverSpawned(ctx) {
				return &ending{unspawned: true}, nil
			}
			if err == nil { // loop init was restarted: nothing of the run lives
				e, err := w.giveUpFacts(ctx, nil)
				return &e, err
			}
			w.log.Warn("link does not open", "error", err)
			if silent == 0 {
				silentSince = time.Now()
			}
			if silent++; silent >= linkTries && time.Since(silentSince) >= linkGrace {
				e, err := w.giveUpFacts(ctx, err)
				return &e, err
			}
		}
		if !pause.Wait(ctx) {
			return nil, errQuit
		}
	}
}

// giveUp stops a container that cannot be talked to and reads what it left.
func (w *work) giveUp(ctx context.Context, why error) (ending, error) {
	e, err := w.giveUpFacts(ctx, why)
	if err != nil {
		return ending{}, err
	}
	return w.salvage(ctx, e)
}

// giveUpFacts only stops it; why is nil when it is known that nothing of the run
// lives in it.
func (w *work) giveUpFacts(ctx context.Context, why error) (ending, error) {
	w.closeLink()
	facts, err := w.stopped(ctx)
	if err != nil {
		if errors.Is(err, errEngineLost) {
			return ending{engineLost: true}, nil
		}
		return ending{}, err
	}
	return ending{gone: true, facts: facts, noLink: why}, nil
}

// salvage reads the rest of the output from its file on this host.
func (w *work) salvage(ctx context.Context, e ending) (ending, error) {
	if w.s.p.Spools == nil {
		return e, nil
	}
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
