package registry

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"loop/backend/core"
)

// Restore loads the rows and their leases. Removals that came due while Loop was
// away happen when Run starts. Call it once, before anything else.
func (r *Registry) Restore(ctx context.Context) error {
	list, leases, err := r.o.Store.Containers(ctx)
	if err != nil {
		return fmt.Errorf("load containers: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range list {
		r.rows[c.Key] = &row{Container: c, earlier: map[core.Holder]bool{}}
	}
	for _, l := range leases {
		w := r.rows[l.Container]
		w.holders = append(w.holders, l.Holder)
		w.earlier[l.Holder] = true
	}
	for _, w := range r.rows {
		if w.Status == core.ContainerRunning && len(w.holders) == 0 && !w.RemoveAt.IsZero() {
			w.unheld = true // its last holder was gone before it was stopped
		}
	}
	return nil
}

// Run follows the engine and carries out removals until ctx ends, and returns
// nil then. An engine that does not answer changes nothing: rows stay as they
// are until it does.
func (r *Registry) Run(ctx context.Context) error {
	// The earlier process waited for these programs, and is gone.
	for _, kind := range []core.HolderKind{core.HolderGit, core.HolderSetUp, core.HolderBrowser, core.HolderPrompt} {
		if err := r.Recovered(ctx, kind, func(string) bool { return false }, core.Ending{Now: true}); err != nil {
			r.log.Warn("give back containers of an earlier process", "err", err)
		}
	}
	// Events end before Run returns, also when it ends otherwise than by ctx.
	ectx, stop := context.WithCancel(ctx)
	events := r.o.Engine.Events(ectx, r.labels())
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
		due.Reset(max(r.untilNextRemoval(), time.Until(notBefore)))
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
			for _, c := range r.idle() {
				if ctx.Err() == nil {
					_ = r.removeNow(ctx, c.Key) // it logs, and one that the engine refuses is tried again
				}
			}
			notBefore = time.Now().Add(time.Second)
		case <-r.drained:
			r.endLeft(ctx)
			r.endUnheld(ctx)
			r.boundWarm(ctx)
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
	before := r.idle() // rows made after this are not judged by the list
	list, err := r.o.Engine.List(ctx, r.labels())
	if err != nil {
		return err
	}
	for _, c := range before {
		i := slices.IndexFunc(list, func(f core.ContainerFacts) bool {
			return f.ID == c.ID || c.ID == "" && f.Name == c.Name
		})
		switch {
		case i >= 0:
			r.settle(ctx, c, list[i])
		case c.ID == "": // reserved by a Loop that ended before the engine made it
			r.drop(ctx, c.Key)
		default:
			// Absence is confirmed by id: dropping is the one step that cannot be
			// taken back.
			if _, err := r.o.Engine.Inspect(ctx, c.ID); errors.Is(err, core.ErrNotFound) {
				r.drop(ctx, c.Key)
			}
		}
	}
	for _, f := range list {
		r.adopt(ctx, f)
	}
	r.endExpired(ctx)
	r.endLeft(ctx)
	r.endUnheld(ctx)
	r.boundWarm(ctx)
	return nil
}

// endUnheld goes on with releases that the store or the engine refused.
func (r *Registry) endUnheld(ctx context.Context) {
	r.mu.Lock()
	owed := maps.Clone(r.owed)
	var unheld []core.ContainerKey
	for key, w := range r.rows {
		if w.unheld {
			unheld = append(unheld, key)
		}
	}
	r.mu.Unlock()
	for l, e := range owed {
		_ = r.release(ctx, l.Container, l.Holder, e) // it logs, and is tried again
	}
	for _, key := range unheld {
		_ = r.stopUnheld(ctx, key)
	}
}

// idle are the rows that nothing is being done to.
func (r *Registry) idle() (out []core.Container) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.rows {
		if !w.busy {
			out = append(out, w.Container)
		}
	}
	return out
}

// settle brings a row, as it was before the engine was asked, in line with what
// the engine says. One that somebody has moved since is left to the next look.
func (r *Registry) settle(ctx context.Context, c core.Container, f core.ContainerFacts) {
	var err error
	switch {
	case c.ID == "":
		// Loop ended between the engine's answer and writing it down: no run knows
		// this container, so it goes at once.
		if err = r.identify(ctx, c.Key, f.ID); err == nil {
			err = r.move(ctx, c.Key, core.ContainerPendingRemoval, time.Now())
		}
	case f.Running && (c.Status == core.ContainerReserved || c.Status == core.ContainerStopped):
		removeAt := c.RemoveAt
		if c.Status == core.ContainerStopped {
			removeAt = time.Time{} // the time was set by its end, which did not last
		}
		err = r.moveFrom(ctx, c, core.ContainerRunning, removeAt)
	case !f.Running:
		if cur, ok := r.row(c.Key); ok && cur == c {
			err = r.ended(ctx, c.Key)
		}
	}
	if err != nil {
		r.log.Warn("settle container", "container_name", c.Name, "err", err)
	}
}

