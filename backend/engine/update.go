package engine

import (
	"context"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"loop/backend/core"
)

// Update gives a container other limits, at once where it runs; what is zero in
// limits stays as it is. Memory below what is in use ends in an error or in the
// kernel's choice of a victim, as the kernel has it. An absent container gives
// core.ErrNotFound.
func (d *Docker) Update(ctx context.Context, id core.ContainerID, limits core.Limits) error {
	return d.ask(ctx, "change the container's limits", func(ctx context.Context, cli *client.Client) error {
		_, err := cli.ContainerUpdate(ctx, string(id), container.UpdateConfig{Resources: resources(limits)})
		return err
	})
}

// Rename gives a container another name. A name that another container has gives
// core.ErrConflict, an absent container core.ErrNotFound; its own name changes
// nothing.
func (d *Docker) Rename(ctx context.Context, id core.ContainerID, name string) error {
	f, err := d.Inspect(ctx, id)
	if err != nil || f.Name == name { // the engine refuses a name that is the same
		return err
	}
	return d.ask(ctx, "rename the container", func(ctx context.Context, cli *client.Client) error {
		return cli.ContainerRename(ctx, string(id), name)
	})
}
