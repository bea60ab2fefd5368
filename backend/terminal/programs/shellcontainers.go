package programs

import (
	"context"
	"errors"
	"fmt"

	"loop/backend/core"
	"loop/backend/provision"
	"loop/backend/registry"
	"loop/backend/terminal"
)

// Containers are those of terminals: the registry's, and for a container that Loop
// did not make what the engine says of it.
type Containers struct {
	Registry  *registry.Registry
	Provision *provision.Service
	Channels  Channels
	// Settings are read for a shell's container.
	Settings provision.Settings
}

var _ terminal.Containers = Containers{}

// FindShell is the channel's shell container that runs. One whose removal is due
// is kept.
func (c Containers) FindShell(ctx context.Context, ch core.ChannelID) (core.Container, bool, error) {
	for _, box := range c.Registry.List() {
		if box.ChannelID != ch || box.Type != core.TypeShell || box.ID == "" {
			continue
		}
		switch err := c.Registry.Hold(ctx, box.ID, core.Holder{Kind: core.HolderPerson, ID: string(ch)}); {
		case err == nil:
			return box, true, nil
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
func (c Containers) CreateShell(ctx context.Context, id core.ChannelID) (core.Container, error) {
	ch, err := c.Channels.Channel(ctx, id)
	if err != nil {
		return core.Container{}, core.Fail(core.CodeNotFound, err, "There is no such channel.", "Choose one of the list.")
	}
	lease, err := c.Provision.Ensure(ctx, provision.Want{
		Channel: ch, Type: core.TypeShell, Settings: c.Settings,
		Holder: core.Holder{Kind: core.HolderPerson, ID: string(id)},
	})
	if err != nil {
		return core.Container{}, fmt.Errorf("shell container: %w", err)
	}
	return lease.Container, nil
}

func (c Containers) Running(ctx context.Context, id core.ContainerID) (box core.Container, ours, running bool, err error) {
	facts, err := c.Registry.Facts(ctx, id)
	if err != nil {
		return core.Container{ID: id}, false, false, err
	}
	for _, box := range c.Registry.List() {
		if box.ID == facts.ID {
			return box, true, facts.Running, nil
		}
	}
	return core.Container{ID: facts.ID, Name: facts.Name}, false, facts.Running, nil
}

func (c Containers) Paused(ctx context.Context, id core.ContainerID) bool {
	facts, err := c.Registry.Facts(ctx, id)
	return err == nil && facts.Paused
}

// Remove ends a container of ours. Others' are never removed: the person made
// them for something else.
func (c Containers) Remove(ctx context.Context, id core.ContainerID) error {
	_, ours, _, err := c.Running(ctx, id)
	if err == nil && ours {
		err = c.Registry.Remove(ctx, id)
	}
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return fmt.Errorf("remove the container: %w", err)
	}
	return nil
}
