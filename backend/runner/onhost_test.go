package runner

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/wire"
)

var aPlace = HostPlace{Runs: filepath.FromSlash("/loop/run/host"), Loop: "/opt/loop", URL: "http://127.0.0.1:4321", Token: "token-of-the-run"}

// TestLaunchOnHost: nothing of a run on this computer names a place of a container, its
// token is in files alone unless the model is the demo's, and a model of the person's own is
// asked directly.
func TestLaunchOnHost(t *testing.T) {
	l := Launch{Upstream: core.ModelUpstream{BaseURL: "http://localhost:11434"}, APIKey: "k", Browser: true}.OnHost(aPlace)
	run := core.Run{ID: "r1", ChannelID: "c", SpawnID: "s1"}
	line := argv(l, run, startAt{}, nil)
	if i := slices.Index(line, "--mcp-config"); line[i+1] != filepath.Join(aPlace.Runs, "s1", mcpFile) {
		t.Errorf("%q", line)
	}
	if i := slices.Index(line, "--setting-sources"); i < 0 || line[i+1] != "project,local" || !slices.Contains(line, "--strict-mcp-config") {
		t.Errorf("%q", line)
	}
	env := environ(l, run.SpawnID, runModel(l, run))
	b, err := mcpConfig(l, run, "/repo")
	if err != nil {
		t.Fatal(err)
	}
	var cfg struct {
		Servers map[string]MCPServer `json:"mcpServers"`
	}
	if err := json.Unmarshal(b, &cfg); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"loop", "loop-browser"} {
		s := cfg.Servers[name]
		if s.Command != aPlace.Loop || s.Env[wire.TokenEnv] != "token-of-the-run" || !slices.Contains(s.Args, aPlace.URL) || slices.Contains(s.Args, "token-of-the-run") {
			t.Errorf("%s: %+v", name, s)
		}
	}
	all := strings.Join(line, " ") + string(b)
	for _, e := range env {
		all += e.Name + "=" + e.Value + "\n"
		if e.Value == "token-of-the-run" {
			t.Errorf("%s has the token", e.Name)
		}
		if e.Name == "ANTHROPIC_BASE_URL" && e.Value != "http://localhost:11434" {
			t.Errorf("%+v", e)
		}
	}
	for _, inside := range []string{wire.RelayAddr, wire.RunsDir, wire.GuestBinary} {
		if strings.Contains(all, inside) {
			t.Errorf("%s is named: %s", inside, all)
		}
	}
	demo := runModel(l, core.Run{ID: "r1", Demo: true})
	for name, want := range map[string]string{"ANTHROPIC_BASE_URL": "http://127.0.0.1:4321/runs/r1/model", "ANTHROPIC_API_KEY": "token-of-the-run"} {
		if !slices.ContainsFunc(demo, func(e core.EnvVar) bool { return e.Name == name && e.Value == want }) {
			t.Errorf("%s: %+v", name, demo)
		}
	}
	if got := newSecrets(l).Text("it is token-of-the-run"); strings.Contains(got, "token-of") {
		t.Errorf("%s", got)
	}
}

// TestPlaceThatIsNotCertain: where container and launch do not fit, nothing is started.
func TestPlaceThatIsNotCertain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, cli := newSpawnRig(t, fine)
		r.launch = r.launch.OnHost(aPlace) // for a container
		r.start()
		defer r.quit()
		run := r.ended(r.promptPlan(), time.Hour)
		if f := run.Outcome.Failure; run.State != core.RunFailed || f.Code != core.CodeInternal || len(cli.all()) > 0 {
			t.Errorf("%s: %+v, %d spawned", run.State, f, len(cli.all()))
		}
	})
}

// TestWhereRunsWork: what an agent started, or what continues that, never works on this
// computer, and a run stays where it has begun.
func TestWhereRunsWork(t *testing.T) {
	agents := core.AuthorAgent + "r0"
	for name, tc := range map[string]struct {
		run  core.Run
		want bool
	}{
		"a person's": {core.Run{}, true}, "an answer": {core.Run{Trigger: TriggerAnswer}, true}, "named": {core.Run{AuthorID: "mira"}, true},
		"an agent's": {core.Run{Trigger: "agent"}, false}, "its repetition": {core.Run{AuthorID: agents}, false},
		"its answer": {core.Run{Trigger: TriggerAnswer, AuthorID: agents}, false}, "its continuation": {core.Run{Trigger: TriggerContinue, AuthorID: agents}, false},
		"begun here": {core.Run{ContainerID: core.HostPlace("r1")}, true}, "begun there": {core.Run{ContainerID: "4f2a"}, false},
	} {
		if got := tc.run.OnHost(true); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
		if tc.run.ContainerID == "" && tc.run.OnHost(false) {
			t.Errorf("%s works here without the settings' word", name)
		}
	}
}
