package engine

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/docker/docker/api/types/container"

	"loop/backend/core"
)

var update = flag.Bool("update", false, "write the golden files")

// fullSpec is a spec with every field set.
func fullSpec() core.Spec {
	return core.Spec{
		Name: "loop-site-a1b2c3", Type: core.TypeAgent, ChannelID: "ch", RunID: "run", Image: "sha256:0123",
		Entrypoint: []string{"/opt/loop/bin/loop", "init"}, Cmd: []string{"x"},
		Env: []core.EnvVar{
			{Name: "API_URL", Value: "http://127.0.0.1:8222", Lane: "app"},
			{Name: "ODD", Value: "a=b c\nd", Lane: "operator"},
		},
		Labels: map[string]string{core.LabelApp: core.LabelAppName, core.LabelInstall: "i"},
		Mounts: []core.Mount{
			{Kind: core.MountWorkspace, Source: "/home/kim/my: site", Target: "/home/kim/my: site"},
			{Kind: core.MountSystem, Source: "/home/kim/my: site/.git/hooks", Target: "/home/kim/my: site/.git/hooks", ReadOnly: true},
			{Kind: core.MountSystem, Source: "loop-guest-abc", Target: "/opt/loop/bin", Volume: true, ReadOnly: true, NoCopy: true},
			{Kind: core.MountVolume, Source: "cache", Target: "/cache", Volume: true},
		},
		Tmpfs:   []core.Tmpfs{{Target: "/tmp", Options: "size=64m,mode=1777,exec"}, {Target: "/run/loop", Options: "mode=0755"}},
		WorkDir: "/home/kim/my: site", User: "0:0",
		Limits: core.Limits{MemoryBytes: 2 << 30, CPUs: 1.5, Pids: 512}, ShmBytes: 256 << 20,
		CapDrop:         []string{"ALL"},
		CapAdd:          []string{"SETUID", "SETGID", "SYS_PTRACE", "DAC_OVERRIDE", "KILL", "CHOWN"},
		NoNewPrivileges: true, ReadOnlyRoot: true, Network: "bridge",
		ExtraHosts: []string{"host.docker.internal:host-gateway"}, StopGraceSec: 10,
	}
}

func TestCreateBodyGolden(t *testing.T) {
	for name, s := range map[string]core.Spec{"full": fullSpec(), "bare": {Name: "bare", Image: "img", Network: "none"}} {
		t.Run(name, func(t *testing.T) {
			cfg, host := createBody(s)
			got, err := json.MarshalIndent(struct {
				Config     *container.Config
				HostConfig *container.HostConfig
			}{cfg, host}, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			file := filepath.Join("testdata", "create_"+name+".json")
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("the engine would get something else; look at the difference, then run with -update:\n%s", got)
			}
		})
	}
}

// TestCreateBodyInvariants checks rules that hold for every spec.
func TestCreateBodyInvariants(t *testing.T) {
	for _, s := range []core.Spec{fullSpec(), {}} {
		cfg, host := createBody(s)
		if host.AutoRemove || host.Privileged || host.PublishAllPorts || cfg.Tty || cfg.OpenStdin || cfg.AttachStdin {
			t.Errorf("forbidden setting in %+v %+v", cfg, host)
		}
		if host.Init == nil || *host.Init {
			t.Error("the engine's own init is not switched off")
		}
		if len(host.Binds) != 0 {
			t.Error("binds create missing sources; mounts are to be used")
		}
		if host.Memory != host.MemorySwap {
			t.Errorf("memory %d, with swap %d", host.Memory, host.MemorySwap)
		}
		for _, m := range host.Mounts {
			if m.BindOptions != nil && m.BindOptions.CreateMountpoint {
				t.Errorf("mount %s would create its source", m.Target)
			}
		}
	}
}

// TestPlanLeavesOutWhatIsMountedBelow: an older engine makes only the top of a bind
// read-only. In a plan, where nothing may be written, mounts below the top are left
// out.
func TestPlanLeavesOutWhatIsMountedBelow(t *testing.T) {
	for _, plan := range []bool{false, true} {
		s := fullSpec()
		s.Plan = plan
		_, host := createBody(s)
		for i, m := range host.Mounts {
			want := plan && s.Mounts[i].ReadOnly && !s.Mounts[i].Volume
			if got := m.BindOptions != nil && m.BindOptions.NonRecursive; got != want {
				t.Errorf("plan %v, %s: left out %v", plan, m.Target, got)
			}
		}
	}
}

func TestResources(t *testing.T) {
	for _, tc := range []struct {
		cpus  float64
		quota int64
	}{{0, 0}, {0.001, minCPUQuota}, {0.5, 50_000}, {1.337, 133_700}, {8, 800_000}} {
		r := resources(core.Limits{CPUs: tc.cpus})
		if r.CPUQuota != tc.quota || (tc.quota > 0) != (r.CPUPeriod == cpuPeriod) {
			t.Errorf("%v CPUs: quota %d of %d", tc.cpus, r.CPUQuota, r.CPUPeriod)
		}
		if r.PidsLimit != nil || r.Memory != 0 {
			t.Errorf("limits nobody asked for: %+v", r)
		}
	}
}

func BenchmarkCreateBody(b *testing.B) {
	s := fullSpec()
	b.ReportAllocs()
	for b.Loop() {
		createBody(s)
	}
}
