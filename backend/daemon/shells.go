package daemon

import (
	"context"
	"errors"
	"fmt"

	"loop/backend/core"
	"loop/backend/provision"
	"loop/backend/terminal"
)

// shells are the containers of terminals: the registry's, and for a container
// that Loop did not make what the engine says of it.
type shells struct{ d *Daemon }

var _ terminal.Containers = shells{}

// FindShell is the channel's shell container that runs. One whose removal is due
// is kept.
func (s shells) FindShell(ctx context.Context, ch core.ChannelID) (core.Container, bool, error) {
	for _, c := range s.d.containers.List() {
		if c.ChannelID != ch || c.Type != core.TypeShell || c.ID == "" {
			continue
		}
		switch _, err := s.d.containers.Join(ctx, c.ID, core.Holder{Kind: core.HolderPerson, ID: string(ch)}); {
		case err == nil:
			return c, true, nil
		case errors.Is(err, core.ErrNotFound), errors.Is(err, core.ErrNotRunning), errors.Is(err, core.ErrConflict):
			// it has ended; the registry removes it in its time
		default:
			return core.Container{}, false, fmt.Errorf("look for the shell container: %w", err)
		}
	}
	return core.Container{}, false, nil
}

// CreateShell makes a container that stays until it is removed; loop init is its
// only process until a terminal is opened.
func (s shells) CreateShell(ctx context.Context, id core.ChannelID) (core.Container, error) {
	ch, err := s.d.store.Channel(ctx, id)
	if err != nil {
		return core.Container{}, core.Fail(core.CodeNotFound, err, "There is no such channel.", "Choose one of the list.")
	}
	lease, err := s.d.provision.Ensure(ctx, provision.Want{
		Channel: ch, Type: core.TypeShell, Settings: s.d.settingsReader(s.d.settings.Waits),
		Holder: core.Holder{Kind: core.HolderPerson, ID: string(id)},
	})
	if err != nil {
		return core.Container{}, fmt.Errorf("shell container: %w", err)
	}
	return lease.Container(), nil
}

func (s shells) Running(ctx context.Context, id core.ContainerID) (c core.Container, ours, running bool, err error) {
	facts, err := s.d.containers.Facts(ctx, id)
	if err != nil {
		return core.Container{ID: id}, false, false, err
	}
	for _, c := range s.d.containers.List() {
		if c.ID == facts.ID {
			return c, true, facts.Running, nil
		}
	}
	return core.Container{ID: facts.ID, Name: facts.Name}, false, facts.Running, nil
}

func (s shells) Paused(ctx context.Context, id core.ContainerID) bool {
	facts, err := s.d.containers.Facts(ctx, id)
	return err == nil && facts.Paused
}

// Remove ends a container of ours. Others' are never removed: the person made
// them for something else.
func (s shells) Remove(ctx context.Context, id core.ContainerID) error {
	_, ours, _, err := s.Running(ctx, id)
	if errors.Is(err, core.ErrNotFound) || (err == nil && !ours) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := s.d.containers.Remove(ctx, id); err != nil && !errors.Is(err, core.ErrNotFound) {
		return fmt.Errorf("remove the container: %w", err)
	}
	return nil
}
