package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/system"

	"loop/backend/core"
)

// traits asks what the engine can do, once for a connection and version: an engine
// that was replaced under its address is asked again.
func (d *Docker) traits(ctx context.Context, version string) core.EngineTraits {
	d.mu.Lock()
	cli, known, at := d.cli, d.known, d.knownAt
	d.mu.Unlock()
	if at == version {
		return known
	}
	info, err := cli.Info(ctx)
	if err != nil {
		return core.EngineTraits{} // asked again with the next status
	}
	t := traitsOf(info)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.known, d.knownAt = t, version
	return t
}

func traitsOf(info system.Info) core.EngineTraits {
	option := func(name string) bool {
		return slices.ContainsFunc(info.SecurityOptions, func(o string) bool { return strings.Contains(o, "name="+name) })
	}
	return core.EngineTraits{
		ID: info.ID, Rootless: option("rootless"), Seccomp: option("seccomp"),
		Desktop: strings.Contains(info.OperatingSystem, "Docker Desktop"),
		Kernel:  info.KernelVersion, CgroupVersion: info.CgroupVersion, CPUs: info.NCPU, MemoryBytes: info.MemTotal,
	}
}
