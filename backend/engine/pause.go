package engine

import (
	"context"
	"strings"
	"time"

	"github.com/docker/docker/client"

	"loop/backend/backoff"
	"loop/backend/core"
)

// Pause stops every process of a running container where it is. One that is
// not running gives core.ErrNotRunning, one that is paused already
// core.ErrConflict, so that the caller knows whom it is not to wake.
func (d *Docker) Pause(ctx context.Context, id core.ContainerID) error {
	return d.ask(ctx, "pause the container", func(ctx context.Context, cli *client.Client) error {
		for {
			err := cli.ContainerPause(ctx, string(id))
			// On a busy machine runc gives up a freezer (cgroup v1) that needs longer than
			// its thousand looks, and lets the processes go on. Another try finds them
			// elsewhere.
			if err == nil || !strings.Contains(err.Error(), "unable to freeze") || !backoff.Sleep(ctx, freezeAgain) {
				return err
			}
		}
	})
}

// freezeAgain is the pause after a freezer that was given up; runc's own try takes
// some 20 ms.
const freezeAgain = 20 * time.Millisecond

// Unpause lets a paused container go on; one that is not paused gives
// core.ErrConflict. An engine's record of it may be late for some milliseconds
// after another Pause or Unpause (seen with 20.10), in both directions.
func (d *Docker) Unpause(ctx context.Context, id core.ContainerID) error {
	return d.ask(ctx, "unpause the container", func(ctx context.Context, cli *client.Client) error {
		return cli.ContainerUnpause(ctx, string(id))
	})
}
