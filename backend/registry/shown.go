package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"loop/backend/backoff"
	"loop/backend/core"
)

// Views are the containers of List, with who holds them and when they end.
func (r *Registry) Views() []core.ContainerView {
	list, now := r.List(), time.Now()
	out := make([]core.ContainerView, 0, len(list))
	for _, c := range list {
		_ = r.with(c.Key, func(w *row) error { out = append(out, w.view(now)); return nil }) // else it has gone meanwhile
	}
	return out
}

func (w *row) view(now time.Time) core.ContainerView {
	c := w.Container
	v := core.ContainerView{
		Container: c, SessionKey: c.Scope, CreatedAtMs: c.CreatedAt.UnixMilli(), ConfigHash: c.Hash,
		Warm: w.free() && c.Status == core.ContainerRunning, Holders: append([]core.Holder{}, w.holders...),
		Policy: core.ContainerPolicy{IdleSec: int64(c.Life.Idle / time.Second), MaxAgeSec: int64(c.Life.Age / time.Second)},
	}
	if !c.LastUsedAt.IsZero() {
		v.LastUsedAtMs = c.LastUsedAt.UnixMilli()
	}
	v.EndsAt, v.EndsWhy = w.end(now)
	return v
}

// end says when a container ends if nobody uses it until then, and by which rule.
func (w *row) end(now time.Time) (at time.Time, why string) {
	c := w.Container
	switch {
	case !c.RemoveAt.IsZero() && c.Status == core.ContainerRunning:
		return c.RemoveAt, "is ending, because nobody holds it"
	case !c.RemoveAt.IsZero():
		return c.RemoveAt, "is kept for a look until it is removed"
	case slices.ContainsFunc(w.holders, func(h core.Holder) bool { return h.Kind == core.HolderPerson }):
		return at, "stays until it is removed by hand"
	case len(w.holders) > 0 && c.Scope == "":
		return at, "ends with the last who holds it"
	case len(w.holders) > 0:
		return at, "stays while it is held"
	case c.Scope == "":
		return at, "ends soon, because nobody holds it"
	}
	if why := expired(c, now); why != "" {
		return now, "ends, because it " + why
	}
	if c.Life.Idle > 0 {
		at, why = c.LastUsedAt.Add(c.Life.Idle), "ends once it was not used for "+days(c.Life.Idle)
	}
	if old := c.CreatedAt.Add(c.Life.Age); c.Life.Age > 0 && (at.IsZero() || old.Before(at)) {
		at, why = old, "ends "+days(c.Life.Age)+" after it was made"
	}
	if at.IsZero() {
		why = "has no time to end at"
	}
	return at, why
}

// prunable says why a container may go now, though the settings would keep it for longer;
// empty is not. What somebody holds or is about to have is never among them.
func (w *row) prunable(now time.Time) string {
	c := w.Container
	if w.ID == "" || len(w.holders) > 0 || w.busy || w.going > 0 {
		return ""
	}
	if c.Scope == "" {
		switch {
		case c.Why != "":
			return c.Why
		case c.Status == core.ContainerRunning:
			return "is held by nobody, and takes no new work"
		}
		return "has stopped, and was kept for a look"
	}
	if why := expired(c, now); why != "" {
		return why
	}
	if c.Status == core.ContainerRunning {
		return ""
	}
	if c.Why != "" {
		return "has stopped: it " + c.Why
	}
	return "has stopped"
}

// Prune removes the containers that would be ended anyway, and those that have stopped, of
// those in only if any are in it; with dry it says which, and changes nothing. Nothing that
// anybody holds is among them, and nothing of another install. It returns those that went,
// with an error those until then.
func (r *Registry) Prune(ctx context.Context, dry bool, only []core.ContainerID) (out []core.PrunedContainer, err error) {
	now := time.Now()
	for _, c := range r.List() {
		if len(only) > 0 && !slices.Contains(only, c.ID) {
			continue
		}
		why := ""
		look := func(w *row) bool { why = w.prunable(now); return why != "" }
		if dry {
			_ = r.with(c.Key, func(w *row) error { look(w); return nil }) // else it has gone meanwhile
		} else if err = r.removeIf(ctx, c, look); errors.Is(err, core.ErrConflict) || errors.Is(err, core.ErrNotFound) {
			continue // it serves, or somebody else has removed it
		} else if err != nil {
			return out, err
		}
		if why != "" {
			out = append(out, core.PrunedContainer{ID: c.ID, Name: c.Name, ChannelID: c.ChannelID, Why: why})
		}
	}
	return out, nil
}

// RemoveUnheld removes a container at once, unless somebody holds it, which is
// core.ErrConflict. One that is gone, or that this install did not make, is core.ErrNotFound.
func (r *Registry) RemoveUnheld(ctx context.Context, id core.ContainerID) error {
	c, ok := r.byID(id)
	if !ok {
		return fmt.Errorf("remove container %s: %w", id, core.ErrNotFound)
	}
	return r.removeIf(ctx, c, func(w *row) bool { return len(w.holders) == 0 && !w.busy })
}

// removeIf removes a container for which may is true, in the turn of its scope: nobody joins
// between the look and the removal. core.ErrConflict: may is false, or somebody has taken it
// up again.
func (r *Registry) removeIf(ctx context.Context, c core.Container, may func(*row) bool) error {
	if c.Scope != "" {
		done, ok := r.turns.try(c.Scope)
		if !ok {
			return fmt.Errorf("remove container %s, which is about to be used: %w", c.ID, core.ErrConflict)
		}
		defer done()
	}
	for again := false; ; again = true {
		err := r.with(c.Key, func(w *row) error {
			if !may(w) {
				return fmt.Errorf("remove container %s, which is used: %w", c.ID, core.ErrConflict)
			}
			return r.moveLocked(ctx, w, core.ContainerPendingRemoval, time.Now())
		})
		if again && errors.Is(err, core.ErrNotFound) {
			return nil // whoever stopped it has seen it go
		}
		if err != nil {
			return err
		}
		if err := r.removeNow(ctx, c.Key); err != nil {
			return err
		}
		if r.held(c.Key) {
			return fmt.Errorf("remove container %s, which was taken up again: %w", c.ID, core.ErrConflict)
		}
		if !r.ending(c.Key) {
			return nil
		}
		if !backoff.Sleep(ctx, settleTick) {
			return fmt.Errorf("wait for the removal of container %s: %w", c.ID, ctx.Err())
		}
	}
}
