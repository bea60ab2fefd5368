package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"loop/backend/backoff"
	"loop/backend/core"
)

// Hold holds a container that runs, and takes back that it was to go. Errors wrap
// core.ErrNotFound for one that is gone or that this install did not make, and
// core.ErrNotRunning for one that has ended or is just being ended. Holding twice is
// fine.
func (r *Registry) Hold(ctx context.Context, id core.ContainerID, h core.Holder) error {
	f, err := r.Facts(ctx, id)
	if err != nil {
		return err
	}
	if !f.Running {
		return fmt.Errorf("hold container %s: %w", id, core.ErrNotRunning)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.of(f.ID)
	switch {
	case w == nil:
		return fmt.Errorf("hold container %s: %w", id, core.ErrNotFound)
	case w.going > 0:
		return fmt.Errorf("hold container %s, which is being ended: %w", id, core.ErrNotRunning)
	}
	return r.holdLocked(ctx, w, h)
}

// holdLocked holds a container that is known to run; the lock is held.
func (r *Registry) holdLocked(ctx context.Context, w *row, h core.Holder) error {
	held := slices.Contains(w.holders, h)
	c := w.Container
	c.Status, c.RemoveAt, c.LastUsedAt = core.ContainerRunning, time.Time{}, time.Now()
	if c.Scope != "" {
		c.Why = "" // whatever it was, it serves
	}
	if !held || w.Status != c.Status || !w.RemoveAt.IsZero() {
		if err := r.o.Store.HoldContainer(ctx, core.Lease{Container: w.Key, Holder: h, TakenAt: c.LastUsedAt}, c); err != nil {
			return err
		}
	}
	if !held {
		w.holders = append(w.holders, h)
	}
	delete(w.earlier, h)
	delete(r.owed, core.Lease{Container: w.Key, Holder: h})
	w.unheld = false
	r.moved(w, c)
	return nil
}

// Release gives back everything that a holder holds. What becomes of a container is
// the registry's to decide; it goes on while anybody else holds it. An error says that
// this may take a while: the registry goes on trying, also after a restart. A second
// call does nothing.
func (r *Registry) Release(ctx context.Context, h core.Holder, e core.Ending) error {
	return r.releaseAll(ctx, e, func(_ *row, o core.Holder) bool { return o == h })
}

// Recovered gives back what holders of one kind held in an earlier process and have
// not come back for; alive says which of them still will. Call it when it is known
// what outlived that process. A container of a scope was not made for its holder alone, so
// that it goes on whatever e says of its end.
func (r *Registry) Recovered(ctx context.Context, kind core.HolderKind, alive func(id string) bool, e core.Ending) error {
	which := func(scoped bool) func(*row, core.Holder) bool {
		return func(w *row, h core.Holder) bool {
			return h.Kind == kind && w.earlier[h] && !alive(h.ID) && scoped == (w.Scope != "")
		}
	}
	err := r.releaseAll(ctx, e, which(false))
	e.Now = false
	return errors.Join(err, r.releaseAll(ctx, e, which(true)))
}

// Left are the ids of holders of one kind that held a container in an earlier process and
// have not come back for it, one for each container.
func (r *Registry) Left(kind core.HolderKind) (ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.rows {
		for _, h := range w.holders {
			if h.Kind == kind && w.earlier[h] {
				ids = append(ids, h.ID)
			}
		}
	}
	return ids
}

func (r *Registry) releaseAll(ctx context.Context, e core.Ending, which func(*row, core.Holder) bool) error {
	var found []core.Lease
	r.mu.Lock()
	for key, w := range r.rows {
		for _, h := range w.holders {
			if which(w, h) {
				found = append(found, core.Lease{Container: key, Holder: h})
			}
		}
	}
	r.mu.Unlock()
	var errs []error
	for _, l := range found {
		errs = append(errs, r.release(ctx, l.Container, l.Holder, e))
	}
	return errors.Join(errs...)
}

// afterLast is what a container becomes when nobody holds it any more. One of a scope
// goes on, for whoever comes next.
func (r *Registry) afterLast(c core.Container, e core.Ending) core.Container {
	now := time.Now()
	switch keep := max(cmp.Or(e.Keep, r.o.Keep()), 0); {
	case e.Now:
		c.Status, c.RemoveAt = core.ContainerPendingRemoval, now
	case c.Scope != "" && c.Status != core.ContainerPendingRemoval:
		c.RemoveAt = time.Time{} // by the rule of its life
	case c.Status != core.ContainerRunning:
		c.Status, c.RemoveAt = core.ContainerPendingRemoval, now.Add(keep)
	default:
		c.RemoveAt = now.Add(keep) // it shows as running until it ends
	}
	return c
}

func (r *Registry) release(ctx context.Context, key core.ContainerKey, h core.Holder, e core.Ending) error {
	was, _ := r.row(key)
	ends, err := r.giveBack(ctx, key, h, e)
	if e.Drain && was.Scope != "" {
		r.setAside(ctx, key)
	}
	if err == nil && was.Scope != "" {
		r.look() // whether it is one too many
	}
	if err != nil || !ends {
		return err
	}
	if e.Now {
		return r.removeNow(ctx, key)
	}
	return r.stopUnheld(ctx, key)
}

// giveBack drops a lease and writes down what follows, in the store first. ends says that
// the container is to end now. A store that refuses is asked again by Run.
func (r *Registry) giveBack(ctx context.Context, key core.ContainerKey, h core.Holder, e core.Ending) (ends bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w, owed := r.rows[key], core.Lease{Container: key, Holder: h}
	delete(r.owed, owed)
	if w == nil || !slices.Contains(w.holders, h) {
		return false, nil
	}
	last := len(w.holders) == 1
	c := w.Container
	c.LastUsedAt = time.Now()
	if e.Drain && c.Scope != "" {
		c.Scope, c.Why = "", "may hold what is left of a program that ended"
	}
	if last {
		c = r.afterLast(c, e)
	}
	if err := r.o.Store.ReleaseContainer(ctx, h, c); err != nil {
		r.owed[owed] = e
		return false, fmt.Errorf("give back container %s: %w", w.Name, err)
	}
	w.holders = slices.DeleteFunc(w.holders, func(o core.Holder) bool { return o == h })
	delete(w.earlier, h)
	ends = last && (c.Scope == "" || c.Status == core.ContainerPendingRemoval)
	if ends && c.Status == core.ContainerRunning {
		w.unheld = true
	}
	r.moved(w, c)
	return ends, nil
}

// stopUnheld stops a container that nobody holds any more. Where the engine refuses,
// Run tries again; its removal ends it at the latest.
func (r *Registry) stopUnheld(ctx context.Context, key core.ContainerKey) error {
	unheld := false
	err := r.stop(ctx, key, func(w *row) bool { unheld = w.unheld && w.going == 0; return unheld })
	if err == nil || !unheld || errors.Is(err, core.ErrNotFound) {
		return nil
	}
	r.log.Warn("stop container", "container", key, "err", err)
	return fmt.Errorf("stop container: %w", err)
}

// End stops a container for one of its holders, which still has to give it back:
// until then, and for the time it says then, what is left can be looked at. It is
// core.ErrConflict while anybody else holds the container, and core.ErrNotFound once
// it is gone.
func (r *Registry) End(ctx context.Context, id core.ContainerID, h core.Holder) error {
	c, ok := r.byID(id)
	if !ok {
		return fmt.Errorf("end container %s: %w", id, core.ErrNotFound)
	}
	return r.stop(ctx, c.Key, func(w *row) bool {
		return !slices.ContainsFunc(w.holders, func(o core.Holder) bool { return o != h })
	})
}

// Limit gives a container other limits for one of its holders; what is zero stays as it
// is. core.ErrNotFound: the holder does not hold it.
func (r *Registry) Limit(ctx context.Context, id core.ContainerID, h core.Holder, limits core.Limits) error {
	r.mu.Lock()
	w := r.of(id)
	held := w != nil && slices.Contains(w.holders, h)
	r.mu.Unlock()
	if !held {
		return fmt.Errorf("limit container %s: %w", id, core.ErrNotFound)
	}
	return r.o.Engine.Update(ctx, id, limits)
}

// stop ends a container: the stop signal, and the kill after stopGrace. Nobody joins it
// meanwhile, nor between the look of may, without which it is core.ErrConflict, and the
// note that it goes. An absent one is core.ErrNotFound and its row is dropped.
func (r *Registry) stop(ctx context.Context, key core.ContainerKey, may func(*row) bool) error {
	var id core.ContainerID
	err := r.with(key, func(w *row) error {
		if !may(w) {
			return fmt.Errorf("end container %s, which others use: %w", w.ID, core.ErrConflict)
		}
		id = w.ID
		w.going++
		return nil
	})
	if err != nil {
		return err
	}
	err = r.o.Engine.Stop(ctx, id, stopGrace)
	if errors.Is(err, core.ErrNotFound) {
		r.drop(context.WithoutCancel(ctx), key)
	}
	if err == nil {
		err = r.ended(ctx, key)
	}
	r.over(key, func(w *row) {
		w.going--
		if err == nil {
			w.unheld = false
		}
	})
	return err
}

// Remove removes a container at once, whoever holds it: a person said so, or another of its
// name is to be made. It returns nil once the container is gone, whoever removed it. One
// that is gone, or that this install did not make, is core.ErrNotFound.
func (r *Registry) Remove(ctx context.Context, id core.ContainerID) error {
	c, ok := r.byID(id)
	if !ok {
		return fmt.Errorf("remove container %s: %w", id, core.ErrNotFound)
	}
	for {
		r.abandonSetup(c.Key)
		if err := r.move(ctx, c.Key, core.ContainerPendingRemoval, time.Now()); err != nil {
			if errors.Is(err, core.ErrNotFound) {
				return nil // it has gone meanwhile
			}
			return err
		}
		if err := r.removeNow(ctx, c.Key); err != nil || !r.ending(c.Key) {
			return err
		}
		if !backoff.Sleep(ctx, settleTick) {
			return fmt.Errorf("wait for the removal of container %s: %w", id, ctx.Err())
		}
	}
}

// ending reports whether a stop or a removal of a container is under way, or the end of its
// set-up.
func (r *Registry) ending(key core.ContainerKey) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.rows[key]
	return w != nil && (w.going > 0 || w.abandon != nil)
}
