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

// Containers is bound as window.go.bind.Containers.
type Containers struct {
	Ctx     context.Context `json:"-"`
	Service ReadyContainers `json:"-"`
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
