package browser

import (
	"context"
	"slices"
	"time"
)

// lookAtPorts begins to look at what the channel's agents listen on, for as long as a pane
// shows it. The lock is held.
func (c *session) lookAtPorts() {
	ctx, cancel := context.WithCancel(c.ctx)
	c.look = cancel
	c.s.work.Go(func() {
		tick := time.NewTicker(portsEvery)
		defer tick.Stop()
		for {
			list := c.s.o.Ports(ctx, c.ch)
			c.mu.Lock()
			if ctx.Err() != nil { // another look may have begun
				c.mu.Unlock()
				return
			}
			changed := !slices.Equal(c.ports, list)
			c.ports = list
			c.mu.Unlock()
			if changed {
				c.touch()
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	})
}
