package registry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"loop/backend/core"
)

// Restore loads the rows. Removals that came due while Loop was away happen when
// Run starts. Call it once, before anything else.
func (r *Registry) Restore(ctx context.Context) error {
	list, err := r.o.Store.Containers(ctx)
	if err != nil {
		return fmt.Errorf("load containers: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range list {
		r.rows[c.Name] = c
	}
	return nil
}

// Run follows the engine and carries out removals until ctx ends, and returns
// nil then. An engine that does not answer changes nothing: rows stay as they
// are until it does.
func (r *Registry) Run(ctx context.Context) error {
	// Events end before Run returns, also when it ends otherwise than by ctx.
	ectx, stop := context.WithCancel(ctx)
	events := r.o.Watcher.Events(ectx, r.labels())
	defer func() {
		stop()
		for range events { //nolint:revive // until the engine has closed it
		}
	}()
	tick := time.NewTicker(reconcileEvery)
	defer tick.Stop()
	due := time.NewTimer(time.Hour)
	defer due.Stop()
	var notBefore time.Time // keeps a removal that fails at every step from spinning
	for {
		due.Reset(max(r.untilNextRemoval(), notBefore.Sub(r.o.Now())))
		select {
		case <-ctx.Done():
			return nil
		case ev, ok := <-events:
			if !ok {
				return nil // only when ctx ended
			}
			r.handle(ctx, ev)
		case <-tick.C:
			r.reconcile(ctx)
		case <-due.C:
			r.removeDue(ctx)
			notBefore = r.o.Now().Add(time.Second)
		case <-r.wakeup:
		}
	}
}

// reconcile compares the rows with one list of the engine's containers.
func (r *Registry) reconcile(ctx context.Context) {
	if err := r.Reconcile(ctx); err != nil && ctx.Err() == nil {
		r.log.Warn("reconcile containers", "err", err)
	}
}

// Reconcile does what Run does every half minute: one list call, after which the
// rows say what the engine says. A container of this install without a row
// (another database, a crash) gets one, and goes after the usual while.
func (r *Registry) Reconcile(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	before := r.List() // rows made after this are not judged by the list
	list, err := r.o.Watcher.List(ctx, r.labels())
	if err != nil {
		return err
	}
	byName := make(map[string]core.ContainerFacts, len(list))
	for _, f := range list {
		byName[f.Name] = f
	}
	for _, c := range before {
		if r.isBusy(c.Name) {
			continue
		}
		f, there := byName[c.Name]
		switch {
		case there && (c.ID == "" || c.ID == f.ID):
			r.settle(ctx, c, f)
		case c.ID == "": // reserved by a Loop that ended before the engine made it
			r.drop(ctx, c.Name)
		default:
			// Absence is confirmed by id: dropping is the one step that cannot be
			// taken back.
			if _, err := r.o.Engine.Inspect(ctx, c.ID); errors.Is(err, core.ErrNotFound) {
				r.drop(ctx, c.Name)
			}
		}
	}
	for _, f := range list {
		if _, known := r.row(f.Name); !known {
			r.adopt(ctx, f)
		}
	}
	return nil
}

func (r *Registry) isBusy(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.busy[name] > 0
}

// settle brings a row, as it was before the engine was asked, in line with what
// the engine says. One that somebody has moved since is left to the next look.
func (r *Registry) settle(ctx context.Context, c core.Container, f core.ContainerFacts) {
	var err error
	switch {
	case c.ID == "":
		// Loop ended between the engine's answer and writing it down: no run knows
		// this container, so it goes at once.
		if err = r.identify(ctx, c.Name, f.ID); err == nil {
			err = r.move(ctx, c.Name, core.ContainerPendingRemoval, r.o.Now())
		}
	case f.Running && (c.Status == core.ContainerReserved || c.Status == core.ContainerStopped):
		removeAt := c.RemoveAt
		if c.Status == core.ContainerStopped {
			removeAt = time.Time{} // the time was set by its end, which did not last
		}
		err = r.moveFrom(ctx, c, core.ContainerRunning, removeAt)
	case !f.Running && r.unchanged(c):
		err = r.ended(ctx, c.Name)
	}
	if err != nil {
		r.log.Warn("settle container", "container_name", c.Name, "err", err)
	}
}

// adopt gives a row to a container of this install that has none.
func (r *Registry) adopt(ctx context.Context, f core.ContainerFacts) {
	// The list may be older than a removal that just happened.
	f, err := r.o.Engine.Inspect(ctx, f.ID)
	if err != nil || f.Labels[core.LabelInstall] != r.o.Install {
		return
	}
	now := r.o.Now()
	c := core.Container{
		ID: f.ID, Name: f.Name, ChannelID: core.ChannelID(f.Labels[core.LabelChannel]), RunID: core.RunID(f.Labels[core.LabelRun]),
		Type: core.ContainerType(f.Labels[core.LabelType]), Status: core.ContainerStopped, Image: f.ImageID,
		Hash: f.Labels[core.LabelHash], CreatedAt: f.CreatedAt, RemoveAt: now.Add(r.o.Keep),
	}
	if f.Running {
		c.Status = core.ContainerRunning
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.rows[c.Name]; known {
		return
	}
	if err := r.o.Store.ReserveContainer(ctx, c); err != nil {
		r.log.Warn("adopt container", "container_name", c.Name, "err", err)
		return
	}
	r.rows[c.Name] = c
	r.log.Info("container without a row adopted; it goes at its time", "container_name", c.Name, "remove_at", c.RemoveAt)
	r.publish(core.EventContainerAdded, c)
	r.wake()
}

// handle applies one event of the engine.
func (r *Registry) handle(ctx context.Context, ev core.ContainerEvent) {
	if ev.Kind == core.ContainerResync {
		r.reconcile(ctx)
		return
	}
	c, ok := r.byID(ev.ID)
	if !ok || r.isBusy(c.Name) {
		return // not known yet, or Start is at it and sees for itself
	}
	switch ev.Kind {
	case core.ContainerStarted:
		if c.Status != core.ContainerRunning && c.Status != core.ContainerPendingRemoval {
			if err := r.moveFrom(ctx, c, core.ContainerRunning, time.Time{}); err != nil {
				r.log.Warn("container started", "container_name", c.Name, "err", err)
			}
		}
	case core.ContainerDied:
		if err := r.ended(ctx, c.Name); err != nil {
			r.log.Warn("container ended", "container_name", c.Name, "err", err)
		}
	case core.ContainerDestroyed:
		r.drop(ctx, c.Name)
	}
}

// untilNextRemoval is the time to the earliest removal, an hour if there is none.
func (r *Registry) untilNextRemoval() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	wait := time.Hour
	now := r.o.Now()
	for _, c := range r.rows {
		if !c.RemoveAt.IsZero() && r.busy[c.Name] == 0 {
			wait = min(wait, max(c.RemoveAt.Sub(now), 0))
		}
	}
	return wait
}

// removeDue removes what is due. One that the engine refuses is tried again.
func (r *Registry) removeDue(ctx context.Context) {
	now := r.o.Now()
	for _, c := range r.List() {
		if c.RemoveAt.IsZero() || c.RemoveAt.After(now) || ctx.Err() != nil || !r.beginRemoval(c) {
			continue
		}
		r.remove(ctx, c)
		r.endRemoval(c.Name)
	}
}

func (r *Registry) remove(ctx context.Context, c core.Container) {
	cctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if c.Status != core.ContainerPendingRemoval {
		if err := r.move(cctx, c.Name, core.ContainerPendingRemoval, c.RemoveAt); err != nil {
			r.log.Warn("mark container for removal", "container_name", c.Name, "err", err)
		}
	}
	if c.ID != "" && r.removed(cctx, c.ID) {
		r.drop(cctx, c.Name)
	}
	if cur, ok := r.row(c.Name); ok { // still there: later
		if err := r.move(cctx, c.Name, cur.Status, r.o.Now().Add(retryRemoval)); err != nil && ctx.Err() == nil {
			r.log.Warn("put off removal", "container_name", c.Name, "err", err)
		}
	}
}

// beginRemoval reports whether a removal is still due; from then on KeepRunning
// does not take it back, or somebody would go on with a container that is about
// to be killed.
func (r *Registry) beginRemoval(was core.Container) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	cur, ok := r.rows[was.Name]
	if !ok || !cur.RemoveAt.Equal(was.RemoveAt) || r.busy[was.Name] > 0 {
		return false // taken back or put off meanwhile
	}
	r.removing[was.Name] = true
	return true
}

func (r *Registry) endRemoval(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.removing, name)
}