// adopt gives a row to a container of this install that has none. Nobody holds it.
func (r *Registry) adopt(ctx context.Context, f core.ContainerFacts) {
	if r.knows(f) {
		return
	}
	// The list may be older than a removal that just happened.
	f, err := r.o.Engine.Inspect(ctx, f.ID)
	if err != nil || f.Labels[core.LabelInstall] != r.o.Install {
		return
	}
	now := time.Now()
	c := core.Container{
		Key: core.ContainerKey(core.NewID()), ID: f.ID, Name: f.Name,
		ChannelID: core.ChannelID(f.Labels[core.LabelChannel]), RunID: core.RunID(f.Labels[core.LabelRun]),
		Type: core.ContainerType(f.Labels[core.LabelType]), Status: core.ContainerStopped, Image: f.ImageID,
		Hash: f.Labels[core.LabelHash], CreatedAt: f.CreatedAt, RemoveAt: now.Add(r.o.Keep()),
	}
	if f.Running {
		c.Status = core.ContainerRunning
	}
	if r.knows(f) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.o.Store.ReserveContainer(ctx, c, core.Holder{}); err != nil {
		r.log.Warn("adopt container", "container_name", c.Name, "err", err)
		return
	}
	r.rows[c.Key] = &row{Container: c}
	r.log.Info("container without a row adopted; it goes at its time", "container_name", c.Name, "remove_at", c.RemoveAt)
	r.publish(core.EventContainerAdded, c)
	r.wake()
}

// knows reports whether there is a row for what the engine has.
func (r *Registry) knows(f core.ContainerFacts) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.named(f.Name)
	return r.of(f.ID) != nil || w != nil && w.ID == ""
}

// handle applies one event of the engine.
func (r *Registry) handle(ctx context.Context, ev core.ContainerEvent) {
	if ev.Kind == core.ContainerResync {
		r.reconcile(ctx)
		return
	}
	r.mu.Lock()
	w := r.of(ev.ID)
	if w == nil || w.busy {
		r.mu.Unlock()
		return // not known yet, or its maker sees for itself
	}
	c := w.Container
	r.mu.Unlock()
	var err error
	switch {
	case ev.Kind == core.ContainerStarted && c.Status != core.ContainerRunning && c.Status != core.ContainerPendingRemoval:
		err = r.moveFrom(ctx, c, core.ContainerRunning, time.Time{})
	case ev.Kind == core.ContainerDied:
		err = r.ended(ctx, c.Key)
	case ev.Kind == core.ContainerDestroyed:
		r.drop(ctx, c.Key)
	}
	if err != nil {
		r.log.Warn("follow the engine", "container_name", c.Name, "event", ev.Kind, "err", err)
	}
}

// untilNextRemoval is the time to the earliest removal, an hour if there is none.
func (r *Registry) untilNextRemoval() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	wait := time.Hour
	now := time.Now()
	for _, w := range r.rows {
		if !w.RemoveAt.IsZero() && !w.busy && w.going == 0 {
			wait = min(wait, max(w.RemoveAt.Sub(now), 0))
		}
	}
	return wait
}

// removeNow removes a container that is due, and returns nil once it is gone; what
// the engine refuses Run tries again. From its beginning nobody joins, or would go on
// with a container that is about to be killed.
func (r *Registry) removeNow(ctx context.Context, key core.ContainerKey) (err error) {
	now := time.Now()
	var c core.Container
	_ = r.with(key, func(w *row) error {
		if !w.RemoveAt.IsZero() && !w.RemoveAt.After(now) && !w.busy && w.going == 0 {
			w.going++
			c = w.Container
		}
		return nil
	})
	if c.Key == "" {
		return nil // gone, taken back or put off meanwhile
	}
	defer r.over(key, func(w *row) { w.going-- })
	cctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if c.Status != core.ContainerPendingRemoval {
		if err := r.move(cctx, key, core.ContainerPendingRemoval, c.RemoveAt); err != nil {
			r.log.Warn("mark container for removal", "container_name", c.Name, "err", err)
		}
	}
	if c.ID != "" {
		if err = r.removed(cctx, c.ID); err == nil {
			r.drop(cctx, key)
		}
	}
	if cur, ok := r.row(key); ok { // still there: later
		if merr := r.move(cctx, key, cur.Status, time.Now().Add(retryRemoval)); merr != nil && ctx.Err() == nil {
			r.log.Warn("put off removal", "container_name", c.Name, "err", merr)
		}
	}
	return err
}
