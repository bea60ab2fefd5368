package sandbox

import (
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
	"loop/backend/wire"
)

// setupSettings are those of an agent of an example of OpenClaw's: no network, and a command.
func setupSettings() Settings {
	m := merged()
	m.Scope, m.Agent = Setting[string]{ScopeSession, fromBuiltin}, "dev"
	m.Network = Setting[string]{"none", ofAgents}
	m.Setup = Setting[string]{"apt-get install -y build-essential", ofAgents}
	return m
}

func resolveSetup(t *testing.T, m Settings, change func(*Subject)) (core.Spec, core.Explanation, error) {
	t.Helper()
	sub := subject("/home/mira/code/my-proj")
	sub.Shared, sub.ModelOnRelay = true, true
	if change != nil {
		change(&sub)
	}
	h := projectTree().fill(nil, sub, linuxHost())
	spec, ex, err := Resolve(m, sub, h)
	if err == nil {
		err = Validate(spec, h)
	}
	return spec, ex, err
}

// TestSetup: the network of the set-up alone, the root that can be written, what root needs
// for package managers, and the folder by which loop init gets the command.
func TestSetup(t *testing.T) {
	spec, ex, err := resolveSetup(t, setupSettings(), nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := "/home/mira/.loop/channels/" + channelID + "/setup/scope-"
	if s := spec.Setup; s.Command != "apt-get install -y build-essential" || s.Network != "bridge" || !strings.HasPrefix(s.Dir, dir) {
		t.Errorf("set up by %+v", s)
	}
	if spec.Network != "none" || spec.ReadOnlyRoot || !slices.Contains(spec.CapAdd, "FOWNER") || !slices.Contains(spec.CapAdd, "FSETID") {
		t.Errorf("network %s, read-only %v, capabilities %v", spec.Network, spec.ReadOnlyRoot, spec.CapAdd)
	}
	if i := slices.IndexFunc(spec.Mounts, func(m core.Mount) bool { return m.Target == wire.SetupDir }); i < 0 ||
		!spec.Mounts[i].ReadOnly || spec.Mounts[i].Source != spec.Setup.Dir {
		t.Errorf("mounts %+v", spec.Mounts)
	}
	if slices.ContainsFunc(spec.Mounts, func(m core.Mount) bool { return strings.HasPrefix(m.Target, "/etc/") }) {
		t.Error("package managers could not add users")
	}
	for _, e := range spec.Env {
		if strings.Contains(e.Value, "apt-get") {
			t.Errorf("the command is in the variable %s", e.Name)
		}
	}
	for field, want := range map[string]string{"setup.command": spec.Setup.Command, "setup.network": "bridge", "read_only_root": "false"} {
		if !slices.ContainsFunc(ex.Origins, func(o core.FieldOrigin) bool { return o.Field == field && o.Value == want && o.Line == ofAgents.Line }) {
			t.Errorf("%s is not explained", field)
		}
	}
	again, _, err := resolveSetup(t, setupSettings(), nil)
	if err != nil || again.Hash != spec.Hash || again.Fixed != spec.Fixed || again.Setup != spec.Setup {
		t.Errorf("another spec: %+v, %v", again.Setup, err)
	}
}

// TestSetupMakesAnotherContainer: a change of the command or its network is never put off.
func TestSetupMakesAnotherContainer(t *testing.T) {
	spec, _, err := resolveSetup(t, setupSettings(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Settings){
		"command": func(m *Settings) { m.Setup.Value = "true" },
		"network": func(m *Settings) { m.SetupNetwork.Value = "none" },
		"none":    func(m *Settings) { m.Setup.Value = "" },
	} {
		m := setupSettings()
		change(&m)
		if other, _, err := resolveSetup(t, m, nil); err != nil || other.Fixed == spec.Fixed || other.Hash == spec.Hash {
			t.Errorf("%s: the same container serves, %v", name, err)
		}
	}
}

func TestSetupNetwork(t *testing.T) {
	for _, c := range []struct{ network, setup, want string }{
		{"none", "", "bridge"}, {"none", "bridge", "bridge"}, {"none", "none", ""}, {"bridge", "", ""}, {"bridge", "bridge", ""}, {"bridge", "none", "none"},
		{"own", "", ""}, {"own", "bridge", "bridge"},
	} {
		m := setupSettings()
		m.Network.Value, m.SetupNetwork.Value = c.network, c.setup
		if spec, _, err := resolveSetup(t, m, nil); err != nil || spec.Setup.Network != c.want || spec.Network != c.network {
			t.Errorf("%s, set-up %q: %q, %v; want %q", c.network, c.setup, spec.Setup.Network, err, c.want)
		}
	}
}

// TestSetupOfEach: a container that serves once has a folder of its own, and Loop's own
// commands are not kept waiting by a set-up.
func TestSetupOfEach(t *testing.T) {
	m := setupSettings()
	m.Scope.Value = ScopeRun
	spec, _, err := resolveSetup(t, m, nil)
	if err != nil || !strings.HasSuffix(spec.Setup.Dir, "/setup/once-a1b2c3") {
		t.Errorf("of one run: %+v, %v", spec.Setup, err)
	}
	spec, _, err = resolveSetup(t, setupSettings(), func(s *Subject) { s.Shared, s.RunID = false, "" })
	if err != nil || spec.Setup != (core.ContainerSetup{}) || !spec.ReadOnlyRoot {
		t.Errorf("of Loop's own: %+v, %v", spec.Setup, err)
	}
}

func TestSetupRefused(t *testing.T) {
	for want, change := range map[string]func(*Settings){
		"“readOnlyRoot” (": func(m *Settings) { m.WritableRoot = Setting[bool]{false, ofAgents} },
		"“user” (":         func(m *Settings) { m.User = Setting[string]{"1001:1001", ofAgents} },
		"64 KiB":           func(m *Settings) { m.Setup.Value = strings.Repeat("#", wire.MaxSetupCommand+1) },
		"“setupNetwork” (": func(m *Settings) { m.SetupNetwork = Setting[string]{"host", ofAgents} },
	} {
		m := setupSettings()
		change(&m)
		_, _, err := resolveSetup(t, m, nil)
		if f := core.AsFailure(err); err == nil || f.Code != core.CodeInvalid || !strings.Contains(f.Cause, want) || f.Remedy == "" {
			t.Errorf("%s: %v", want, err)
		}
	}
	m := setupSettings()
	m.WritableRoot = Setting[bool]{true, ofAgents}
	if _, _, err := resolveSetup(t, m, nil); err != nil {
		t.Errorf("with a root that can be written: %v", err)
	}
}

// TestSetupChecked: what Resolve would never make is refused all the same.
func TestSetupChecked(t *testing.T) {
	sub := subject("/home/mira/code/my-proj")
	sub.Shared, sub.ModelOnRelay = true, true
	tree := projectTree()
	h := tree.fill(nil, sub, linuxHost())
	for name, breakIt := range map[string]func(*core.Spec){
		"no folder": func(s *core.Spec) { s.Mounts = withoutSetup(*s) },
		"no set-up": func(s *core.Spec) { s.Setup = core.ContainerSetup{} },
		"no mark": func(s *core.Spec) {
			s.Env = slices.DeleteFunc(s.Env, func(e core.EnvVar) bool { return e.Name == wire.SetupMark })
		},
		"read-only":       func(s *core.Spec) { s.ReadOnlyRoot = true },
		"host":            func(s *core.Spec) { s.Setup.Network = "host" },
		"container":       func(s *core.Spec) { s.Setup.Network = "container:x" },
		"NUL":             func(s *core.Spec) { s.Setup.Command = "a\x00b" },
		"another folder":  func(s *core.Spec) { moveSetup(s, "/home/mira/code/my-proj/setup") },
		"another channel": func(s *core.Spec) { moveSetup(s, "/home/mira/.loop/channels/other/setup/scope-0011223344556677") },
		"a folder in it":  func(s *core.Spec) { moveSetup(s, s.Setup.Dir+"/scope-0011223344556677") },
		"writable": func(s *core.Spec) {
			s.Mounts[slices.IndexFunc(s.Mounts, func(m core.Mount) bool { return m.Target == wire.SetupDir })].ReadOnly = false
		},
		"further capability": func(s *core.Spec) { s.CapAdd = append(s.CapAdd, "SYS_ADMIN") },
	} {
		spec, _, err := Resolve(setupSettings(), sub, h)
		if err != nil || Validate(spec, h) != nil {
			t.Fatal(err, Validate(spec, h))
		}
		breakIt(&spec)
		if Validate(spec, h) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	spec, _, err := Resolve(setupSettings(), sub, h)
	if err != nil {
		t.Fatal(err)
	}
	plain, _, err := Resolve(merged(), sub, h)
	if err != nil || Validate(plain, h) != nil {
		t.Fatal(err)
	}
	markSetup(&plain, &explainer{})
	if Validate(plain, h) == nil {
		t.Error("loop init would look for a command where an agent may write one")
	}
	tree[spec.Setup.Dir] = "-> /home/mira/code/my-proj"
	if Validate(spec, tree.fill(nil, sub, linuxHost())) == nil {
		t.Error("a link is accepted as the folder of the set-up")
	}
}

func moveSetup(s *core.Spec, dir string) {
	s.Setup.Dir = dir
	s.Mounts[slices.IndexFunc(s.Mounts, func(m core.Mount) bool { return m.Target == wire.SetupDir })].Source = dir
}
