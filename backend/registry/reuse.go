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

// course is what is done about the container of a scope when somebody wants it.
type course int

const (
	courseJoin  course = iota // it serves as it is
	courseStart               // it serves once it runs again
	courseDrain               // another is made, and this one ends with those that hold it
)

// judge decides about a container, as the registry and the engine have it, and says why it
// does not serve any more. A change of what the spec reaches, or of its rights, is never
// put off.
func judge(c core.Container, held, running bool, spec core.Spec, rights string, now time.Time) (course, string) {
	ended := expired(c, now)
	switch {
	case c.Fixed != spec.Fixed:
		return courseDrain, "did not reach what the settings say now"
	case c.Rights != rights:
		return courseDrain, "had other credentials"
	case !held && ended != "":
		return courseDrain, ended
	case c.Hash != spec.Hash && (!running || now.Sub(c.LastUsedAt) >= core.HotWindow):
		return courseDrain, "was made by other settings"
	case !running:
		return courseStart, ""
	}
	return courseJoin, ""
}

// turns lets one caller at a time see to the container of a scope.
type turns struct {
	mu  sync.Mutex
	all map[string]*turn
}

type turn struct {
	place   chan struct{} // has one
	waiting int           // who has it or waits for it
}

func newTurns() turns { return turns{all: map[string]*turn{}} }

// join is a turn that the caller has or waits for until it calls leave.
func (t *turns) join(scope string) (one *turn, leave func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if one = t.all[scope]; one == nil {
		one = &turn{place: make(chan struct{}, 1)}
		t.all[scope] = one
	}
	one.waiting++
	return one, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if one.waiting--; one.waiting == 0 {
			delete(t.all, scope)
		}
	}
}

// try is take, and does not wait: ok is false while somebody else has the turn.
func (t *turns) try(scope string) (done func(), ok bool) {
	one, leave := t.join(scope)
	select {
	case one.place <- struct{}{}:
		return func() { <-one.place; leave() }, true
	default:
		leave()
		return nil, false
	}
}

