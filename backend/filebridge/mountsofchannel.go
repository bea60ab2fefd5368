package filebridge

import (
	"context"
	"slices"

	"loop/backend/core"
	"loop/backend/provision"
	"loop/backend/sharedfolder"
)

// Mounts are how a shell of a channel sees this computer's files.
func (s *Service) Mounts(ctx context.Context, id core.ChannelID) ([]core.Mount, error) {
	spec, err := s.look(ctx, id)
	return mountsOf(spec), err
}

// mountsOf are the mounts of a spec, with its folders in memory: those cover what lies below
// them on this computer, such as Loop's own folder.
func mountsOf(spec core.Spec) []core.Mount {
	out := slices.Clone(spec.Mounts)
	for _, t := range spec.Tmpfs {
		out = append(out, core.Mount{Kind: core.MountSystem, Target: t.Target, Volume: true})
	}
	return out
}

// PasteFolder is where the channel's pasted files go.
func (s *Service) PasteFolder(ctx context.Context, id core.ChannelID) (sharedfolder.Folder, error) {
	spec, err := s.look(ctx, id)
	if err != nil {
		return sharedfolder.Folder{}, err
	}
	return sharedfolder.InHome(spec, ".loop-pastes")
}

func (s *Service) look(ctx context.Context, id core.ChannelID) (core.Spec, error) {
	ch, err := s.channel(ctx, id)
	if err != nil {
		return core.Spec{}, err
	}
	return s.o.Provision.Look(ctx, provision.Want{Channel: ch, Type: core.TypeShell, Shared: true})
}
