package registry

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"loop/backend/core"
)

// steps are the legal moves of a status. A row leaves by being dropped, which is
// legal from anywhere once the engine says that the container is absent.
var steps = map[core.ContainerStatus][]core.ContainerStatus{
	core.ContainerReserved:       {core.ContainerRunning, core.ContainerStopped, core.ContainerPendingRemoval},
	core.ContainerRunning:        {core.ContainerStopped, core.ContainerPendingRemoval},
	core.ContainerStopped:        {core.ContainerRunning, core.ContainerPendingRemoval},
	core.ContainerPendingRemoval: {core.ContainerRunning, core.ContainerStopped},
}

func legal(from, to core.ContainerStatus) bool {
	return from == to || slices.Contains(steps[from], to)
}

// with does something with a row while nothing else does; one that is gone is
// core.ErrNotFound.
func (r *Registry) with(key core.ContainerKey, do func(w *row) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.rows[key]; w != nil {
		return do(w)
	}
	return fmt.Errorf("container record %s: %w", key, core.ErrNotFound)
}

// over notes that something that was under way with a row is over: its removal may
// be due now.
func (r *Registry) over(key core.ContainerKey, note func(w *row)) {
	_ = r.with(key, func(w *row) error { note(w); return nil }) // else it is gone
	r.wake()
}

// move takes a legal step, in the store first. The same status and time again is
// nothing.
func (r *Registry) move(ctx context.Context, key core.ContainerKey, to core.ContainerStatus, removeAt time.Time) error {
	return r.with(key, func(w *row) error { return r.moveLocked(ctx, w, to, removeAt) })
}

// moveFrom moves a row that is as it was; one that somebody has moved meanwhile,
// or scheduled, stays so.
func (r *Registry) moveFrom(ctx context.Context, was core.Container, to core.ContainerStatus, removeAt time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.rows[was.Key]; w != nil && w.Container == was {
		return r.moveLocked(ctx, w, to, removeAt)
	}
	return nil
}

func (r *Registry) moveLocked(ctx context.Context, w *row, to core.ContainerStatus, removeAt time.Time) error {
	if w.Status == to && w.RemoveAt.Equal(removeAt) {
		return nil
	}
	if !legal(w.Status, to) {
		return fmt.Errorf("container %s: no step from %s to %s: %w", w.Name, w.Status, to, core.ErrConflict)
	}
	c := w.Container
	c.Status, c.RemoveAt = to, removeAt
	if to == core.ContainerRunning && w.Status == core.ContainerStopped {
		c.Why = ""
	}
	if err := r.o.Store.UpdateContainer(ctx, c); err != nil {
		return err
	}
	r.moved(w, c)
	return nil
}

// moved notes and publishes what the store has of a container by now.
func (r *Registry) moved(w *row, c core.Container) {
	was := w.Container
	w.Container = c
	was.LastUsedAt = c.LastUsedAt // which by itself is no news
	if was != c {
		r.publish(core.EventContainerChanged, c)
		r.wake()
	}
}

// ended records that a container does not run any more and when it goes, held or
// not: a lease keeps a container running, not its remains.
func (r *Registry) ended(ctx context.Context, key core.ContainerKey) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.rows[key]
	if w == nil || w.Status == core.ContainerPendingRemoval || w.Status == core.ContainerStopped {
		return nil // recorded already, for the event or by stop
	}
	if !w.RemoveAt.IsZero() { // nobody held it any more while it ran
		return r.moveLocked(ctx, w, core.ContainerPendingRemoval, w.RemoveAt)
	}
	if w.Scope != "" { // it is started again for the next, until its time is over
		c := w.Container
		c.Status, c.Why = core.ContainerStopped, cmp.Or(c.Why, "ended by itself")
		if err := r.o.Store.UpdateContainer(ctx, c); err != nil {
			return err
		}
		r.moved(w, c)
		return nil
	}
	// Nobody has said when it goes; a holder may still do so.
	return r.moveLocked(ctx, w, core.ContainerStopped, time.Now().Add(r.o.Keep()))
}

// drop forgets a row. The caller knows from the engine that the container is gone.
func (r *Registry) drop(ctx context.Context, key core.ContainerKey) {
	_ = r.with(key, func(w *row) error {
		if err := r.o.Store.DropContainer(ctx, key); err != nil {
			r.log.Error("drop container row; the next reconcile tries again", "container_name", w.Name, "err", err)
			return err
		}
		delete(r.rows, key)
		r.publish(core.EventContainerRemoved, w.Container)
		return nil
	})
}

func (r *Registry) row(key core.ContainerKey) (c core.Container, ok bool) {
	err := r.with(key, func(w *row) error { c = w.Container; return nil })
	return c, err == nil
}

// named is the row of a name that is in use; the lock is held.
func (r *Registry) named(name string) *row {
	for _, w := range r.rows {
		if w.Name == name {
			return w
		}
	}
	return nil
}

// of is the row of an engine's id; the lock is held.
func (r *Registry) of(id core.ContainerID) *row {
	for _, w := range r.rows {
		if w.ID == id && id != "" {
			return w
		}
	}
	return nil
}

func (r *Registry) byID(id core.ContainerID) (core.Container, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.of(id); w != nil {
		return w.Container, true
	}
	return core.Container{}, false
}

func (r *Registry) labels() map[string]string {
	return map[string]string{core.LabelInstall: r.o.Install}
}

// publish sends a container event; the lock is held, so that events are in the
// order of the steps. A row that the engine has no container of is not shown.
func (r *Registry) publish(t core.EventType, c core.Container) {
	if c.ID != "" {
		r.o.Publish(core.NewEvent(t, c.ChannelID, c.RunID, time.Now(), c))
	}
}

func (r *Registry) wake() {
	select {
	case r.wakeup <- struct{}{}:
	default:
	}
}
