package doctor

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"loop/backend/core"
	"loop/backend/wire"
)

// gate notes what it was told.
type gate struct {
	off  bool
	told []error
}

func (g *gate) Enabled() bool   { return !g.off }
func (g *gate) Tried(err error) { g.told = append(g.told, err) }

// tried is a trial in which all is well, but for what change says.
func tried(change func(*GateTried)) GateTried {
	well := wire.TrialWrite{There: true}
	t := GateTried{
		Free: wire.GateTrial{
			Kernel: "6.1.0", Machine: "x86_64", Arch: "amd64", Filters: 1, Landlock: 7, Fences: 16, Cgroup: 1, Yama: -1,
			Refused: well, Asked: well, Allowed: well, IoUring: "EINVAL", Ptrace: "ESRCH",
			Signals: wire.TrialSeries{Tried: 100}, Programs: wire.TrialSeries{Tried: 20},
		},
		Held: wire.GateTrial{
			Kernel: "6.1.0", Machine: "x86_64", Arch: "amd64", Filters: 2, Landlock: 7, Fences: 15, Cgroup: 1, Yama: -1,
			Refused: wire.TrialWrite{Error: "EACCES"}, Asked: wire.TrialWrite{Error: "EACCES"}, Allowed: well,
			IoUring: "ENOSYS", Ptrace: "EPERM", Outside: "EPERM", Signals: wire.TrialSeries{Tried: 100}, Programs: wire.TrialSeries{Tried: 20},
		},
	}
	if change != nil {
		change(&t)
	}
	return t
}

func refusedBy(text string) error {
	return core.Fail(core.CodeForbidden, errors.New(text), "The gate cannot hold the program: "+text+".", "")
}

