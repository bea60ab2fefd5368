package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"loop/backend/core"
)

const (
	// judgeEvery is how often Run looks whose time is over.
	judgeEvery = 5 * time.Minute
	// longestKeep is the most that the settings have a stopped container kept for.
	longestKeep = 7 * 24 * time.Hour
	// closeTime bounds what Close does, which takes a container some tenths of a second:
	// nobody is to wait longer for the end of Loop. What goes on serves the next launch.
	closeTime = 3 * time.Second
)

// expired says why a container of a scope that nobody holds is to end, by the policy that
// it was made under; empty is not.
func expired(c core.Container, now time.Time) string {
	switch {
	case c.Life.Age > 0 && now.Sub(c.CreatedAt) >= c.Life.Age:
		return "was made more than " + days(c.Life.Age) + " ago"
	case c.Life.Idle > 0 && now.Sub(c.LastUsedAt) >= c.Life.Idle:
		return "was not used for " + days(c.Life.Idle)
	}
	return ""
}

// days is a time in whole hours, or in days where it has more than two.
func days(d time.Duration) string {
	n, unit := int(d/time.Hour), "hour"
	if day := 24 * time.Hour; d > 2*day && d%day == 0 {
		n, unit = int(d/day), "day"
	}
	if n != 1 {
		unit += "s"
	}
	return fmt.Sprint(n, " ", unit)
}

// madeAnew says why the container of a scope is another than before.
func (r *Registry) madeAnew(scope string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if why := r.lastWhy[scope]; why != "" && scope != "" {
		return "takes the place of one that " + why
	}
	return ""
}

// told notes that the successor of a drained container is there.
func (r *Registry) told(scope string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.lastWhy, scope)
}

// endExpired ends containers that nobody holds and whose time is over, at most every
// judgeEvery.
func (r *Registry) endExpired(ctx context.Context) {
	now := time.Now()
	r.mu.Lock()
	due := r.judged.IsZero() || now.Sub(r.judged) >= judgeEvery
	if due {
		r.judged = now
	}
	r.mu.Unlock()
	if !due {
		return
	}
	r.mendClock(ctx, now)
	for _, c := range r.unheld() {
		if expired(c, now) == "" {
			continue
		}
		r.inTurn(c, func(c core.Container) error {
			if why := expired(c, time.Now()); why != "" {
				return r.drain(ctx, c.Key, why)
			}
			return nil
		})
	}
}

// endLeft ends containers that are the terminals' alone, once the last of these is closed and
// nothing runs there any more. One that cannot be asked goes on. It is asked again with each
// reconcile: a terminal may give back its container milliseconds before its last process ends.
func (r *Registry) endLeft(ctx context.Context) {
	for _, c := range r.unheld() {
		if c.Status != core.ContainerRunning || !strings.HasPrefix(c.Scope, string(core.TypeShell)+":") {
			continue
		}
		r.inTurn(c, func(c core.Container) error {
			ctx, cancel := context.WithTimeout(ctx, callTimeout)
			defer cancel()
			busy, err := r.o.Busy(ctx, c)
			if busy || err != nil {
				return err
			}
			if err := r.drain(ctx, c.Key, "was left by its last terminal"); err != nil {
				return err
			}
			r.told(c.Scope) // nobody misses what was in it
			return nil
		})
	}
}

// Stop stops a container because a person said so, whoever holds it: core.ErrConflict while a
// run, git or a set-up does, and core.ErrNotRunning where it has stopped. One of a scope is
// started again for the next of the scope. One that is gone, or that this install did not
// make, is core.ErrNotFound.
func (r *Registry) Stop(ctx context.Context, id core.ContainerID) error {
	c, ok := r.byID(id)
	if !ok {
		return fmt.Errorf("stop container %s: %w", id, core.ErrNotFound)
	}
	if c.Status != core.ContainerRunning {
		return fmt.Errorf("stop container %s: %w", id, core.ErrNotRunning)
	}
	if c.Scope != "" {
		done, err := r.turns.take(ctx, c.Scope)
		if err != nil {
			return err
		}
		defer done()
	}
	working := []core.HolderKind{core.HolderRun, core.HolderGit, core.HolderSetUp}
	err := r.stop(ctx, c.Key, func(w *row) bool {
		return !slices.ContainsFunc(w.holders, func(h core.Holder) bool { return slices.Contains(working, h.Kind) })
	})
	if err != nil {
		return err
	}
	return r.explain(ctx, c.Key, "was stopped by a person")
}

// mendClock takes times that have not come yet for now: the computer's clock was ahead when
// they were written, and the container would stay for as long on top.
func (r *Registry) mendClock(ctx context.Context, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.rows {
		c := w.Container
		if c.CreatedAt.After(now) {
			c.CreatedAt = now
		}
		if c.LastUsedAt.After(now) {
			c.LastUsedAt = now
		}
		if last := now.Add(longestKeep); c.RemoveAt.After(last) {
			c.RemoveAt = last
		}
		if c == w.Container {
			continue
		}
		if err := r.o.Store.UpdateContainer(ctx, c); err != nil {
			r.log.Warn("correct the times of a container", "container_name", c.Name, "err", err)
			continue // it is tried again with the next look
		}
		r.moved(w, c)
	}
}

