package programs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

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
	// Settings are read for a container of terminals.
	Settings provision.Settings
	Timeline Timeline
	Publish  func(...core.Event)
}

// Timeline keeps what a person is told of a channel.
type Timeline interface {
	AddEvents(ctx context.Context, events ...core.Event) ([]core.Event, error)
}

var _ terminal.Containers = Containers{}

// Shells are the channel's containers that terminals may be in.
func (c Containers) Shells(ctx context.Context, id core.ChannelID) ([]core.Container, error) {
	ch, err := c.Channels.Channel(ctx, id)
	if errors.Is(err, core.ErrNotFound) {
		ch, err = core.Channel{ID: id}, nil // what is left of a channel that was removed
	}
	if err != nil {
		return nil, fmt.Errorf("read channel: %w", err)
	}
	scopes, _ := c.Provision.Scopes(ctx, ch) // those of its own, whatever is wrong with the settings
	return c.Registry.InScopes(scopes...), nil
}

// Shell is the channel's container for terminals, made if there is none that serves.
func (c Containers) Shell(ctx context.Context, id core.ChannelID, h core.Holder) (core.Container, error) {
	ch, err := c.Channels.Channel(ctx, id)
	if err != nil {
		return core.Container{}, core.Fail(core.CodeNotFound, err, "There is no such channel.", "Choose one of the list.")
	}
	v, err := c.Settings.ForChannel(ctx, ch) // the error is Ensure's as well
	if err == nil && !v.OnHost && v.Undecided != "" {
		return core.Container{}, core.Fail(core.CodeToolchain, nil,
			"This project brings "+v.Undecided+" for an image of its own, and nobody has decided on it.",
			"Look at it, then build with it or work without it. “loop config trust” shows it, too.")
	}
	if err == nil && v.OnHost {
		return core.Container{}, core.Fail(core.CodeOff, nil, "Runs of this channel work on this computer itself, so it has no container.",
			"Open a terminal of this computer instead.")
	}
	lease, err := c.Provision.Ensure(ctx, provision.Want{
		Channel: ch, Type: core.TypeShell, Shared: true, Settings: c.Settings, Holder: h,
	})
	if err != nil {
		return core.Container{}, fmt.Errorf("container of terminals: %w", err)
	}
	if told := cmp.Or(lease.Kept(), lease.Renewed()); told != "" {
		if err := c.tell(ctx, id, told); err != nil {
			return core.Container{}, errors.Join(err, lease.Release(context.WithoutCancel(ctx), core.Ending{}))
		}
	}
	return lease.Container, nil
}

// tell says something in the channel's timeline, as runs do.
func (c Containers) tell(ctx context.Context, id core.ChannelID, text string) error {
	stored, err := c.Timeline.AddEvents(ctx, core.NewEvent(core.EventNotice, id, "", time.Now(), core.Notice{Level: "info", Text: text}))
	if err != nil {
		return fmt.Errorf("say what container it is: %w", err)
	}
	c.Publish(stored...)
	return nil
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
