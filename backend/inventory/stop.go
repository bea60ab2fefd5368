package inventory

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"loop/backend/backoff"
	"loop/backend/core"
)

const (
	// leaveTime bounds the wait for what is about to leave a container. A run's programs have
	// seconds for their end, and git on a large folder takes as long; tenths of one are usual.
	leaveTime = 10 * time.Second
	leaveTick = 50 * time.Millisecond
)

// onceLeft does what is refused with core.ErrConflict while somebody holds the container. What is
// kept unused is given back, and where all that works in it is about to leave, it is tried again: a
// person sees the end of a run before the run has given its container back, and never sees git.
func (s *Service) onceLeft(ctx context.Context, id core.ContainerID, do func() error) error {
	ctx, cancel := context.WithTimeout(ctx, leaveTime)
	defer cancel()
	for again, waited := true, false; ; waited = true {
		err := do()
		if waited && (errors.Is(err, core.ErrNotFound) || errors.Is(err, core.ErrNotRunning)) {
			return nil // it was there only for who has left
		}
		if !errors.Is(err, core.ErrConflict) {
			return err
		}
		s.o.GiveBack(id)
		leaves, stays := s.working(ctx, id)
		switch {
		case stays:
			return err
		case leaves:
			if !backoff.Sleep(ctx, leaveTick) {
				return err
			}
		case again:
			again = false // the last one left between the refusal and the look
		default:
			return err
		}
	}
}

// working says what works in a container: whether some of it leaves by itself, and whether
// some stays.
func (s *Service) working(ctx context.Context, id core.ContainerID) (leaves, stays bool) {
	for _, v := range s.o.Containers.Views() {
		if v.ID != id {
			continue
		}
		for _, h := range v.Holders {
			switch h.Kind {
			case core.HolderRun:
				run, err := s.o.Channels.Run(ctx, core.RunID(h.ID))
				if err != nil || !run.State.Terminal() {
					return leaves, true
				}
				leaves = true
			case core.HolderGit:
				leaves = true
			case core.HolderSetUp:
				return leaves, true
			}
		}
	}
	return leaves, false
}

// Stop stops the container that a person names, by its name or the beginning of its id, and
// returns it. The next run or terminal of a channel starts the channel's again.
func (s *Service) Stop(ctx context.Context, name string) (core.Container, error) {
	v, err := s.named(name)
	c := v.Container
	if err != nil {
		return c, err
	}
	err = s.onceLeft(ctx, c.ID, func() error { return s.o.Containers.Stop(ctx, c.ID) })
	switch {
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
		err = s.onceLeft(ctx, c.ID, func() error { return s.o.Containers.RemoveUnheld(ctx, c.ID) })
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
