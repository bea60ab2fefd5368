package doctor

import (
	"fmt"
	"strings"

	"loop/backend/wire"
)

// gateLines say what was found, one thing a line.
func gateLines(t GateTried) []string {
	free, held := t.Free, t.Held
	install := map[string]string{
		"": "can be installed", wire.InstallKernel: "the kernel does not know it", wire.InstallListener: "another one is there",
	}[free.Install]
	if install == "" {
		install = free.Install
	}
	lines := []string{
		fmt.Sprintf("Kernel: %s on %s", free.Kernel, free.Machine),
		"Filter with a supervisor, which signals do not interrupt: " + install,
	}
	if t.Refused == nil {
		lines = append(lines,
			fmt.Sprintf("Held calls: %d made under signals, %d of them broken; %d programs started, %d of them badly",
				held.Signals.Tried, held.Signals.Failed, held.Programs.Tried, held.Programs.Failed),
			fmt.Sprintf("Refused in the kernel: io_uring (%s), ptrace (%s)", held.IoUring, held.Ptrace))
	}
	if t.Debuggers {
		lines = append(lines, "Debuggers: "+debuggersLine(t))
	}
	yama := "none"
	if free.Yama >= 0 {
		yama = fmt.Sprintf("ptrace_scope %d", free.Yama)
	}
	profile := free.Profile
	if profile == "" {
		profile = "none"
	}
	filters := "not told by the kernel"
	if free.Filters >= 0 {
		filters = fmt.Sprint(free.Filters)
	}
	lines = append(lines, "Landlock: "+fenceLine(free.Landlock), "Yama: "+yama, "Security module's profile: "+profile,
		"Filters of the engine's own: "+filters, "Containers beside the agent's: none are made")
	if kinds := untried(free); len(kinds) > 0 {
		lines = append(lines, "Loop's own tests have not run with "+strings.Join(kinds, ", nor with ")+
			"; what stands here was tried on this computer")
	}
	return lines
}

// debuggersWork reports whether what is asked for was seen to pass the filter.
func debuggersWork(t GateTried) bool { return t.Debuggers && t.Held.Ptrace == "ESRCH" }

// debuggersLine says what became of gates.agentgate.debuggers, and what that costs.
func debuggersLine(t GateTried) string {
	switch {
	case t.Free.Landlock <= 0:
		return "refused all the same, as a kernel without Landlock does not keep them within their run"
	case !debuggersWork(t):
		return fmt.Sprintf("refused all the same (%s), not by the gate: look at the engine's seccomp profile", t.Held.Ptrace)
	case t.Free.Yama >= 2:
		return fmt.Sprintf("the gate lets them, but Yama's ptrace_scope is %d, so that they reach nothing", t.Free.Yama)
	}
	return "allowed within a run or terminal; the supervisor is out of reach (" + t.Held.Outside + "). " +
		"Which program runs in a debugger is judged by its name alone; what it does to files is judged as ever"
}

// fenceLine says what stands under the filter, by the version of the kernel's Landlock.
func fenceLine(abi int) string {
	line := fmt.Sprintf("version %d, a second fence under the filter", abi)
	switch {
	case abi <= 0:
		return "none, so that the filter is the only fence"
	case abi < 3:
		return line + ", but for truncate and abstract sockets"
	case abi < 6:
		return line + ", but for abstract sockets"
	}
	return line
}

// untried are the ways in which this computer differs from those that run Loop's tests.
// The gate decides nothing by them: they are what a report should name.
func untried(t wire.GateTrial) (kinds []string) {
	if t.Arch != testedArch {
		kinds = append(kinds, "the architecture "+t.Arch)
	}
	if t.Landlock <= 0 {
		kinds = append(kinds, "a kernel without Landlock")
	}
	if t.Yama >= 0 {
		kinds = append(kinds, "Yama")
	}
	if confined(t) {
		kinds = append(kinds, "a security module like AppArmor or SELinux")
	}
	if t.Cgroup == 2 {
		kinds = append(kinds, "control groups of version 2")
	}
	return kinds
}

// testedArch is of the computers that run Loop's tests; their kernel has Landlock, neither
// Yama nor another security module, and control groups of version 1.
const testedArch = "amd64"

// confined reports whether a security module holds the container.
func confined(t wire.GateTrial) bool {
	return t.Profile != "" && !strings.HasPrefix(t.Profile, "unconfined")
}
