package hostrun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"loop/backend/core"
)

// Registry is that of containers, as the runner knows it.
type Registry interface {
	End(ctx context.Context, id core.ContainerID, h core.Holder) error
	Release(ctx context.Context, h core.Holder, e core.Ending) error
	Left(kind core.HolderKind) []string
	Facts(ctx context.Context, id core.ContainerID) (core.ContainerFacts, error)
	List() []core.Container
}

// Links opens links into containers.
type Links interface {
	Open(ctx context.Context, c core.Container) (core.Link, error)
}

// Places are containers, and this computer in the place of one. What is about a container
// goes to the registry; what is about this computer never does.
type Places struct {
	Registry
	Containers Links
	Host       *Service
}

// Open opens a link to a container, or to the programs of a run on this computer.
func (p Places) Open(ctx context.Context, c core.Container) (core.Link, error) {
	if !c.ID.OnHost() {
		return p.Containers.Open(ctx, c)
	}
	if c.ID != core.HostPlace(c.RunID) {
		return nil, fmt.Errorf("open link: %s is not of run %s: %w", c.ID, c.RunID, core.ErrNotFound)
	}
	return p.Host.Link(c.RunID, c.ChannelID)
}

// End ends the programs of a run on this computer. After that its place is gone, which
// core.ErrNotFound says, as of a container.
func (p Places) End(ctx context.Context, id core.ContainerID, h core.Holder) error {
	if !id.OnHost() {
		return p.Registry.End(ctx, id, h)
	}
	if err := p.Host.end(ctx, core.RunID(strings.TrimPrefix(string(id), string(core.HostPlace(""))))); err != nil {
		return err
	}
	return fmt.Errorf("%s has ended: %w", id, core.ErrNotFound)
}

// Facts implements Registry. This computer always runs.
func (p Places) Facts(ctx context.Context, id core.ContainerID) (core.ContainerFacts, error) {
	if id.OnHost() {
		return core.ContainerFacts{ID: id, Name: "this computer", Running: true}, nil
	}
	return p.Registry.Facts(ctx, id)
}

// Release also ends what a run has left on this computer, and forgets it.
func (p Places) Release(ctx context.Context, h core.Holder, e core.Ending) error {
	err := p.Registry.Release(ctx, h, e)
	if h.Kind == core.HolderRun {
		err = errors.Join(err, p.Host.clear(ctx, func(sp *spawn) bool { return string(sp.Run) == h.ID }))
	}
	return err
}

// Left also has the runs of an earlier launch that have left something on this computer.
func (p Places) Left(kind core.HolderKind) []string {
	ids := p.Registry.Left(kind)
	if kind != core.HolderRun {
		return ids
	}
	for _, sp := range p.Host.those(func(*spawn) bool { return true }) {
		if !slices.Contains(ids, string(sp.Run)) {
			ids = append(ids, string(sp.Run))
		}
	}
	return ids
}

// clear ends programs with their trees, and forgets them.
func (s *Service) clear(ctx context.Context, which func(*spawn) bool) (err error) {
	for _, sp := range s.those(which) {
		one := sp.prog.End(ctx)
		if one == nil {
			select {
			case <-sp.done:
				one = s.forget(ctx, sp)
			case <-sp.prog.Left():
				one = core.ErrLinkDown // Loop closes, and the next launch goes on
			case <-ctx.Done():
				one = ctx.Err()
			}
		}
		err = errors.Join(err, one)
	}
	return err
}
