package provision

import (
	"cmp"
	"context"
	"math"
	"slices"

	"loop/backend/core"
)

// Drifts compares containers with what would be made of Settings now.
type Drifts struct {
	Service  *Service
	Settings Settings // of what shares a container with a channel's runs
}

// Drift says how a container of a scope, made for a channel, differs from what the channel's
// next run or terminal would be given. It makes nothing. Errors are those of Resolve.
func (d Drifts) Drift(ctx context.Context, ch core.Channel, c core.Container, f core.ContainerFacts) (core.ContainerDrift, error) {
	r, err := d.Service.Resolve(ctx, Want{Channel: ch, Type: c.Type, Shared: true, Settings: d.Settings})
	if err != nil {
		return core.ContainerDrift{}, err
	}
	return drift(r, c, f), nil
}

func drift(r Resolved, c core.Container, f core.ContainerFacts) (out core.ContainerDrift) {
	part := func(differs bool, what string) {
		if differs {
			out.Parts = append(out.Parts, what)
		}
	}
	moved := r.Spec.Scope != c.Scope
	part(moved, "who shares it: the channel's next is that of "+cmp.Or(r.Spec.Scope, "one run alone"))
	part(r.rights != c.Rights, "credentials")
	reaches := r.Spec.Fixed != c.Fixed
	mounts := reaches && !sameMounts(r.Spec.Mounts, f.Mounts)
	part(mounts, "mounts")
	part(reaches && !mounts, "what it reaches: its network, the gate, or a folder that was replaced")
	if r.Spec.Hash != c.Hash {
		image := f.ImageID != r.imageID
		limits := !sameLimits(r.Spec.Limits, f.Limits)
		part(image, "image")
		part(limits, "limits")
		part(!image && !limits && !reaches, "other settings")
	}
	out.Changed = len(out.Parts) > 0
	out.Replaced = moved || reaches || r.rights != c.Rights
	return out
}

// sameLimits compares limits; engines count processors in hundred thousandths.
func sameLimits(a, b core.Limits) bool {
	return a.MemoryBytes == b.MemoryBytes && a.Pids == b.Pids && math.Abs(a.CPUs-b.CPUs) < 1e-4
}

// sameMounts compares mounts as the engine was asked for them.
func sameMounts(a, b []core.Mount) bool {
	sorted := func(list []core.Mount) (out []core.Mount) {
		for _, m := range list {
			out = append(out, core.Mount{Source: m.Source, Target: m.Target, ReadOnly: m.ReadOnly, Volume: m.Volume})
		}
		slices.SortFunc(out, func(a, b core.Mount) int { return cmp.Compare(a.Target, b.Target) })
		return out
	}
	return slices.Equal(sorted(a), sorted(b))
}
