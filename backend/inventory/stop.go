package inventory

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"loop/backend/core"
)

// Stop stops the container that a person names, by its name or the beginning of its id, and
// returns it. The next run or terminal of a channel starts the channel's again.
func (s *Service) Stop(ctx context.Context, name string) (core.Container, error) {
	v, err := s.named(name)
	c := v.Container
	if err != nil {
		return c, err
	}
	switch err = s.o.Containers.Stop(ctx, c.ID); {
	case errors.Is(err, core.ErrConflict):
		return c, core.Fail(core.CodeConflict, err, "Something works in this container.", "Stop the run, or wait for its end.")
	case errors.Is(err, core.ErrNotRunning):
		return c, core.Fail(core.CodeConflict, err, "This container does not run.", "The next run or terminal of its channel starts it.")
	case errors.Is(err, core.ErrNotFound):
		return c, gone(err)
	case err != nil:
		return c, fmt.Errorf("stop the container: %w", err)
	}
	return c, nil
}

// Remove removes the container that a person names. One that somebody holds is removed only
// with force, which ends what works in it.
func (s *Service) Remove(ctx context.Context, name string, force bool) (core.Container, error) {
	v, err := s.named(name)
	c := v.Container
	if err != nil {
		return c, err
	}
	if force {
		err = s.o.Containers.Remove(ctx, c.ID)
	} else {
		err = s.o.Containers.RemoveUnheld(ctx, c.ID)
	}
	switch {
	case errors.Is(err, core.ErrConflict):
		return c, core.Fail(core.CodeConflict, err, "Somebody uses this container: "+s.users(c.ID)+".",
			"Wait for its end, or end what works in it with “loop rm --force”.")
	case errors.Is(err, core.ErrNotFound):
		return c, gone(err)
	case err != nil:
		return c, fmt.Errorf("remove the container: %w", err)
	}
	return c, nil
}

// users names who holds a container now.
func (s *Service) users(id core.ContainerID) string {
	for _, v := range s.o.Containers.Views() {
		if v.ID == id && len(v.Holders) > 0 {
			var names []string
			for _, h := range v.Holders {
				names = append(names, h.String())
			}
			return strings.Join(names, ", ")
		}
	}
	return "it is about to be joined"
}

// Prune removes the containers that would be ended anyway and those that have stopped, which
// nobody holds, of those in only if any are in it; with dry it only says which.
func (s *Service) Prune(ctx context.Context, dry bool, only []core.ContainerID) ([]core.PrunedContainer, error) {
	out, err := s.o.Containers.Prune(ctx, dry, only)
	if err != nil {
		return out, fmt.Errorf("prune containers: %w", err)
	}
	return out, nil
}
