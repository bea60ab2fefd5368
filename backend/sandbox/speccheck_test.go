package sandbox

import (
	"encoding/json"
	"testing"

	"loop/backend/core"
)

// TestValidate breaks a good spec in one way at a time, as a caller other than Resolve
// might.
func TestValidate(t *testing.T) {
	fs := projectTree()
	fs["/srv/sneaky"] = "-> /home/mira"
	layers := []Layer{{Name: core.LayerGlobal, Mounts: []string{"/srv/data:/data"}}}
	sub := subject("/home/mira/code/my-proj")
	good, _ := mustResolve(t, fs, layers, sub, linuxHost())
	h := fs.fill(layers, sub, linuxHost())
	if err := Validate(good, h); err != nil {
		t.Fatal(err)
	}
	bind := func(src, dst string) core.Mount { return core.Mount{Kind: core.MountExtra, Source: src, Target: dst} }
	for name, breakIt := range map[string]func(*core.Spec){
		"name":               func(s *core.Spec) { s.Name = "evil" },
		"hash":               func(s *core.Spec) { s.Hash = "" },
		"label missing":      func(s *core.Spec) { delete(s.Labels, core.LabelInstall) },
		"label wrong":        func(s *core.Spec) { s.Labels[core.LabelChannel] = "other" },
		"entrypoint":         func(s *core.Spec) { s.Entrypoint = []string{"/bin/sh"} },
		"user":               func(s *core.Spec) { s.User = "1000:1000" },
		"cap drop":           func(s *core.Spec) { s.CapDrop = nil },
		"cap add":            func(s *core.Spec) { s.CapAdd = append(s.CapAdd, "SYS_ADMIN") },
		"new privileges":     func(s *core.Spec) { s.NoNewPrivileges = false },
		"memory":             func(s *core.Spec) { s.Limits.MemoryBytes = 0 },
		"pids":               func(s *core.Spec) { s.Limits.Pids = -1 },
		"network host":       func(s *core.Spec) { s.Network = "host" },
		"network container":  func(s *core.Spec) { s.Network = "container:x" },
		"extra host":         func(s *core.Spec) { s.ExtraHosts = []string{"db.example.com:host-gateway"} },
		"extra host of Loop": func(s *core.Spec) { s.ExtraHosts = []string{"host.docker.internal:1.2.3.4"} },
		"name server":        func(s *core.Spec) { s.DNS = []string{"dns.example.com"} },
		"no profile":         func(s *core.Spec) { s.Seccomp = " Unconfined" },
		"no AppArmor":        func(s *core.Spec) { s.AppArmor = "unconfined" },
		"AppArmor options":   func(s *core.Spec) { s.AppArmor = "a,seccomp=unconfined" },
		"swap":               func(s *core.Spec) { s.Limits.SwapBytes = 1 << 20 },
		"tmpfs of devices":   func(s *core.Spec) { s.Tmpfs = append(s.Tmpfs, core.Tmpfs{Target: "/cache", Options: "dev,suid"}) },
		"tmpfs over Loop":    func(s *core.Spec) { s.Tmpfs = append(s.Tmpfs, core.Tmpfs{Target: "/opt/loop/bin", Options: tmpfsBase}) },
		"scope of all":       func(s *core.Spec) { s.Scope = ScopeShared },
		"scope of another":   func(s *core.Spec) { s.Scope = "session:other" },
		"agent of another":   func(s *core.Spec) { s.Scope = "agent:main:other" },
		"agent of nobody":    func(s *core.Spec) { s.Scope = "agent::" + string(s.ChannelID) },
		"agent":              func(s *core.Spec) { s.Agent.UID = SupervisorID },
		"env unsorted":       func(s *core.Spec) { s.Env[0], s.Env[1] = s.Env[1], s.Env[0] },
		"env twice":          func(s *core.Spec) { s.Env = append(s.Env, s.Env[len(s.Env)-1]) },
		"env key":            func(s *core.Spec) { s.Env = []core.EnvVar{{Name: "ANTHROPIC_API_KEY", Value: "x", Lane: LaneApp}} },
		"env secret":         func(s *core.Spec) { s.Env[0].Secret = true },
		"env stolen":         func(s *core.Spec) { s.Env[0].Lane = LaneOperator },
		"env lane":           func(s *core.Spec) { s.Env[0].Lane = "" },
		"target twice":       func(s *core.Spec) { s.Mounts = append(s.Mounts, bind("/srv/data", "/data")) },
		"target on tmpfs":    func(s *core.Spec) { s.Mounts = append(s.Mounts, bind("/srv/data", "/tmp")) },
		"target dots":        func(s *core.Spec) { s.Mounts = append(s.Mounts, bind("/srv/data", "/x/../opt/loop")) },
		"target relative":    func(s *core.Spec) { s.Mounts = append(s.Mounts, bind("/srv/data", "x")) },
		"target guest":       func(s *core.Spec) { s.Mounts = append(s.Mounts, bind("/srv/data", "/opt/loop/bin")) },
		"target by surface": func(s *core.Spec) {
			s.Mounts = append(s.Mounts, core.Mount{Kind: core.MountSurface, Source: "/srv/data", Target: "/run/loop/x", ReadOnly: true})
		},
		"source root":      func(s *core.Spec) { s.Mounts = append(s.Mounts, bind("/", "/h")) },
		"source loop home": func(s *core.Spec) { s.Mounts = append(s.Mounts, bind("/home/mira/.loop/run", "/h")) },
		"source home":      func(s *core.Spec) { s.Mounts = append(s.Mounts, bind("/home/mira", "/h")) },
		"source link":      func(s *core.Spec) { s.Mounts = append(s.Mounts, bind("/srv/sneaky", "/h")) },
		"source socket":    func(s *core.Spec) { s.Mounts = append(s.Mounts, bind("/var/run/docker.sock", "/s")) },
		"source unclean":   func(s *core.Spec) { s.Mounts = append(s.Mounts, bind("/srv/../etc", "/s")) },
		"credential rw": func(s *core.Spec) {
			s.Mounts = append(s.Mounts, core.Mount{Kind: core.MountCredential, Source: "/home/mira/.ssh", Target: "/k"})
		},
		"ssh as extra rw": func(s *core.Spec) { s.Mounts = append(s.Mounts, bind("/home/mira/.ssh", "/k")) },
		"other's state": func(s *core.Spec) {
			s.Mounts[3].Source = "/home/mira/.loop/channels/other/home"
		},
		"state elsewhere": func(s *core.Spec) {
			s.Mounts = append(s.Mounts, core.Mount{Kind: core.MountState, Source: "/home/mira/.loop", Target: "/l"})
		},
		"system elsewhere": func(s *core.Spec) {
			s.Mounts = append(s.Mounts, core.Mount{Kind: core.MountSystem, Source: "/var/run/docker.sock", Target: "/s", ReadOnly: true})
		},
		"guest writable": func(s *core.Spec) { s.Mounts[0].ReadOnly = false },
		"guest missing":  func(s *core.Spec) { s.Mounts = s.Mounts[1:] },
		"guest volume rw": func(s *core.Spec) {
			s.Mounts = append(s.Mounts, core.Mount{Kind: core.MountVolume, Volume: true, Source: "loop-guest-1", Target: "/g"})
		},
		"no workspace":  func(s *core.Spec) { s.WorkDir = "/elsewhere" },
		"foreign tmpfs": func(s *core.Spec) { s.Tmpfs = append(s.Tmpfs, core.Tmpfs{Target: "/x", Options: "exec"}) },
		"no run tmpfs":  func(s *core.Spec) { s.Tmpfs = s.Tmpfs[2:] },
		"unknown kind":  func(s *core.Spec) { s.Mounts[len(s.Mounts)-1].Kind = "x" },
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := json.Marshal(good)
			if err != nil {
				t.Fatal(err)
			}
			var spec core.Spec
			if err := json.Unmarshal(raw, &spec); err != nil {
				t.Fatal(err)
			}
			breakIt(&spec)
			wantFailure(t, Validate(spec, h), core.CodeInvalid, "safety rule")
		})
	}
}
