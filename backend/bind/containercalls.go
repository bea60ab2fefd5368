package bind

import (
	"context"

	"loop/backend/core"
)

// ReadyContainers has channels' containers ready.
type ReadyContainers interface {
	// Warm returns at once.
	Warm(ch core.ChannelID)
	Recreate(ctx context.Context, ch core.ChannelID) (was bool, err error)
}

// ContainerInventory shows and steers containers. Each name is a container's name, its id, or
// the beginning of one.
type ContainerInventory interface {
	Inspect(ctx context.Context, name string) (core.ContainerInspection, error)
	Log(ctx context.Context, name, since string, tail int) (core.ContainerLog, error)
	Stop(ctx context.Context, name string) (core.Container, error)
	Remove(ctx context.Context, name string, force bool) (core.Container, error)
	Prune(ctx context.Context, dry bool, only []core.ContainerID) ([]core.PrunedContainer, error)
	Watch() core.ContainerWatch
	Ports(ctx context.Context, name string, ask bool) ([]core.ContainerPort, error)
}

// Containers is bound as window.go.bind.Containers.
type Containers struct {
	Ctx       context.Context    `json:"-"`
	Service   ReadyContainers    `json:"-"`
	Inventory ContainerInventory `json:"-"`
}

// Warm says that a person writes a prompt for a channel: its container is started and kept
// for two minutes. Nothing that stands in the way is said here; the run says it.
func (c *Containers) Warm(channelID string) error {
	c.Service.Warm(core.ChannelID(channelID))
	return nil
}

// Recreate has a channel's next run or terminal get a container made by the settings of
// now. It reports whether there was one; what works in that one goes on there.
func (c *Containers) Recreate(channelID string) (bool, error) {
	return c.Service.Recreate(c.Ctx, core.ChannelID(channelID))
}

// Stop stops a container, named by its name, its id or the beginning of one, unless a run works
// in it. The next run or terminal of its channel starts the channel's container again.
func (c *Containers) Stop(container string) (core.Container, error) {
	return c.Inventory.Stop(c.Ctx, container)
}

// Inspect says everything of one container, named as for Stop.
func (c *Containers) Inspect(container string) (core.ContainerInspection, error) {
	return c.Inventory.Inspect(c.Ctx, container)
}

// Log returns the last lines that a container's first process wrote, at most 256 KiB: those
// after since, which an earlier answer said as next, or else the last tail ones (0 is a
// hundred, 5000 are the most).
func (c *Containers) Log(container, since string, tail int) (core.ContainerLog, error) {
	return c.Inventory.Log(c.Ctx, container, since, tail)
}

// Remove removes a container, named as for Stop, that nobody holds; with force it
// ends what works in it.
func (c *Containers) Remove(container string, force bool) (core.Container, error) {
	return c.Inventory.Remove(c.Ctx, container, force)
}

// Prune removes the containers that would be ended anyway and those that have stopped, which
// nobody holds. With only it leaves alone what is not named there, as a person who was asked
// expects. With dry it changes nothing. It returns which, each with why.
func (c *Containers) Prune(dry bool, only []core.ContainerID) ([]core.PrunedContainer, error) {
	return listed(c.Inventory.Prune(c.Ctx, dry, only))
}

// Watch returns all containers at once, each with what is known of it, and has them looked at
// for the next twenty seconds: what they use every five, how they differ from the settings
// every fifteen, and their size every two minutes. A page calls it while it shows them.
func (c *Containers) Watch() core.ContainerWatch { return c.Inventory.Watch() }

// Ports are those on which programs in a container listen, named as for Stop, each with the
// address at which its channel's browser finds it. With ask each is asked for a page, until it
// has answered, which the program there may log.
func (c *Containers) Ports(container string, ask bool) ([]core.ContainerPort, error) {
	return listed(c.Inventory.Ports(c.Ctx, container, ask))
}
