package sandbox

import (
	"fmt"
	"math"
	"regexp"

	"loop/backend/core"
)

// hardening of DESIGN §4. loop init drops CHOWN by itself after set-up.
var (
	capDrop = []string{"ALL"}
	capAdd  = []string{"CHOWN", "DAC_OVERRIDE", "KILL", "SETGID", "SETUID", "SYS_PTRACE"}
)

const coverOptions = "ro,nosuid,nodev,noexec,size=4k,mode=0555"

// tmpfsFor is what programs need writable under a read-only root. /tmp and
// /var/tmp allow exec (the engine's default does not), because compilers and
// test runners start what they write there. Their pages count against the
// memory limit, so each is bounded below it.
func tmpfsFor(memoryBytes int64) []core.Tmpfs {
	mib := memoryBytes >> 20
	return []core.Tmpfs{
		{Target: "/run", Options: "nosuid,nodev,noexec,size=16m,mode=0755"},
		{Target: GuestRunDir, Options: "nosuid,nodev,noexec,size=64m,mode=0755"},
		{Target: "/tmp", Options: fmt.Sprintf("exec,nosuid,nodev,size=%dm,mode=1777", mib/2)},
		{Target: "/var/tmp", Options: fmt.Sprintf("exec,nosuid,nodev,size=%dm,mode=1777", max(mib/8, 32))},
	}
}

var networkName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}$`)

func checkNetwork(n Setting[string], onRelay bool) error {
	field := "container_network (" + n.From.String() + ")"
	if n.Value == "none" && !onRelay {
		return core.Fail(core.CodeInvalid, nil,
			"The setting "+field+" is “none”, and this run's model is reached over the network.",
			"Set container_network to “bridge”, or use a model that passes through the relay (the demo, or an anthropic_base_url on 127.0.0.1).")
	}
	if n.Value == "host" {
		return core.Fail(core.CodeInvalid, nil,
			"The setting "+field+" is “host”, which would put the agent onto this computer's own network.",
			"Set it to “bridge” or “none”.")
	}
	if !networkName.MatchString(n.Value) {
		return core.Fail(core.CodeInvalid, nil,
			fmt.Sprintf("The setting %s is %q, which is not the name of a network.", field, n.Value),
			"Set it to “bridge”, “none” or the name of a network of the engine.")
	}
	return nil
}

func badRange(field string, from Origin, value any, low, high string) error {
	return core.Fail(core.CodeInvalid, nil,
		fmt.Sprintf("The setting %s (%s) is %v.", field, from, value),
		fmt.Sprintf("Use a number from %s to %s.", low, high))
}

func resolveLimits(m Settings, host Host, ex *explainer) (core.Limits, error) {
	var l core.Limits
	if v := m.MemoryMB.Value; v < minMemoryMB || v > maxMemoryMB {
		return l, badRange("container_memory_mb", m.MemoryMB.From, v, fmt.Sprint(minMemoryMB), fmt.Sprint(maxMemoryMB))
	}
	if v := m.CPUs.Value; math.IsNaN(v) || v < 0.01 || v > 1024 {
		return l, badRange("container_cpus", m.CPUs.From, v, "0.01", "1024")
	}
	if v := m.Pids.Value; v < minPids || v > maxPids {
		return l, badRange("container_pids", m.Pids.From, v, fmt.Sprint(minPids), fmt.Sprint(maxPids))
	}
	l = core.Limits{MemoryBytes: int64(m.MemoryMB.Value) << 20, CPUs: m.CPUs.Value, Pids: m.Pids.Value}
	if n := host.EngineCPUs; n > 0 && l.CPUs > float64(n) {
		// The engine refuses more CPUs than it has; a setting shared between
		// machines should not stop the smaller one.
		ex.notice(fmt.Sprintf("container_cpus is %v and the engine has %d; the container gets %d.", l.CPUs, n, n))
		l.CPUs = float64(n)
		ex.set("limits.cpus", fmt.Sprint(l.CPUs), fromHost)
	} else {
		ex.set("limits.cpus", fmt.Sprint(l.CPUs), m.CPUs.From)
	}
	ex.set("limits.memory_bytes", fmt.Sprint(l.MemoryBytes), m.MemoryMB.From)
	ex.set("limits.pids", fmt.Sprint(l.Pids), m.Pids.From)
	return l, nil
}
