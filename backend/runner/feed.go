package runner

import (
	"context"
	"errors"
	"fmt"

	"loop/backend/core"
)

// nextSpawn is the id of the spawn to come: that of the CLI that waits for this prompt, or a
// new one.
func (w *work) nextSpawn(ctx context.Context) core.SpawnID {
	if w.run.Attempt.Number <= 1 && !w.run.Plan && w.spare == nil {
		w.s.awaitStart(ctx, w.run.ChannelID)
		w.spare = w.s.takeSpare(w.run.ChannelID, w.container.ID)
	}
	if w.spare != nil {
		return w.spare.req.ID
	}
	return core.SpawnID(core.NewID())
}

// leaveSpare ends the CLI that waited for this prompt and was not used.
func (w *work) leaveSpare(ctx context.Context) {
	if sp := w.spare; sp != nil {
		w.spare = nil
		w.s.wg.Go(func() { w.s.dismiss(ctx, sp) })
	}
}

// useSpare gives the prompt to the CLI that waited for it. It reports false where that is
// not what the run would start, or has ended without a byte of it. From its first byte on
// the CLI is the run's, whatever becomes of Loop.
func (w *work) useSpare(ctx context.Context, req core.SpawnRequest, msg []byte) (bool, error) {
	if !w.spare.fits(req, *w.began, w.stamp(*w.began)) {
		return false, nil
	}
	w.admit(w.currentLink())
	_ = w.spare.link.Close() // the run has its own handle
	w.spare = nil
	taken, err := w.feed(ctx, msg)
	if !taken && err == nil {
		err = w.endUnfed(ctx)
	}
	return taken, err
}

// endUnfed ends the present spawn, which got nothing to do.
func (w *work) endUnfed(ctx context.Context) error {
	l := w.currentLink()
	err := l.Kill(ctx, w.run.SpawnID)
	if err == nil {
		err = l.Forget(ctx, w.run.SpawnID)
	}
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return fmt.Errorf("end an agent without a prompt: %w", err)
	}
	return nil
}

// feed writes what the present spawn has not taken of its input, and closes it. It reports
// false when the spawn will never take a byte. Through another link it goes on where the
// one before broke.
func (w *work) feed(ctx context.Context, msg []byte) (taken bool, err error) {
	for try := 0; try <= 3; try++ {
		var known *core.SpawnInfo
		if known, err = w.spawned(ctx); err == nil {
			switch {
			case known == nil:
				return false, nil
			case !known.InOpen || known.Exit != nil:
				return known.InEnd > 0, nil
			}
			if err = w.pour(ctx, msg[min(known.InEnd, int64(len(msg))):]); err == nil {
				return true, nil
			}
		}
		if ctx.Err() != nil {
			break
		}
		if errors.Is(err, core.ErrLinkDown) {
			if err := w.openLink(ctx); err != nil {
				return false, err
			}
		}
	}
	return false, fmt.Errorf("give the prompt to the agent: %w", err)
}

func (w *work) pour(ctx context.Context, msg []byte) error {
	in, err := w.currentLink().Stdin(ctx, w.run.SpawnID)
	if err != nil {
		return err
	}
	_, err = in.Write(msg)
	return errors.Join(err, in.Close())
}

// unfed looks after a CLI that had not got its whole prompt when Loop ended. One that has
// none of it is ended: what it was started with may not be what counts now. It reports
// whether the CLI has the prompt.
func (w *work) unfed(ctx context.Context) (fed bool, err error) {
	known, err := w.spawned(ctx)
	switch {
	case err != nil || known == nil:
		return true, err // the link has broken again, which the reader finds
	case !known.InOpen && (known.InEnd > 0 || known.Exit == nil):
		return true, nil
	case known.InEnd > 0:
		msg, err := w.said()
		if err == nil {
			_, err = w.feed(ctx, msg)
		}
		return true, err
	case known.InOpen:
	default:
		return true, nil // an end without input, which an ordinary spawn has as well
	}
	return false, w.endUnfed(ctx)
}
