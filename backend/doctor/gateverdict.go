package doctor

import (
	"context"
	"fmt"
	"strings"

	"loop/backend/core"
	"loop/backend/wire"
)

// Gate is the part of the gate that wants to know what a trial has shown.
type Gate interface {
	Enabled() bool // by the person's settings
	// Tried gets why the gate cannot be relied on, nil if it can.
	Tried(err error)
}

// gate performs traps with the production filter and says what will be enforced.
func (p Parts) gate(ctx context.Context) (Check, error) {
	if !p.Gate.Enabled() {
		return Check{
			State: Warn, Summary: "Switched off by gates.agentgate.enabled: agents act without asking. The container is the only wall.",
			Remedy: "Remove that line from your settings, or set it to true.",
		}, nil
	}
	t, err := p.GateTrial(ctx)
	if err != nil {
		return Check{}, err // nothing is known of the gate itself
	}
	lines := strings.Join(gateLines(t), "\n")
	if f := gateFault(t, p.Engine(ctx).Arch); f != nil {
		f.Detail = strings.TrimSpace(f.Detail + "\n" + lines)
		p.Gate.Tried(f)
		return Check{}, f
	}
	p.Gate.Tried(nil)
	summary := "Held a program's calls in a container: refused what its rules refuse, denied what nobody answered, " +
		"and let the rest pass."
	if debuggersWork(t) {
		summary += " Debuggers are allowed by gates.agentgate.debuggers, so rules about programs are advice."
	}
	return Check{Summary: summary, Detail: lines}, nil
}

// without says how to go on where the gate cannot hold. No project's file can do it.
const without = " To let agents act without it, set gates.agentgate.enabled to false in your own settings."

// yamaNoAttach is the ptrace_scope in which nobody may look into a process.
const yamaNoAttach = 3

// machines are the kernel's names for the architectures that Loop's guest is built for.
var machines = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// gateFault is the first reason why the gate cannot be relied on, nil if there is none.
// engineArch is the engine's architecture in its own words, or the kernel's; empty if it
// is not known.
func gateFault(t GateTried, engineArch string) *core.Failure {
	fault := func(cause, remedy string) *core.Failure {
		return core.Fail(core.CodeForbidden, t.Refused, cause, remedy+without)
	}
	switch free := t.Free; {
	case machines[engineArch] != "" && engineArch != free.Arch:
		return fault(fmt.Sprintf("The container runs programs for %s on a computer that is %s, under emulation, "+
			"which has no filters of system calls.", free.Arch, engineArch), "Name an image for this computer's architecture with container_image.")
	case free.Install == wire.InstallKernel:
		return fault(fmt.Sprintf("The kernel (%s) cannot hold calls for a supervisor, so no program is started under the gate.", free.Kernel),
			"Use Linux 5.19 or newer with CONFIG_SECCOMP_FILTER, and no sandbox like gVisor as the engine's runtime.")
	case free.Install == wire.InstallListener:
		return fault("The engine holds calls of its containers for a supervisor of its own, and the kernel allows only one.",
			"Take the seccomp profile with SCMP_ACT_NOTIFY, or the runtime that has one, out of the engine's configuration.")
	case free.Install != "":
		return fault("The engine's profile does not let the gate install its filter: "+free.Install+".",
			"Have the engine use its default seccomp profile.")
	}
	if t.Refused != nil {
		return refusedStart(t, fault)
	}
	return actsFault(t, fault)
}

// refusedStart says why a filter that can be installed did not bring calls to the
// supervisor.
func refusedStart(t GateTried, fault func(cause, remedy string) *core.Failure) *core.Failure {
	why := core.AsFailure(t.Refused).Cause
	switch {
	case t.Free.Yama == yamaNoAttach:
		return fault("Yama's ptrace_scope is 3 on this computer, so no supervisor can look into what it holds, "+
			"and no program is started under the gate.",
			"Set kernel.yama.ptrace_scope to 1 and start the computer anew: 3 cannot be taken back before.")
	case confined(t.Free):
		return fault(fmt.Sprintf("No program is started under the gate. A security module confines the container as “%s” "+
			"and may be what refuses it. %s", t.Free.Profile, why),
			"Look for denials in the kernel's log (“journalctl -k”), and allow them in that profile.")
	}
	return fault("No program is started under the gate. "+why,
		"Look at what else filters this container's calls: the engine's seccomp profile and its runtime.")
}

// actsFault compares what was done under the gate with what should have been.
func actsFault(t GateTried, fault func(cause, remedy string) *core.Failure) *core.Failure {
	const report = "Do not rely on the gate here, and report what “loop doctor --json” says."
	well := wire.TrialWrite{There: true}
	denied := wire.TrialWrite{Error: "EACCES"}
	did := func(w wire.TrialWrite) string {
		if w.There {
			return "the file is there"
		}
		return "it ended with “" + w.Error + "”"
	}
	switch free, held := t.Free, t.Held; {
	case free.Refused != well || free.Asked != well || free.Allowed != well:
		return fault("The trial shows nothing: without the gate its files could not be written either.",
			"Check that the disk and the memory are not full.")
	case held.Refused != denied:
		return fault("A write that the rules refuse was not refused: "+did(held.Refused)+".", report)
	case held.Asked != denied:
		return fault("A write that nobody had allowed was not denied: "+did(held.Asked)+".", report)
	case held.Allowed != well:
		return fault("A write that the rules allow was not done as it is without the gate: "+did(held.Allowed)+".", report)
	case held.IoUring != "ENOSYS":
		return fault("A ring of io_uring, whose acts nobody sees, was not refused.", report)
	case held.Ptrace != "EPERM" && !(t.Debuggers && free.Landlock > 0):
		return fault("A program may look into another one with ptrace.", report)
	case held.Outside != "EPERM":
		return fault("A debugger may attach to the gate's supervisor.", report)
	case free.Filters >= 0 && held.Filters != free.Filters+1:
		return fault(fmt.Sprintf("A program under the gate has %d filters, and without it %d: one more was to be there.",
			held.Filters, free.Filters), report)
	case free.Landlock > 0 && held.Fences != free.Fences-1:
		return fault("A program under the gate has no second fence, though the kernel has Landlock.", report)
	case held.Signals.Failed > 0 || held.Signals.Tried == 0:
		return fault(fmt.Sprintf("Signals break held calls: %d of %d failed (%s).",
			held.Signals.Failed, held.Signals.Tried, held.Signals.Why),
			"This kernel takes back a call that a supervisor already does. Use another version of it.")
	case held.Programs.Failed > 0 || held.Programs.Tried == 0:
		return fault(fmt.Sprintf("Programs do not start as they should under the gate: %d of %d failed (%s).",
			held.Programs.Failed, held.Programs.Tried, held.Programs.Why), report)
	}
	return nil
}
