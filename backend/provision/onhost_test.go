package provision

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
	"loop/backend/sandbox"
)

var onHost = []string{"settings", "host", "prepare folders", "ready"}

// TestWithoutContainer takes no step that needs an engine: no image, no health, no volume,
// no container. Settings keep their variables, less those that would start code here.
func TestWithoutContainer(t *testing.T) {
	w, s, want := newWorld()
	w.values.OnHost, want.OnHost, want.Link = true, true, false
	w.values.Key = "k"
	w.values.Container.Envs = map[string]sandbox.Setting[any]{
		"FORGE_TOKEN": {Value: "x"}, "EDITOR": {Value: "vi"}, "NODE_OPTIONS": {Value: "--require ./evil.js"}, "LD_PRELOAD": {Value: "./evil.so"},
		"PATH": {Value: "./bin"}, "Git_Ssh_Command": {Value: "evil"}, "CLAUDE_CONFIG_DIR": {Value: "/elsewhere"},
	}
	w.values.Container.HTTPProxy.Value = "http://localhost:3128"
	w.values.Container.Network.Value = "none"
	w.values.Container.ExtraDirs = []sandbox.Setting[string]{{Value: "~/other"}}
	var ready Resolved
	want.Ready = func(r Resolved) error { ready = r; return w.step("ready") }
	s.o.Engine, s.o.Health, s.o.Images, s.o.Containers, s.o.Links = nil, nil, nil, nil, nil // a call of them would end the test
	l, err := s.Ensure(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(w.done, onHost) {
		t.Errorf("did %q", w.done)
	}
	if l.Container.ID != core.HostPlace("r1") || !l.Container.ID.OnHost() || !ready.OnHost || l.Spec.WorkDir != "/srv/project" || l.Kept() != "" {
		t.Errorf("%+v", l)
	}
	got := map[string]string{}
	for _, e := range l.Env {
		got[e.Name] = e.Value
	}
	for name, value := range map[string]string{
		"FORGE_TOKEN": "x", "EDITOR": "vi", "CHANNEL_ID": "c1", "CLAUDE_CONFIG_DIR": "/home/mira/.loop/channels/c1/claude",
		"HTTP_PROXY": "http://localhost:3128", "no_proxy": "localhost,127.0.0.1,::1",
	} {
		if got[name] != value {
			t.Errorf("%s is %q", name, got[name])
		}
	}
	for _, name := range []string{"NODE_OPTIONS", "LD_PRELOAD", "PATH", "Git_Ssh_Command", "HOME"} {
		if v, is := got[name]; is {
			t.Errorf("%s=%s goes to a program of this computer", name, v)
		}
	}
	said := strings.Join(l.Why.Notices, "\n")
	for _, word := range []string{HostNotice, "NODE_OPTIONS", "LD_PRELOAD", "container_network is none", "one thing waits", "started afresh"} {
		if !strings.Contains(said, word) {
			t.Errorf("nobody says %q: %s", word, said)
		}
	}
	if !slices.Equal(l.Why.AddDirs, []string{"/home/mira/other"}) {
		t.Errorf("%q", l.Why.AddDirs)
	}
	if err := l.Release(t.Context(), core.Ending{}); err != nil {
		t.Error(err)
	}
}

// TestWithoutContainerFails at each step, with the port's own error and no later step.
func TestWithoutContainerFails(t *testing.T) {
	for i, step := range onHost {
		w, s, want := newWorld()
		w.values.OnHost, want.OnHost, want.Link, w.breaks = true, true, false, step
		if l, err := s.Ensure(t.Context(), want); l != nil || !errors.Is(err, errOwn) || !slices.Equal(w.done, onHost[:i+1]) {
			t.Errorf("%s: %v, %v, did %q", step, l, err, w.done)
		}
	}
}

// TestContainerAllTheSame: without the settings' word, or without the Want's, which is that
// of whoever knows that an agent started the run, there is a container.
func TestContainerAllTheSame(t *testing.T) {
	for name, tc := range map[string]struct{ values, want bool }{"the settings": {true, false}, "the want": {false, true}, "neither": {}} {
		w, s, want := newWorld()
		w.values.OnHost, want.OnHost = tc.values, tc.want
		l, err := s.Ensure(t.Context(), want)
		if err != nil || l.OnHost || l.Container.ID.OnHost() || w.left != 1 {
			t.Errorf("%s: %+v, %v", name, l, err)
		}
		if r, err := s.Resolve(t.Context(), want); err != nil || r.OnHost {
			t.Errorf("%s: %v, %v", name, r.OnHost, err)
		}
	}
}

// TestPlanWithoutContainer says that nothing holds it.
func TestPlanWithoutContainer(t *testing.T) {
	w, s, want := newWorld()
	w.values.OnHost, want.OnHost, want.Plan = true, true, true
	r, err := s.Resolve(t.Context(), want)
	if err != nil || r.Spec.Plan || !strings.Contains(r.Why.Notices[1], "only the agent's own plan mode") || r.Why.Notices[0] != HostNotice {
		t.Errorf("%+v, %v", r.Why, err)
	}
	if r.Why.Origins[0].Field != "mode" {
		t.Errorf("%+v", r.Why.Origins[0])
	}
}