// unheld are the containers of scopes that nobody holds and nothing is done to.
func (r *Registry) unheld() (out []core.Container) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.rows {
		if w.free() {
			out = append(out, w.Container)
		}
	}
	return out
}

func (w *row) free() bool {
	return w.Scope != "" && w.ID != "" && len(w.holders) == 0 && !w.busy && w.going == 0
}

// inTurn does something with a container as it is then, if nobody holds it or is about to.
func (r *Registry) inTurn(c core.Container, do func(core.Container) error) {
	done, ok := r.turns.try(c.Scope)
	if !ok {
		return // whoever has the turn uses it
	}
	defer done()
	is := false
	_ = r.with(c.Key, func(w *row) error { is, c = w.free(), w.Container; return nil }) // else it is gone
	if !is {
		return
	}
	if err := do(c); err != nil && !errors.Is(err, core.ErrNotFound) && !errors.Is(err, core.ErrConflict) {
		r.log.Warn("end a container that nobody holds", "container_name", c.Name, "err", err)
	}
}

// leastWarm is how many containers go on without holders however little memory there is.
const leastWarm = 2

// tooMany says why the first of the containers that nobody holds is one too many; empty is
// not. They are in the order of their last use.
func tooMany(free []core.Container, most int, memory int64) string {
	if most > 0 {
		if len(free) > most {
			return fmt.Sprintf("was idle for longer than %d others (container_warm_max)", most)
		}
		return ""
	}
	sum := int64(0)
	for _, c := range free {
		sum += c.Memory
	}
	if memory > 0 && len(free) > leastWarm && sum > memory/2 {
		return fmt.Sprintf("was idle for longest of %d, which may take more than half of the engine's memory", len(free))
	}
	return ""
}

// boundWarm stops the containers that were idle for longest while there are too many.
func (r *Registry) boundWarm(ctx context.Context) {
	free := slices.DeleteFunc(r.unheld(), func(c core.Container) bool { return c.Status != core.ContainerRunning })
	if len(free) == 0 {
		return
	}
	slices.SortFunc(free, func(a, b core.Container) int { return a.LastUsedAt.Compare(b.LastUsedAt) })
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	for most, memory := r.o.Warm(), r.o.Memory(ctx); len(free) > 0; free = free[1:] {
		why := tooMany(free, most, memory)
		if why == "" {
			return
		}
		r.inTurn(free[0], func(c core.Container) error { return r.stopWarm(ctx, c.Key, why) })
	}
}

// What becomes of the containers that nobody holds when Loop ends.
const (
	ExitKeep   = "keep"   // they go on, and those of scopes serve the next launch at once
	ExitStop   = "stop"   // those of scopes are stopped; the next of their scope starts them again
	ExitRemove = "remove" // all are removed
)

// Close does that, when Run has returned. What the engine does not do in time is left to the
// next launch, which is no fault of what was done.
func (r *Registry) Close(exit string) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	var all sync.WaitGroup
	defer all.Wait()
	if exit == ExitRemove {
		for _, id := range r.withoutHolders() {
			all.Go(func() {
				if err := r.Remove(ctx, id); err != nil && !errors.Is(err, core.ErrNotFound) {
					r.log.Warn("remove a container that nobody holds", "container", id, "err", err)
				}
			})
		}
	}
	if exit != ExitStop {
		return
	}
	for _, c := range r.unheld() {
		if c.Status == core.ContainerRunning {
			all.Go(func() {
				r.inTurn(c, func(c core.Container) error { return r.stopWarm(ctx, c.Key, "was stopped with Loop") })
			})
		}
	}
}

// withoutHolders are all containers that nobody holds.
func (r *Registry) withoutHolders() (out []core.ContainerID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.rows {
		if w.ID != "" && len(w.holders) == 0 {
			out = append(out, w.ID)
		}
	}
	return out
}

// stopWarm stops a container of a scope that nobody holds, and says why. The next of its
// scope starts it again.
func (r *Registry) stopWarm(ctx context.Context, key core.ContainerKey, why string) error {
	err := r.stop(ctx, key, func(w *row) bool { return len(w.holders) == 0 })
	if err != nil {
		return err
	}
	r.log.Info("container was stopped", "container", key, "why", why)
	return r.explain(ctx, key, why)
}

// explain writes down why a container is as it is.
func (r *Registry) explain(ctx context.Context, key core.ContainerKey, why string) error {
	return r.with(key, func(w *row) error {
		c := w.Container
		if c.Why = why; c == w.Container {
			return nil
		}
		if err := r.o.Store.UpdateContainer(ctx, c); err != nil {
			return fmt.Errorf("record why container %s is %s: %w", w.Name, w.Status, err)
		}
		r.moved(w, c)
		return nil
	})
}
