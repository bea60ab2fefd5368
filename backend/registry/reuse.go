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
	// idleFor and oldAfter end a container of a scope that nobody holds; OpenClaw's.
	idleFor  = 24 * time.Hour
	oldAfter = 7 * 24 * time.Hour
	// closeTime bounds what Close does, which takes a container some tenths of a second:
	// nobody is to wait longer for the end of Loop. What goes on serves the next launch.
	closeTime = 3 * time.Second
)

// course is what is done about the container of a scope when somebody wants it.
type course int

const (
	courseJoin  course = iota // it serves as it is
	courseStart               // it serves once it runs again
	courseDrain               // another is made, and this one ends with those that hold it
)

// judge decides about a container, as the registry and the engine have it. A change of
// what the spec reaches, or of its rights, is never put off.
func judge(c core.Container, held, running bool, spec core.Spec, rights string, now time.Time) course {
	switch {
	case c.Fixed != spec.Fixed || c.Rights != rights || !held && expired(c, now) != "":
		return courseDrain
	case c.Hash != spec.Hash && (!running || now.Sub(c.LastUsedAt) >= core.HotWindow):
		return courseDrain
	case !running:
		return courseStart
	}
	return courseJoin
}

// expired says why a container of a scope that nobody holds is to end; empty is not.
func expired(c core.Container, now time.Time) string {
	switch {
	case now.Sub(c.CreatedAt) >= oldAfter:
		return fmt.Sprintf("it was made more than %d days ago", int(oldAfter/(24*time.Hour)))
	case now.Sub(c.LastUsedAt) >= idleFor:
		return fmt.Sprintf("nobody used it for %d hours", int(idleFor/time.Hour))
	}
	return ""
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

// take waits for the turn; the caller calls done.
func (t *turns) take(ctx context.Context, scope string) (done func(), err error) {
	t.mu.Lock()
	one := t.all[scope]
	if one == nil {
		one = &turn{place: make(chan struct{}, 1)}
		t.all[scope] = one
	}
	one.waiting++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if one.waiting--; one.waiting == 0 {
			delete(t.all, scope)
		}
	}
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
	way := judge(c, r.held(c.Key), facts.Running, spec, rights, time.Now())
	switch way {
	case courseJoin:
		err = r.Hold(ctx, c.ID, h)
	case courseStart:
		_, err = r.starter.start(ctx, spec, func() (core.Container, error) { return c, r.restart(ctx, c.Key, h) })
	case courseDrain:
		return got, r.drain(ctx, c.Key)
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
	return got, r.drain(ctx, c.Key)
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

// drain takes a container out of its scope. Those that hold it keep it; nobody joins.
func (r *Registry) drain(ctx context.Context, key core.ContainerKey) error {
	err := r.with(key, func(w *row) error {
		c := w.Container
		c.Scope = ""
		if len(w.holders) == 0 {
			c = r.afterLast(c, core.Ending{})
		}
		if err := r.o.Store.UpdateContainer(ctx, c); err != nil {
			return fmt.Errorf("drain container %s: %w", w.Name, err)
		}
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
	select {
	case r.drained <- struct{}{}:
	default:
	}
	return nil
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
	return true, r.drain(ctx, c.Key)
}

// endExpired ends containers that nobody holds and whose time is over.
func (r *Registry) endExpired(ctx context.Context) {
	now := time.Now()
	type due struct {
		core.Container
		why string
	}
	var all []due
	r.mu.Lock()
	for _, w := range r.rows {
		if why := expired(w.Container, now); w.Scope != "" && len(w.holders) == 0 && !w.busy && why != "" {
			all = append(all, due{w.Container, why})
		}
	}
	r.mu.Unlock()
	for _, d := range all {
		done, err := r.turns.take(ctx, d.Scope)
		if err != nil {
			return
		}
		if c, ok := r.row(d.Key); ok && c.Scope != "" && !r.held(d.Key) && expired(c, time.Now()) != "" {
			r.log.Info("container ends", "container_name", c.Name, "why", d.why)
			if err := r.drain(ctx, c.Key); err != nil {
				r.log.Warn("end container", "container_name", c.Name, "err", err)
			}
		}
		done()
	}
}

// Close stops the containers of scopes that nobody holds, when Run has returned: nobody
// would end them while Loop is away. The next of their scope starts them again. One that
// the engine does not stop in time goes on until then, which is no fault of what was done.
func (r *Registry) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	var keys []core.ContainerKey
	r.mu.Lock()
	for key, w := range r.rows {
		if w.Scope != "" && w.Status == core.ContainerRunning && len(w.holders) == 0 {
			keys = append(keys, key)
		}
	}
	r.mu.Unlock()
	var all sync.WaitGroup
	for _, key := range keys {
		all.Go(func() {
			err := r.stop(ctx, key, func(w *row) bool { return len(w.holders) == 0 })
			if err != nil && !errors.Is(err, core.ErrNotFound) && !errors.Is(err, core.ErrConflict) {
				r.log.Warn("stop a container that nobody holds", "container", key, "err", err)
			}
		})
	}
	all.Wait()
}

// held reports whether anybody holds a container.
func (r *Registry) held(key core.ContainerKey) (is bool) {
	_ = r.with(key, func(w *row) error { is = len(w.holders) > 0; return nil })
	return is
}
