package engine

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"

	"loop/backend/core"
	"loop/backend/sandbox"
)

// soundSpec is a spec as Resolve makes it, and the computer that it is for, on which every
// path is a folder of its own.
func soundSpec(tb testing.TB) (core.Spec, sandbox.Host) {
	tb.Helper()
	h := sandbox.Host{OS: "linux", User: "mira", UID: 1000, GID: 1000, Home: "/home/mira", LoopHome: "/home/mira/.loop", TimeZone: "UTC",
		Look: func(p string) sandbox.PathFact { return sandbox.PathFact{Kind: sandbox.PathDir, Target: p} }}
	spec, _, err := sandbox.Resolve(sandbox.Settings{
		Access: sandbox.Setting[string]{Value: sandbox.AccessRW}, Network: sandbox.Setting[string]{Value: "bridge"},
		MemoryMB: sandbox.Setting[int]{Value: 2048}, CPUs: sandbox.Setting[float64]{Value: 1}, Pids: sandbox.Setting[int64]{Value: 1024},
		Mounts: []sandbox.Setting[string]{{Value: "/srv/data:/data"}, {Value: "loop-npm:~/.npm"}},
	}, sandbox.Subject{
		Type: core.TypeAgent, Channel: core.Channel{ID: "chan1", Dir: "/home/mira/code/proj"}, Image: "loop-agent:latest", ImageID: "sha256:1",
		GuestVolume: "loop-guest-test1", InstallID: "test", NameSuffix: "0a0b0c", Shared: true,
	}, h)
	if err == nil {
		err = sandbox.Validate(spec, h)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return spec, h
}

// forbidden is what no engine may be asked for, in the words of the Engine API.
func forbidden(cfg *container.Config, h *container.HostConfig) (bad []string) {
	must := func(ok bool, what string) {
		if !ok {
			bad = append(bad, what)
		}
	}
	network := string(h.NetworkMode)
	must(network != "" && network != "host" && !strings.Contains(network, ":"), "network "+network)
	must(!h.Privileged && !h.PublishAllPorts && !h.AutoRemove && len(h.PortBindings) == 0 && len(cfg.ExposedPorts) == 0, "privileges or ports")
	must(h.PidMode == "" && h.UTSMode == "" && h.UsernsMode == "" && h.IpcMode == container.IPCModePrivate && h.CgroupnsMode == "" && h.Cgroup == "",
		"a namespace of others")
	must(len(h.Devices) == 0 && len(h.DeviceCgroupRules) == 0 && len(h.Binds) == 0 && len(h.VolumesFrom) == 0 && len(h.Sysctls) == 0 &&
		len(h.GroupAdd) == 0 && len(h.Links) == 0 && h.CgroupParent == "" && h.Runtime == "" && h.VolumeDriver == "" &&
		h.MaskedPaths == nil && h.ReadonlyPaths == nil, "devices, paths or a runtime")
	must(slices.Equal(h.CapDrop, []string{"ALL"}), "capabilities kept")
	for _, c := range h.CapAdd {
		must(slices.Contains([]string{"SETUID", "SETGID", "SYS_PTRACE", "DAC_OVERRIDE", "KILL", "CHOWN", "FOWNER", "FSETID"}, c), "capability "+c)
	}
	must(slices.Contains(h.SecurityOpt, "no-new-privileges:true"), "new privileges")
	for _, o := range h.SecurityOpt {
		must(!strings.Contains(strings.ToLower(o), "unconfined") && !strings.HasPrefix(o, "label"), "security option "+o)
	}
	must(cfg.User == "0:0" && slices.Equal(cfg.Entrypoint, []string{"/opt/loop/bin/loop", "init"}), "another first process")
	must(h.Memory > 0 && h.PidsLimit != nil && *h.PidsLimit > 0 && h.CPUQuota > 0, "no limit")
	for _, m := range h.Mounts {
		must(m.Type == mount.TypeBind || m.Type == mount.TypeVolume, "a mount of another type")
		must(m.Type != mount.TypeBind || m.BindOptions.Propagation == mount.PropagationRPrivate && !m.BindOptions.CreateMountpoint, "a mount that spreads")
		must(m.VolumeOptions == nil || m.VolumeOptions.DriverConfig == nil, "a volume of a driver")
		for _, dir := range []string{"/", "/etc", "/proc", "/sys", "/dev", "/boot", "/root", "/run", "/var", "/var/run", "/home/mira", "/home/mira/.ssh",
			"/home/mira/.aws", "/home/mira/.docker", "/home/mira/.gnupg", "/var/run/docker.sock", "/run/docker.sock"} {
			must(m.Type != mount.TypeBind || m.Source != dir, "a mount of "+dir)
		}
		for _, dir := range []string{"/etc/", "/proc/", "/sys/", "/dev/", "/boot/", "/root/", "/home/mira/.ssh/", "/home/mira/.aws/", "/home/mira/.docker/"} {
			must(m.Type != mount.TypeBind || !strings.HasPrefix(m.Source, dir), "a mount in "+dir)
		}
		must(!strings.HasPrefix(m.Target, "/opt/loop/bin/") && !strings.HasPrefix(m.Target, "/proc") && !strings.HasPrefix(m.Target, "/sys"), "a mount at "+m.Target)
	}
	return bad
}

// FuzzForbiddenHostConfig changes parts of a sound spec. Whatever Validate lets pass asks the
// engine for nothing that is forbidden.
func FuzzForbiddenHostConfig(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"network":"host"}`, `{"network":"container:x"}`, `{"cap_add":["SYS_ADMIN"]}`, `{"cap_drop":[]}`, `{"no_new_privileges":false}`,
		`{"user":"1:1"}`, `{"seccomp":"unconfined"}`, `{"apparmor":" Unconfined"}`, `{"entrypoint":["/bin/sh"]}`, `{"limits":{"memory_bytes":-1}}`,
		`{"mounts":[{"kind":"extra","source":"/","target":"/x"}]}`, `{"mounts":[{"kind":"system","source":"/etc","target":"/x"}]}`,
		`{"mounts":[{"kind":"state","source":"/home/mira/.ssh","target":"/x"}]}`, `{"tmpfs":[{"target":"/proc/x","options":"size=1"}]}`,
		`{"extra_hosts":["a:1"],"dns":["x"]}`, `{"ulimits":[{"name":"nofile","soft":1,"hard":2}]}`, `{"env":[{"name":"PATH","value":"x","lane":"app"}]}`,
		`{"setup":{"command":"x","network":"host","dir":"/etc"}}`, `{"plan":true}`, `{"gpus":true}`, `{"shm_bytes":-5}`, `{"stop_grace_sec":0}`,
	} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, change string, add bool) {
		spec, h := soundSpec(t)
		mounts := spec.Mounts
		if json.Unmarshal([]byte(change), &spec) != nil {
			return
		}
		if add { // the mounts of the change besides those of before
			spec.Mounts = append(slices.Clone(mounts), spec.Mounts...)
		}
		if sandbox.Validate(spec, h) != nil {
			return
		}
		if bad := forbidden(createBody(spec)); len(bad) > 0 {
			t.Errorf("%s: %q", change, bad)
		}
	})
}

// TestForbiddenIsSeen: the rules above refuse what they are there for.
func TestForbiddenIsSeen(t *testing.T) {
	spec, _ := soundSpec(t)
	if bad := forbidden(createBody(spec)); len(bad) > 0 {
		t.Errorf("a sound spec: %q", bad)
	}
	for name, change := range map[string]func(*core.Spec){
		"network": func(s *core.Spec) { s.Network = "container:x" }, "capability": func(s *core.Spec) { s.CapAdd = []string{"SYS_ADMIN"} },
		"kept": func(s *core.Spec) { s.CapDrop = nil }, "new privileges": func(s *core.Spec) { s.NoNewPrivileges = false },
		"security option": func(s *core.Spec) { s.Seccomp = "unconfined" }, "first process": func(s *core.Spec) { s.User = "1:1" },
		"limit": func(s *core.Spec) { s.Limits.Pids = 0 }, "mount of /etc": func(s *core.Spec) { s.Mounts[0].Source, s.Mounts[0].Volume = "/etc", false },
		"mount at": func(s *core.Spec) { s.Mounts[0].Target = "/proc/x" },
	} {
		s, _ := soundSpec(t)
		change(&s)
		if bad := forbidden(createBody(s)); !strings.Contains(strings.Join(bad, "; "), name) {
			t.Errorf("%s: %q", name, bad)
		}
	}
}
