package sidecar

import (
	"context"
	"errors"
	"fmt"

	"loop/backend/core"
	"loop/backend/sandbox"
)

// keepProfile makes the volume of a channel's profile, unless there is one. Its labels say
// later whose it was.
func (s *Starter) keepProfile(ctx context.Context, id core.ChannelID) error {
	return s.o.Volumes.EnsureVolume(ctx, sandbox.ProfileVolume(id, s.o.Install), map[string]string{
		core.LabelApp: core.LabelAppName, core.LabelInstall: s.o.Install, core.LabelChannel: string(id),
	})
}

// Forget removes what is left of the browser of a channel that is gone, and its profile.
func (s *Starter) Forget(ctx context.Context, id core.ChannelID) error {
	if err := s.clear(ctx, id); err != nil {
		return err
	}
	return s.removeProfile(ctx, id)
}

func (s *Starter) removeProfile(ctx context.Context, id core.ChannelID) error {
	if err := s.o.Volumes.VolumeRemove(ctx, sandbox.ProfileVolume(id, s.o.Install)); err != nil && !errors.Is(err, core.ErrNotFound) {
		return fmt.Errorf("remove the browser's profile: %w", err)
	}
	return nil
}

// Sweep removes profiles of this Loop folder's channels that are gone: the engine may not
// have answered when they were removed. One that a container has is left alone. What goes
// wrong is tried again by the next call.
func (s *Starter) Sweep(ctx context.Context) {
	list, err := s.o.Volumes.Volumes(ctx, map[string]string{core.LabelInstall: s.o.Install})
	if err != nil {
		s.o.Log.Debug("look for profiles of removed channels", "err", err)
	}
	for _, v := range list {
		id := core.ChannelID(v.Labels[core.LabelChannel])
		if v.Name != sandbox.ProfileVolume(id, s.o.Install) {
			continue // a person's own, with our labels
		}
		if _, err := s.o.Channel(ctx, id); !errors.Is(err, core.ErrNotFound) {
			continue // it is there, or nobody knows
		}
		if err := s.removeProfile(ctx, id); err != nil {
			s.o.Log.Warn("remove the profile of a removed channel", "volume", v.Name, "err", err)
		}
	}
}
