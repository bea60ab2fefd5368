package enginetest

import (
	"cmp"
	"context"
	"fmt"

	"loop/backend/core"
)

// Update changes the limits that Inspect of the fake returns.
func (f *Fake) Update(ctx context.Context, id core.ContainerID, limits core.Limits) error {
	if err := f.enter(ctx, "Update"); err != nil {
		return err
	}
	defer f.mu.Unlock()
	b, err := f.box(id)
	if err != nil {
		return err
	}
	l := &b.facts.Limits
	l.MemoryBytes = cmp.Or(limits.MemoryBytes, l.MemoryBytes)
	l.CPUs = cmp.Or(limits.CPUs, l.CPUs)
	l.Pids = cmp.Or(limits.Pids, l.Pids)
	return nil
}

// Rename gives a container another name, with the errors of Docker.
func (f *Fake) Rename(ctx context.Context, id core.ContainerID, name string) error {
	if err := f.enter(ctx, "Rename"); err != nil {
		return err
	}
	defer f.mu.Unlock()
	b, err := f.box(id)
	if err != nil {
		return err
	}
	for _, o := range f.boxes {
		if o != b && o.facts.Name == name {
			return fmt.Errorf("rename the container: name %s is in use: %w", name, core.ErrConflict)
		}
	}
	b.facts.Name = name
	return nil
}

// SetNetwork changes the networks that Inspect of the fake returns.
func (f *Fake) SetNetwork(ctx context.Context, id core.ContainerID, network string) error {
	if err := f.enter(ctx, "SetNetwork"); err != nil {
		return err
	}
	defer f.mu.Unlock()
	b, err := f.box(id)
	if err != nil {
		return err
	}
	b.facts.Networks = []string{network}
	return nil
}
