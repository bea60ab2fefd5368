package engine

import (
	"context"

	"github.com/docker/docker/api/types/container"

	"loop/backend/core"
)

// Update gives a container other limits, at once where it runs; what is zero in
// limits stays as it is. Memory below what is in use ends in an error or in the
// kernel's choice of a victim, as the kernel has it. An absent container gives
// core.ErrNotFound.
func (d *Docker) Update(ctx context.Context, id core.ContainerID, limits core.Limits) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	cli, err := d.client(ctx)
	if err != nil {
		return err
	}
	_, err = cli.ContainerUpdate(ctx, string(id), container.UpdateConfig{Resources: resources(limits)})
	return d.fail("change the container's limits", err)
}

// Rename gives a container another name. A name that another container has gives
// core.ErrConflict, an absent container core.ErrNotFound; its own name changes
// nothing.
func (d *Docker) Rename(ctx context.Context, id core.ContainerID, name string) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	f, err := d.Inspect(ctx, id)
	if err != nil || f.Name == name { // the engine refuses a name that is the same
		return err
	}
	cli, err := d.client(ctx)
	if err != nil {
		return err
	}
	return d.fail("rename the container", cli.ContainerRename(ctx, string(id), name))
}
