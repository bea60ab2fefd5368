package store

import (
	"cmp"
	"context"
	"time"

	"loop/backend/core"
	"loop/backend/store/internal/rows"
)

// ReserveContainer writes a container's row before the engine is called, and the
// lease of the holder it is made for unless that is the zero Holder. A key that is
// there already is core.ErrConflict.
func (s *Store) ReserveContainer(ctx context.Context, c core.Container, h core.Holder) error {
	c.CreatedAt = cmp.Or(c.CreatedAt, s.now())
	c.Status = cmp.Or(c.Status, core.ContainerReserved)
	return s.inTx(ctx, "reserve container", func(q queries) error {
		err := q.InsertContainer(ctx, rows.InsertContainerParams{
			Key: string(c.Key), Name: c.Name, ID: string(c.ID), ChannelID: string(c.ChannelID), RunID: string(c.RunID), Type: string(c.Type),
			Status: string(c.Status), Image: c.Image, Hash: c.Hash, CreatedAt: toMillis(c.CreatedAt), RemoveAt: toMillis(c.RemoveAt),
			Scope: c.Scope, Fixed: c.Fixed, Rights: c.Rights, LastUsedAt: toMillis(c.LastUsedAt),
			IdleMs: c.Life.Idle.Milliseconds(), MaxAgeMs: c.Life.Age.Milliseconds(), MemoryBytes: c.Memory, Why: c.Why,
		})
		if err != nil || h == (core.Holder{}) {
			return err
		}
		return insertLease(ctx, q, core.Lease{Container: c.Key, Holder: h, TakenAt: c.CreatedAt})
	})
}

// UpdateContainer records what of a container changes while it lives: its name, the
// engine's id, status, scope, when it was last used, when it is to be removed (zero: not),
// and why. When it was made changes where the clock was wrong then.
func (s *Store) UpdateContainer(ctx context.Context, c core.Container) error {
	return s.inTx(ctx, "update container", func(q queries) error { return update(ctx, q, c) })
}

// HoldContainer adds a lease and is UpdateContainer, in one transaction. A lease that is
// there already is fine.
func (s *Store) HoldContainer(ctx context.Context, l core.Lease, c core.Container) error {
	return s.inTx(ctx, "hold container", func(q queries) error {
		if err := update(ctx, q, c); err != nil {
			return err
		}
		return insertLease(ctx, q, l)
	})
}

// ReleaseContainer drops a lease and is UpdateContainer, in one transaction. A lease
// dropped before is fine.
func (s *Store) ReleaseContainer(ctx context.Context, h core.Holder, c core.Container) error {
	return s.inTx(ctx, "give back container", func(q queries) error {
		if err := update(ctx, q, c); err != nil {
			return err
		}
		_, err := q.DeleteLease(ctx, rows.DeleteLeaseParams{Container: string(c.Key), Kind: string(h.Kind), Holder: h.ID})
		return err
	})
}

func update(ctx context.Context, q queries, c core.Container) error {
	return found(q.UpdateContainer(ctx, rows.UpdateContainerParams{
		Name: c.Name, ID: string(c.ID), Status: string(c.Status), RemoveAt: toMillis(c.RemoveAt), Scope: c.Scope,
		LastUsedAt: toMillis(c.LastUsedAt), CreatedAt: toMillis(c.CreatedAt), Why: c.Why, Key: string(c.Key),
	}))
}

func insertLease(ctx context.Context, q queries, l core.Lease) error {
	return q.InsertLease(ctx, rows.InsertLeaseParams{
		Container: string(l.Container), Kind: string(l.Holder.Kind), Holder: l.Holder.ID, TakenAt: toMillis(l.TakenAt),
	})
}

// DropContainer forgets a container and its leases; call it once the engine says
// it is gone. One already forgotten is fine.
func (s *Store) DropContainer(ctx context.Context, key core.ContainerKey) error {
	return s.inTx(ctx, "drop container", func(q queries) error {
		_, err := q.DeleteContainer(ctx, string(key))
		return err
	})
}

// Containers returns every row and every lease, oldest first.
func (s *Store) Containers(ctx context.Context) ([]core.Container, []core.Lease, error) {
	list, err := s.read.ListContainers(ctx)
	if err != nil {
		return nil, nil, s.wrap("list containers", err)
	}
	leases, err := s.read.ListLeases(ctx)
	if err != nil {
		return nil, nil, s.wrap("list leases", err)
	}
	return mapped(list, func(r rows.Container) core.Container {
			return core.Container{
				Key: core.ContainerKey(r.Key), ID: core.ContainerID(r.ID), Name: r.Name,
				ChannelID: core.ChannelID(r.ChannelID), RunID: core.RunID(r.RunID),
				Type: core.ContainerType(r.Type), Status: core.ContainerStatus(r.Status), Image: r.Image, Hash: r.Hash,
				CreatedAt: fromMillis(r.CreatedAt), RemoveAt: fromMillis(r.RemoveAt), Scope: r.Scope, Fixed: r.Fixed, Rights: r.Rights,
				LastUsedAt: fromMillis(r.LastUsedAt), Memory: r.MemoryBytes, Why: r.Why,
				Life: core.Life{Idle: time.Duration(r.IdleMs) * time.Millisecond, Age: time.Duration(r.MaxAgeMs) * time.Millisecond},
			}
		}), mapped(leases, func(r rows.Lease) core.Lease {
			return core.Lease{
				Container: core.ContainerKey(r.Container), Holder: core.Holder{Kind: core.HolderKind(r.Kind),
					ID: r.Holder}, TakenAt: fromMillis(r.TakenAt),
			}
		}), nil
}
