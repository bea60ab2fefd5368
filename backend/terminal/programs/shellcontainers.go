package programs

import (
	"context"
	"errors"
	"fmt"

	"loop/backend/core"
	"loop/backend/provision"
	"loop/backend/registry"
	"loop/backend/sandbox"
	"loop/backend/terminal"
)

// Containers are those of terminals: the registry's, and for a container that Loop
// did not make what the engine says of it.
type Containers struct {
	Registry  *registry.Registry
	Provision *provision.Service
	Channels  Channels
	// Settings are read for a container of terminals.
	Settings provision.Settings
}

var _ terminal.Containers = Containers{}

// Shells are the channel's containers that terminals may be in.
func (c Containers) Shells(ch core.ChannelID) []core.Container {
	return c.Registry.InScopes(sandbox.ChannelScopes(ch)...)
}

// Shell is the channel's container for terminals, made if there is none that serves.
func (c Containers) Shell(ctx context.Context, id core.ChannelID, h core.Holder) (core.Container, error) {
	ch, err := c.Channels.Channel(ctx, id)
	if err != nil {
		return core.Container{}, core.Fail(core.CodeNotFound, err, "There is no such channel.", "Choose one of the list.")
	}
	lease, err := c.Provision.Ensure(ctx, provision.Want{
		Channel: ch, Type: core.TypeShell, Shared: true, Settings: c.Settings, Holder: h,
	})
	if err != nil {
		return core.Container{}, fmt.Errorf("container of terminals: %w", err)
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
	if err == nil && ours && c.Registry.HeldBy(id, core.HolderRun) {
		return core.Fail(core.CodeConflict, core.ErrConflict, "A run is under way in this container.",
			"Stop the run, or wait for its end.")
	}
	if err == nil && ours {
		err = c.Registry.Remove(ctx, id)
	}
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return fmt.Errorf("remove the container: %w", err)
	}
	return nil
}
