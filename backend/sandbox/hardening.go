package sandbox

import (
	"fmt"
	"regexp"

	"loop/backend/core"
)

// capDrop and capAdd are the capabilities of loop init: those with which it starts
// programs as the agent, supervises and ends them. It drops CHOWN after set-up.
var (
	capDrop = []string{"ALL"}
	capAdd  = []string{"CHOWN", "DAC_OVERRIDE", "KILL", "SETGID", "SETUID", "SYS_PTRACE"}
)

const coverOptions = "ro,nosuid,nodev,noexec,size=4k,mode=0555"

// runFS has sockets and files of Loop's, and of whatever else runs in a container.
const runFS = "/run"

// tmpfsFor is what programs need writable under a read-only root. /tmp and
// /var/tmp allow exec (the engine's default does not), because compilers and
// test runners start what they write there. Their pages count against the
// memory limit, so each is bounded below it.
func tmpfsFor(memoryBytes int64) []core.Tmpfs {
	mib := memoryBytes >> 20
	return []core.Tmpfs{
		{Target: runFS, Options: "nosuid,nodev,noexec,size=16m,mode=0755"},
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

// resolveLimits takes the limits as the settings have them, which were checked when
// they were read.
func resolveLimits(m Settings, host Host, ex *explainer) core.Limits {
	l, from := core.Limits{MemoryBytes: int64(m.MemoryMB.Value) << 20, CPUs: m.CPUs.Value, Pids: m.Pids.Value}, m.CPUs.From
	if n := host.EngineCPUs; n > 0 && l.CPUs > float64(n) {
		// The engine refuses more CPUs than it has; a setting shared between
		// machines should not stop the smaller one.
		if from.Layer != core.LayerBuiltin { // nobody asked for that many
			ex.notice(fmt.Sprintf("container_cpus is %v and the engine has %d; the container gets %d.", l.CPUs, n, n))
		}
		l.CPUs, from = float64(n), fromHost
	}
	ex.set("limits.cpus", fmt.Sprint(l.CPUs), from)
	ex.set("limits.memory_bytes", fmt.Sprint(l.MemoryBytes), m.MemoryMB.From)
	ex.set("limits.pids", fmt.Sprint(l.Pids), m.Pids.From)
	if m.SwapBytes.Value > 0 {
		l.SwapBytes = max(m.SwapBytes.Value, l.MemoryBytes) // the engine refuses less
		ex.set("limits.swap_bytes", fmt.Sprint(l.SwapBytes), m.SwapBytes.From)
	}
	return l
}