// take waits for the turn; the caller calls done.
func (t *turns) take(ctx context.Context, scope string) (done func(), err error) {
	one, leave := t.join(scope)
	select {
	case one.place <- struct{}{}:
		return func() { <-one.place; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, fmt.Errorf("wait for the container of %s: %w", scope, ctx.Err())
	}
}

// Acquire holds the container that a spec describes, and makes and starts it where there
// is none. With a scope, one that was made for it serves again unless its rights, a
// digest of the credentials that programs in it get, or what it reaches are others; one
// whose Hash is not the spec's keeps other settings of before, because it was used a
// moment ago. A container that does not serve any more is drained. The spec is validated
// as the last step before a container is started. Errors are those of the last look, the
// store and the engine; with one, nothing is held.
func (r *Registry) Acquire(ctx context.Context, spec core.Spec, rights string, h core.Holder) (core.Container, error) {
	if spec.Labels[core.LabelInstall] != r.o.Install || r.o.Install == "" {
		return core.Container{}, fmt.Errorf("start container %s: its install label is not this install's", spec.Name)
	}
	if spec.Scope != "" {
		done, err := r.turns.take(ctx, spec.Scope)
		if err != nil {
			return core.Container{}, err
		}
		defer done()
		for {
			c, ok := r.ofScope(spec.Scope)
			if !ok {
				break
			}
			got, err := r.reuse(ctx, c, spec, rights, h)
			if err != nil || got.ID != "" {
				return got, err
			}
		}
		spec.Name = r.freeName(spec.Name)
	}
	c, err := r.start(ctx, spec, rights, h)
	if spec.Scope != "" && errors.Is(err, core.ErrConflict) { // somebody else's container has the name
		spec.Name = otherName(spec.Name)
		c, err = r.start(ctx, spec, rights, h)
	}
	return c, err
}

func (r *Registry) start(ctx context.Context, spec core.Spec, rights string, h core.Holder) (core.Container, error) {
	if spec.Setup.Command != "" {
		return r.startSetUp(ctx, spec, rights, h)
	}
	return r.starter.start(ctx, spec, func() (core.Container, error) { return r.make(ctx, spec, rights, h) })
}

// reuse holds a scope's container if it serves; the zero container says that it is out of
// the way.
func (r *Registry) reuse(
	ctx context.Context, c core.Container, spec core.Spec, rights string, h core.Holder,
) (got core.Container, err error) {
	facts, err := r.Facts(ctx, c.ID)
	if errors.Is(err, core.ErrNotFound) {
		return got, nil // its row is dropped
	}
	if err != nil {
		return got, err
	}
	way, why := judge(c, r.held(c.Key), facts.Running, spec, rights, time.Now())
	switch way {
	case courseJoin:
		err = r.Hold(ctx, c.ID, h)
	case courseStart:
		_, err = r.starter.start(ctx, spec, func() (core.Container, error) { return c, r.restart(ctx, c.Key, h) })
	case courseDrain:
		return got, r.drain(ctx, c.Key, why)
	}
	if err == nil {
		got, _ = r.row(c.Key)
		return got, nil
	}
	if ctx.Err() != nil {
		return got, err
	}
	// It ended at this moment, or does not start again. Another does.
	r.log.Warn("container does not serve again", "container_name", c.Name, "err", err)
	return got, r.drain(ctx, c.Key, "had ended, and did not start again")
}

// restart starts a container that has ended, for a holder.
func (r *Registry) restart(ctx context.Context, key core.ContainerKey, h core.Holder) error {
	var id core.ContainerID
	err := r.with(key, func(w *row) error {
		if w.going > 0 || w.busy {
			return fmt.Errorf("start container %s, which is being ended: %w", w.Name, core.ErrNotRunning)
		}
		w.busy, id = true, w.ID
		return nil
	})
	if err != nil {
		return err
	}
	defer r.over(key, func(w *row) { w.busy = false })
	sctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := r.o.Engine.Start(sctx, id); err != nil {
		return err
	}
	return r.with(key, func(w *row) error { return r.holdLocked(ctx, w, h) })
}

// drain takes a container out of its scope, and says why. Those that hold it keep it;
// nobody joins.
func (r *Registry) drain(ctx context.Context, key core.ContainerKey, why string) error {
	err := r.with(key, func(w *row) error {
		c := w.Container
		c.Scope, c.Why = "", why
		if len(w.holders) == 0 {
			c = r.afterLast(c, core.Ending{})
		}
		if err := r.o.Store.UpdateContainer(ctx, c); err != nil {
			return fmt.Errorf("drain container %s: %w", w.Name, err)
		}
		r.log.Info("container takes no new work", "container_name", w.Name, "why", why)
		r.lastWhy[w.Scope] = why
		w.unheld = len(w.holders) == 0 && c.Status == core.ContainerRunning
		r.moved(w, c)
		return nil
	})
	if errors.Is(err, core.ErrNotFound) {
		return nil // it has gone meanwhile
	}
	if err != nil {
		return err
	}
	r.setAside(ctx, key)
	r.look()
	return nil
}

// look has Run look at what nobody holds.
func (r *Registry) look() {
	select {
	case r.drained <- struct{}{}:
	default:
	}
}

// setAside gives a drained container another name, so that its successor has its own. An
// engine that refuses leaves the successor with a name of its own.
func (r *Registry) setAside(ctx context.Context, key core.ContainerKey) {
	c, ok := r.row(key)
	if !ok || c.ID == "" || c.Scope != "" {
		return
	}
	name := otherName(c.Name)
	if err := r.o.Engine.Rename(ctx, c.ID, name); err != nil {
		r.log.Debug("rename container", "container_name", c.Name, "err", err)
		return
	}
	_ = r.with(key, func(w *row) error {
		c := w.Container
		c.Name = name
		if err := r.o.Store.UpdateContainer(ctx, c); err != nil {
			r.log.Warn("record the name of a container", "container_name", name, "err", err)
			return err // the engine's name shows; the row is found by its id
		}
		r.moved(w, c)
		return nil
	})
}

// otherName is a container's name with another end, which has six digits.
func otherName(name string) string {
	return name[:strings.LastIndexByte(name, '-')+1] + core.NewID()[:6]
}

// freeName is a name that no row has.
func (r *Registry) freeName(name string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.named(name) != nil {
		name = otherName(name)
	}
	return name
}

// InScopes are the containers of scopes that take new work.
func (r *Registry) InScopes(scopes ...string) (out []core.Container) {
	for _, scope := range scopes {
		if c, ok := r.ofScope(scope); ok {
			out = append(out, c)
		}
	}
	return out
}

// HeldBy reports whether a holder of one of some kinds holds a container.
func (r *Registry) HeldBy(id core.ContainerID, kinds ...core.HolderKind) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.of(id)
	return w != nil && slices.ContainsFunc(w.holders, func(h core.Holder) bool { return slices.Contains(kinds, h.Kind) })
}

// ofScope is the container of a scope that takes new work.
func (r *Registry) ofScope(scope string) (core.Container, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.rows {
		if w.Scope == scope && w.ID != "" {
			return w.Container, true
		}
	}
	return core.Container{}, false
}

// Used notes that somebody works in a container now. It is cheap, and may be called with
// every key.
func (r *Registry) Used(id core.ContainerID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.of(id); w != nil {
		w.LastUsedAt = time.Now() // the store gets it with the next step
	}
}

// Recreate has a scope's next container made anew, whatever the settings say: the present
// one is drained. It reports whether there was one.
func (r *Registry) Recreate(ctx context.Context, scope string) (bool, error) {
	done, err := r.turns.take(ctx, scope)
	if err != nil {
		return false, err
	}
	defer done()
	c, ok := r.ofScope(scope)
	if !ok {
		return false, nil
	}
	return true, r.drain(ctx, c.Key, "was to be made anew, as a person said")
}

// held reports whether anybody holds a container.
func (r *Registry) held(key core.ContainerKey) (is bool) {
	_ = r.with(key, func(w *row) error { is = len(w.holders) > 0; return nil })
	return is
}
