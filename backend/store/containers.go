package store

import (
	"context"
	"time"

	"loop/backend/core"
	"loop/backend/store/internal/rows"
)

// ReserveContainer writes a container's row before the engine is called. Its
// name is the key; one already there is core.ErrConflict.
func (s *Store) ReserveContainer(ctx context.Context, c core.Container) error {
	if c.CreatedAt.IsZero() {
		c.CreatedAt = s.now()
	}
	if c.Status == "" {
		c.Status = core.ContainerReserved
	}
	return s.inTx(ctx, "reserve container", func(q *rows.Queries) error {
		return q.InsertContainer(ctx, rows.InsertContainerParams{
			Name: c.Name, ID: string(c.ID), ChannelID: string(c.ChannelID), RunID: string(c.RunID), Type: string(c.Type),
			Status: string(c.Status), Image: c.Image, Hash: c.Hash, CreatedAt: toMillis(c.CreatedAt), RemoveAt: toMillis(c.RemoveAt),
		})
	})
}

// SetContainerID records the engine's id of a reserved container.
func (s *Store) SetContainerID(ctx context.Context, name string, id core.ContainerID) error {
	return s.inTx(ctx, "set container id", func(q *rows.Queries) error {
		return found(q.SetContainerID(ctx, rows.SetContainerIDParams{ID: string(id), Name: name}))
	})
}

// SetContainerStatus records a status and when the container is to be removed (zero: not).
func (s *Store) SetContainerStatus(ctx context.Context, name string, st core.ContainerStatus, removeAt time.Time) error {
	return s.inTx(ctx, "set container status", func(q *rows.Queries) error {
		return found(q.SetContainerStatus(ctx, rows.SetContainerStatusParams{Status: string(st), RemoveAt: toMillis(removeAt), Name: name}))
	})
}

// DropContainer forgets a container; call it once the engine says it is gone.
// One already forgotten is fine.
func (s *Store) DropContainer(ctx context.Context, name string) error {
	return s.inTx(ctx, "drop container", func(q *rows.Queries) error {
		_, err := q.DeleteContainer(ctx, name)
		return err
	})
}

// Containers returns every row, oldest first.
func (s *Store) Containers(ctx context.Context) ([]core.Container, error) {
	list, err := s.read.ListContainers(ctx)
	if err != nil {
		return nil, s.wrap("list containers", err)
	}
	return mapped(list, func(r rows.Container) core.Container {
		return core.Container{
			ID: core.ContainerID(r.ID), Name: r.Name, ChannelID: core.ChannelID(r.ChannelID), RunID: core.RunID(r.RunID),
			Type: core.ContainerType(r.Type), Status: core.ContainerStatus(r.Status), Image: r.Image, Hash: r.Hash,
			CreatedAt: fromMillis(r.CreatedAt), RemoveAt: fromMillis(r.RemoveAt),
		}
	}), nil
}
