package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loop/backend/config"
	"loop/backend/core"
)

// TestProjectSettingsOfARun: settings that a project's file may make by itself count.
// The others are left out and named. An approved file counts in full.
func TestProjectSettingsOfARun(t *testing.T) {
	r := newSpecRig(t)
	trust := config.OpenTrust(filepath.Join(t.TempDir(), config.TrustFileName))
	r.ruled.effective = func(ch core.Channel) config.Effective { return config.ForDir(r.snap, trust, ch.Dir, "") }
	r.ask = true
	r.snap.Config.AnthropicBaseURL = "http://127.0.0.1:11434" // the link carries the model's requests, so the network may be none
	if err := os.Mkdir(filepath.Join(r.channel.Dir, config.ProjectFolder), 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		if err := os.WriteFile(config.ProjectPath(r.channel.Dir), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"container_network": "none", "claude_model": "opus", "envs": {"CHECK": "yes"}, "claude_retry": {"max_attempts": 2},
		"mcp": {"servers": {"gh": {"command": "npx", "args": ["-y"]}}}, "mounts": ["some-cache:/cache"]}`)
	spec, why, launch, err := r.resolve(t.Context(), core.Run{ID: "r1"}, r.channel)
	if err != nil || spec.Network != "none" || launch.Model != "opus" {
		t.Fatalf("%+v %+v %v", spec, launch, err)
	}
	cache := func(m core.Mount) bool { return m.Target == "/cache" }
	if slices.ContainsFunc(spec.Mounts, cache) || len(launch.MCPServers) > 0 || launch.Retry.MaxAttempts != 5 || launch.Retry.Base != 5*time.Second || len(r.ruled.waits) != 1 {
		t.Errorf("before approval: %+v %+v %+v", spec.Mounts, launch, r.ruled.waits)
	}
	if len(why.Notices) != 1 || !strings.Contains(why.Notices[0], "claude_retry.max_attempts, mounts, envs, mcp.servers") {
		t.Errorf("notices %q", why.Notices)
	}
	if err := trust.Approve(config.ProjectFile(r.channel.Dir), r.ruled.waits[0].SHA256); err != nil {
		t.Fatal(err)
	}
	spec, why, launch, err = r.resolve(t.Context(), core.Run{ID: "r2"}, r.channel)
	if err != nil || !slices.ContainsFunc(spec.Mounts, cache) || launch.Retry.MaxAttempts != 2 || len(why.Notices) != 0 || len(r.ruled.waits) != 0 {
		t.Errorf("after approval: %+v %+v %+v %v", spec.Mounts, launch, why, err)
	}
	if s := launch.MCPServers["gh"]; s.Command != "npx" || !slices.Equal(s.Args, []string{"-y"}) {
		t.Errorf("%+v", launch.MCPServers)
	}
	write(`{"container_network": "none"`)
	// A run under way goes on by what is known: how long it may take, and what is secret.
	r.snap.Config.ContainerTimeoutSec, r.snap.Config.Envs = 8*3600, map[string]any{"TOKEN": canary}
	_, launch, err = r.ForRun(t.Context(), core.Run{ID: "r3"}, r.channel)
	secret := slices.ContainsFunc(launch.Env, func(e core.EnvVar) bool { return e.Value == canary && e.Secret })
	if err == nil || core.AsFailure(err).Code != core.CodeConfig || launch.Timeout != 8*time.Hour || launch.APIKey != canary || !secret {
		t.Errorf("a broken file: %+v, %v", launch, err)
	}
}
