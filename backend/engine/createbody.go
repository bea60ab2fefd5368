package engine

import (
	"math"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"

	"loop/backend/core"
)

const (
	// cpuPeriod in microseconds is the kernel's default; the quota is a share of it.
	cpuPeriod = 100_000
	// minCPUQuota in microseconds is the least the kernel takes.
	minCPUQuota = 1_000
	// logMaxSize bounds the engine's log of a container. An agent's output goes
	// through the link into spools; this log holds only the words of loop init, which
	// are the evidence when no link comes up. Hence json-file, which can be read back,
	// rather than none.
	logMaxSize = "1m"
)

// createBody translates a spec into the Engine API's terms. It is pure; a zero value
// in the result means the engine's default.
func createBody(s core.Spec) (*container.Config, *container.HostConfig) {
	cfg := &container.Config{
		Image:      s.Image,
		Entrypoint: s.Entrypoint,
		Cmd:        s.Cmd,
		WorkingDir: s.WorkDir,
		User:       s.User,
		Labels:     s.Labels,
		// An image's own would be run by the engine: as root, and past loop init and the gate.
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
	} // no terminal and no stdin: everything that loop init runs is connected through the link
	for _, e := range s.Env {
		cfg.Env = append(cfg.Env, e.Name+"="+e.Value)
	}
	if s.StopGraceSec > 0 {
		cfg.StopTimeout = new(s.StopGraceSec)
	}
	host := &container.HostConfig{ // without AutoRemove: a finished container stays until the registry removes it
		RestartPolicy:  container.RestartPolicy{Name: container.RestartPolicyDisabled},
		Init:           new(bool), // loop init is PID 1, also where the engine's default says otherwise
		IpcMode:        container.IPCModePrivate,
		NetworkMode:    container.NetworkMode(s.Network),
		ExtraHosts:     s.ExtraHosts,
		DNS:            s.DNS,
		CapDrop:        s.CapDrop,
		CapAdd:         s.CapAdd,
		ReadonlyRootfs: s.ReadOnlyRoot,
		LogConfig:      container.LogConfig{Type: "json-file", Config: map[string]string{"max-size": logMaxSize}},
		Resources:      resources(s.Limits),
		ShmSize:        s.ShmBytes,
		Tmpfs:          map[string]string{},
	}
	if s.NoNewPrivileges {
		host.SecurityOpt = append(host.SecurityOpt, "no-new-privileges:true")
	}
	if s.Seccomp != "" {
		host.SecurityOpt = append(host.SecurityOpt, "seccomp="+s.Seccomp)
	}
	if s.AppArmor != "" {
		host.SecurityOpt = append(host.SecurityOpt, "apparmor="+s.AppArmor)
	}
	for _, u := range s.Ulimits {
		host.Ulimits = append(host.Ulimits, &container.Ulimit{Name: u.Name, Soft: u.Soft, Hard: u.Hard})
	}
	if s.GPUs { // what “--gpus all” asks for
		host.DeviceRequests = []container.DeviceRequest{{Count: -1, Capabilities: [][]string{{"gpu"}}}}
	}
	for _, t := range s.Tmpfs {
		host.Tmpfs[t.Target] = t.Options
	}
	for _, m := range s.Mounts {
		host.Mounts = append(host.Mounts, mountOf(m, s.Plan))
	}
	return cfg, host
}

func resources(l core.Limits) container.Resources {
	var r container.Resources
	if l.MemoryBytes > 0 {
		r.Memory = l.MemoryBytes
		r.MemorySwap = max(l.MemoryBytes, l.SwapBytes) // equal means no swap on top
	}
	if l.CPUs > 0 {
		r.CPUPeriod = cpuPeriod
		r.CPUQuota = max(int64(math.Round(l.CPUs*cpuPeriod)), minCPUQuota)
	}
	if l.Pids > 0 {
		r.PidsLimit = new(l.Pids)
	}
	return r
}

// limitsOf reads back what resources wrote.
func limitsOf(r container.Resources) core.Limits {
	l := core.Limits{MemoryBytes: r.Memory}
	if r.CPUPeriod > 0 {
		l.CPUs = float64(r.CPUQuota) / float64(r.CPUPeriod)
	}
	if r.PidsLimit != nil {
		l.Pids = max(*r.PidsLimit, 0) // -1 is none
	}
	return l
}

// mountOf uses the Mounts form rather than Binds: it takes any path, colons
// included, and refuses a source that does not exist instead of creating an
// empty directory owned by root. Where a run plans first, what else is mounted
// below a read-only source is left out: engines before 25 would show it writable.
func mountOf(m core.Mount, plan bool) mount.Mount {
	out := mount.Mount{Type: mount.TypeBind, Source: m.Source, Target: m.Target, ReadOnly: m.ReadOnly}
	if m.Volume {
		out.Type = mount.TypeVolume
		out.VolumeOptions = &mount.VolumeOptions{NoCopy: m.NoCopy}
		return out
	}
	out.BindOptions = &mount.BindOptions{Propagation: mount.PropagationRPrivate, NonRecursive: plan && m.ReadOnly}
	return out
}
