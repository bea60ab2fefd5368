package engine

import (
	"context"

	"github.com/docker/docker/client"
)

// Connect opens an engine and checks that it answers.
func Connect(ctx context.Context, opts Options) (*Docker, error) {
	d := Open(opts)
	if _, err := d.client(ctx); err != nil {
		return nil, err
	}
	return d, nil
}

// VolumeRemove removes a named volume, which Loop itself never does. It returns
// core.ErrNotFound when there is no such volume.
func (d *Docker) VolumeRemove(ctx context.Context, name string) error {
	return d.do(ctx, "remove the volume", func(ctx context.Context, cli *client.Client) error {
		return cli.VolumeRemove(ctx, name, false)
	})
}