// TestGateVerdicts: each computer that cannot hold an agent's calls, and each gate that
// lets something through, is named with what to do; the rest is well.
func TestGateVerdicts(t *testing.T) {
	type change = func(*GateTried)
	for name, c := range map[string]struct {
		arch          string // the engine's
		change        change
		cause, remedy string
	}{
		"well":                 {"amd64", nil, "", ""},
		"an unknown engine":    {"", nil, "", ""},
		"another word for it":  {"x86_64", nil, "", ""},
		"Yama that allows it":  {"amd64", func(t *GateTried) { t.Free.Yama, t.Held.Yama = 2, 2 }, "", ""},
		"a profile that does":  {"amd64", func(t *GateTried) { t.Free.Profile = "docker-default (enforce)" }, "", ""},
		"no Landlock":          {"amd64", func(t *GateTried) { t.Free.Landlock, t.Free.Fences, t.Held.Fences = 0, 0, 0 }, "", ""},
		"no count of filters":  {"amd64", func(t *GateTried) { t.Free.Filters, t.Held.Filters = -1, -1 }, "", ""},
		"arm64":                {"arm64", func(t *GateTried) { t.Free.Arch, t.Free.Machine = "arm64", "aarch64" }, "", ""},
		"emulation":            {"arm64", func(t *GateTried) { t.Free.Install = wire.InstallKernel }, "under emulation", "container_image"},
		"an old kernel":        {"amd64", func(t *GateTried) { t.Free.Install = wire.InstallKernel; t.Refused = refusedBy("x") }, "The kernel (6.1.0) cannot hold", "Linux 5.19"},
		"another supervisor":   {"amd64", func(t *GateTried) { t.Free.Install = wire.InstallListener; t.Refused = refusedBy("x") }, "supervisor of its own", "SCMP_ACT_NOTIFY"},
		"the engine's profile": {"amd64", func(t *GateTried) { t.Free.Install = "operation not permitted" }, "operation not permitted", "default seccomp profile"},
		"Yama": {"amd64", func(t *GateTried) { t.Free.Yama, t.Free.Profile = 3, "x (enforce)"; t.Refused = refusedBy("x") },
			"ptrace_scope is 3", "kernel.yama.ptrace_scope"},
		"AppArmor": {"amd64", func(t *GateTried) {
			t.Free.Profile = "docker-default (enforce)"
			t.Refused = refusedBy("the probe ended with EPERM")
		},
			"“docker-default (enforce)”", "journalctl"},
		"unconfined": {"amd64", func(t *GateTried) { t.Free.Profile = "unconfined"; t.Refused = refusedBy("the probe ended with EPERM") },
			"the probe ended with EPERM", "seccomp profile and its runtime"},
		"no control":         {"amd64", func(t *GateTried) { t.Free.Refused = wire.TrialWrite{Error: "ENOSPC"} }, "shows nothing", "not full"},
		"a refused write":    {"amd64", func(t *GateTried) { t.Held.Refused = wire.TrialWrite{There: true} }, "the file is there", "Do not rely"},
		"one with an error":  {"amd64", func(t *GateTried) { t.Held.Refused.There = true }, "the file is there", "Do not rely"},
		"another error":      {"amd64", func(t *GateTried) { t.Held.Refused.Error = "ENOSYS" }, "“ENOSYS”", "Do not rely"},
		"nobody's write":     {"amd64", func(t *GateTried) { t.Held.Asked = wire.TrialWrite{There: true} }, "nobody had allowed", "Do not rely"},
		"an allowed write":   {"amd64", func(t *GateTried) { t.Held.Allowed = wire.TrialWrite{Error: "EPERM"} }, "“EPERM”", "Do not rely"},
		"io_uring":           {"amd64", func(t *GateTried) { t.Held.IoUring = "EINVAL" }, "io_uring", "Do not rely"},
		"ptrace":             {"amd64", func(t *GateTried) { t.Held.Ptrace = "ESRCH" }, "ptrace", "Do not rely"},
		"debuggers":          {"amd64", func(t *GateTried) { t.Debuggers, t.Held.Ptrace = true, "ESRCH" }, "", ""},
		"no debuggers there": {"amd64", func(t *GateTried) { t.Debuggers = true }, "", ""},
		"debuggers without Landlock": {"amd64", func(t *GateTried) {
			t.Debuggers, t.Held.Ptrace, t.Free.Landlock, t.Free.Fences, t.Held.Fences = true, "ESRCH", 0, 0, 0
		}, "ptrace", "Do not rely"},
		"a debugger outside": {"amd64", func(t *GateTried) { t.Debuggers, t.Held.Ptrace, t.Held.Outside = true, "ESRCH", "" }, "supervisor", "Do not rely"},
		"no filter":          {"amd64", func(t *GateTried) { t.Held.Filters = 1 }, "has 1 filters", "Do not rely"},
		"no fence":           {"amd64", func(t *GateTried) { t.Held.Fences = t.Free.Fences }, "no second fence", "Do not rely"},
		"signals":            {"amd64", func(t *GateTried) { t.Held.Signals.Failed, t.Held.Signals.Why = 3, "EEXIST" }, "3 of 100 failed (EEXIST)", "another version"},
		"no signals":         {"amd64", func(t *GateTried) { t.Held.Signals = wire.TrialSeries{} }, "0 of 0", "another version"},
		"programs": {"amd64", func(t *GateTried) { t.Held.Programs.Failed, t.Held.Programs.Why = 15, "loop: killed" },
			"15 of 20 failed (loop: killed)", "Do not rely"},
	} {
		t.Run(name, func(t *testing.T) {
			p, g := parts(t, &settings{}), &gate{}
			p.Engine = engineSays(core.EngineStatus{OK: true, Arch: c.arch})
			p.GateTrial, p.Gate = func(context.Context) (GateTried, error) { return tried(c.change), nil }, g
			got := checkOf(t, p)
			if len(g.told) != 1 || (g.told[0] == nil) != (c.cause == "") {
				t.Fatalf("the gate was told %v", g.told)
			}
			if c.cause == "" {
				if got.State != OK || !strings.Contains(got.Detail, "Kernel: 6.1.0") || !strings.Contains(got.Detail, "Landlock: ") {
					t.Errorf("%+v", got)
				}
				return
			}
			if got.State != Fail || !strings.Contains(got.Summary, c.cause) || !strings.Contains(got.Remedy, c.remedy) {
				t.Errorf("%+v", got)
			}
			if !strings.Contains(got.Remedy, "gates.agentgate.enabled to false in your own settings") || !strings.Contains(got.Detail, "Kernel: 6.1.0") {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestGateOnOtherKinds compares what the doctor says of computers that do not run Loop's
// tests with testdata/kinds.golden: the gate enforces, or refuses a start with a reason,
// or enforces and has something to add.
func TestGateOnOtherKinds(t *testing.T) {
	var said strings.Builder
	for _, kind := range []struct {
		name, arch string
		change     func(*GateTried)
	}{
		{"as those of the tests", "amd64", nil},
		{"Yama, relatives", "amd64", func(t *GateTried) { t.Free.Yama = 1 }},
		{"Yama, privileged", "amd64", func(t *GateTried) { t.Free.Yama = 2 }},
		{"Yama, nobody", "amd64", func(t *GateTried) { t.Free.Yama = 3; t.Refused = refusedBy("nobody may look") }},
		{"AppArmor", "amd64", func(t *GateTried) { t.Free.Profile = "docker-default (enforce)" }},
		{"AppArmor that refuses", "amd64", func(t *GateTried) {
			t.Free.Profile, t.Refused = "docker-default (enforce)", refusedBy("the probe ended with EPERM")
		}},
		{"SELinux", "amd64", func(t *GateTried) { t.Free.Profile = "system_u:system_r:container_t:s0:c1,c2" }},
		{"SELinux that refuses", "amd64", func(t *GateTried) {
			t.Free.Profile, t.Refused = "system_u:system_r:container_t:s0:c1,c2", refusedBy("the probe ended with EACCES")
		}},
		{"cgroup v2", "amd64", func(t *GateTried) { t.Free.Cgroup = 2 }},
		{"arm64", "aarch64", func(t *GateTried) { t.Free.Arch, t.Free.Machine = "arm64", "aarch64" }},
		{"amd64 under emulation", "arm64", func(t *GateTried) { t.Free.Install = wire.InstallKernel; t.Refused = refusedBy("x") }},
		{"older than 5.19, or without seccomp", "amd64", func(t *GateTried) {
			t.Free.Kernel, t.Free.Install, t.Refused = "5.10.0", wire.InstallKernel, refusedBy("x")
		}},
		{"another supervisor", "amd64", func(t *GateTried) { t.Free.Install, t.Refused = wire.InstallListener, refusedBy("x") }},
		{"without Landlock", "amd64", func(t *GateTried) { t.Free.Landlock, t.Free.Fences, t.Held.Fences = 0, 0, 0 }},
		{"Landlock 1", "amd64", func(t *GateTried) { t.Free.Landlock = 1 }},
		{"Landlock 3", "amd64", func(t *GateTried) { t.Free.Landlock = 3 }},
		{"debuggers", "amd64", func(t *GateTried) { t.Debuggers, t.Held.Ptrace = true, "ESRCH" }},
		{"debuggers, without Landlock", "amd64", func(t *GateTried) {
			t.Debuggers, t.Free.Landlock, t.Free.Fences, t.Held.Fences = true, 0, 0, 0
		}},
		{"debuggers, Yama", "amd64", func(t *GateTried) { t.Debuggers, t.Held.Ptrace, t.Free.Yama = true, "ESRCH", 2 }},
		{"debuggers, refused by the engine", "amd64", func(t *GateTried) { t.Debuggers = true }},
		{"a common desktop", "amd64", func(t *GateTried) {
			t.Free.Yama, t.Free.Profile, t.Free.Cgroup = 1, "docker-default (enforce)", 2
		}},
	} {
		p := parts(t, &settings{})
		p.Engine, p.Gate = engineSays(core.EngineStatus{OK: true, Arch: kind.arch}), &gate{}
		p.GateTrial = func(context.Context) (GateTried, error) { return tried(kind.change), nil }
		c := checkOf(t, p)
		fmt.Fprintf(&said, "== %s: %s\n%s\n", kind.name, c.State, c.Summary)
		if c.Remedy != "" {
			fmt.Fprintf(&said, "remedy: %s\n", c.Remedy)
		}
		for line := range strings.Lines(c.Detail + "\n") {
			for _, fact := range []string{"Kernel: ", "Landlock: ", "Yama: ", "Security module's", "Loop's own tests", "Debuggers: "} {
				if strings.HasPrefix(line, fact) {
					said.WriteString("  " + line)
				}
			}
		}
	}
	const golden = "testdata/kinds.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(said.String()), 0o644); err != nil { //nolint:gosec // not a secret
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(golden); err != nil || string(want) != said.String() {
		t.Errorf("%v: see the difference with -update; it says now:\n%s", err, said.String())
	}
}

var update = flag.Bool("update", false, "rewrite testdata/kinds.golden")

func checkOf(t *testing.T, p Parts) Check {
	t.Helper()
	for _, c := range (Doctor{Probes(p)}).Check(t.Context()).Checks {
		if c.ID == "gate" {
			return c
		}
	}
	t.Fatal("no check of the gate")
	return Check{}
}

// TestGateWithoutATrial: a gate that is switched off is not tried, and an engine that
// fails meanwhile says nothing of the gate.
func TestGateWithoutATrial(t *testing.T) {
	p, g := parts(t, &settings{}), &gate{off: true}
	p.Gate = g
	p.GateTrial = func(context.Context) (GateTried, error) {
		if g.off {
			t.Error("tried though it is off")
		}
		return GateTried{}, core.Fail(core.CodeEngineLost, nil, "The engine went away.", "Start it.")
	}
	if got := checkOf(t, p); got.State != Warn || !strings.Contains(got.Summary, "agentgate.enabled") {
		t.Errorf("off: %+v", got)
	}
	g.off = false
	if got := checkOf(t, p); got.State != Fail || got.Summary != "The engine went away." {
		t.Errorf("no engine: %+v", got)
	}
	if len(g.told) > 0 {
		t.Errorf("the gate was told %v", g.told)
	}
}

// TestTrialsTextIsHostile: what a container says of itself becomes one short line.
func TestTrialsTextIsHostile(t *testing.T) {
	long := plain("a\x1b[31m\nb\u202e" + strings.Repeat("é", maxWord))
	if strings.ContainsAny(long, "\x1b\n\u202e") || len(long) > maxWord || !strings.HasPrefix(long, "a [31m b") {
		t.Errorf("%q", long)
	}
}
