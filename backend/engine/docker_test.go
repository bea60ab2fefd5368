package engine

import (
	"context"
)

// Connect opens an engine and checks that it answers.
func Connect(ctx context.Context, opts Options) (*Docker, error) {
	d := Open(opts)
	if _, err := d.client(ctx); err != nil {
		return nil, err
	}
	return d, nil
}
