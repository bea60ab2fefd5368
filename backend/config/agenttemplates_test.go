package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
	"loop/backend/sandbox"
)

// seedExample is OpenClaw's, as people have it in their settings.
const seedExample = `{
  "agents": {
    "defaults": {
      "sandbox": {
        "mode": "all",
        "scope": "agent",
        "docker": {
          "image": "openclaw-sandbox:bookworm-slim",
          "memory": "512m",
          "cpus": 1.0
        }
      }
    },
    "list": [
      {
        "id": "main",
        "sandbox": {
          "docker": {
            "image": "openclaw-sandbox-common:bookworm-slim",
            "memory": "2g",
            "cpus": 4.0,
            "network": "bridge"
          }
        }
      },
      {
        "id": "dev",
        "sandbox": {
          "docker": {
            "image": "openclaw-sandbox-common:bookworm-slim",
            "setupCommand": "apt-get install -y build-essential",
            "memory": "1g"
          }
        }
      }
    ]
  }
}`

func ofAgentID(t *testing.T, g Snapshot, id, dir string) Effective {
	t.Helper()
	return ForChannel(g, new(Trust), core.ChannelChoices{AgentID: id}, dir, "")
}

func TestTheSeedsExampleIsInForce(t *testing.T) {
	g := global(t, seedExample)
	if len(g.Problems) > 0 {
		t.Fatalf("%+v", g.Problems)
	}
	for _, tc := range []struct {
		id, image string
		memory    int
		cpus      float64
		setup     string
		line      int // of the memory limit
	}{
		{"", "openclaw-sandbox-common:bookworm-slim", 2048, 4, "", 20},
		{"main", "openclaw-sandbox-common:bookworm-slim", 2048, 4, "", 20},
		{"dev", "openclaw-sandbox-common:bookworm-slim", 1024, 1, "apt-get install -y build-essential", 32},
	} {
		e := ofAgentID(t, g, tc.id, "")
		s := e.Container()
		if e.Err != nil || s.Image.Value != tc.image || s.MemoryMB.Value != tc.memory || s.CPUs.Value != tc.cpus ||
			s.Scope.Value != sandbox.ScopeAgent || e.Template.Sandbox.Docker.SetupCommand != tc.setup || e.OnHost(true) {
			t.Errorf("%q: %v %+v", tc.id, e.Err, s)
		}
		if from := s.MemoryMB.From; from.Line != tc.line || from.Path != g.Path || !strings.HasPrefix(from.Layer, "agent ") && from.Layer != core.LayerAgent {
			t.Errorf("%q: the memory limit is from %s", tc.id, from)
		}
	}
	if e := ofAgentID(t, g, "gone", ""); core.AsFailure(e.Err).Code != core.CodeInvalid {
		t.Errorf("an agent that is not there: %v", e.Err)
	}
	if e := ofAgentID(t, global(t, `{}`), "dev", ""); e.Err == nil {
		t.Error("an agent where there are none")
	}
}

// TestLevelsOfAgents: an agent's word comes over that for all, and both over Loop's own.
// Objects are merged by key and binds by their place in the container; other lists replace.
func TestLevelsOfAgents(t *testing.T) {
	g := global(t, `{
		"container_pids": 100, "mounts": ["a:/a", "b:/b"], "envs": {"A": "flat", "B": "flat"},
		"agents": {
			"defaults": {"sandbox": {"docker": {
				"pidsLimit": 200, "binds": ["d:/b", "d:/d"], "env": {"B": "all", "C": 1}, "dns": ["9.9.9.9"],
				"ulimits": {"nofile": 64, "core": "0:1"}, "tmpfs": ["/x"], "readOnlyRoot": false, "user": "1000"
			}}},
			"list": [{"id": "dev", "name": "Dev", "sandbox": {"mode": "non-main", "docker": {
				"binds": ["e:/d:ro"], "env": {"C": "own"}, "dns": ["1.1.1.1", "8.8.8.8"], "ulimits": {"nofile": {"soft": 1, "hard": 2}}
			}}}]
		}}`)
	if len(g.Problems) > 0 {
		t.Fatalf("%+v", g.Problems)
	}
	texts := func(list []sandbox.Setting[string]) string {
		var out []string
		for _, s := range list {
			out = append(out, s.Value)
		}
		return strings.Join(out, " ")
	}
	for id, want := range map[string]string{
		"main": "200 | a:/a d:/b d:/d | A=flat B=all C=1 | 9.9.9.9 | [{core 0 1} {nofile 64 64}] | /x | true | 1000 | false",
		"dev":  "200 | a:/a d:/b e:/d:ro | A=flat B=all C=own | 1.1.1.1 8.8.8.8 | [{core 0 1} {nofile 1 2}] | /x | true | 1000 | true",
	} {
		e := ofAgentID(t, g, id, "")
		s := e.Container()
		var envs []string
		for _, name := range []string{"A", "B", "C"} {
			envs = append(envs, fmt.Sprintf("%s=%v", name, s.Envs[name].Value))
		}
		got := fmt.Sprintf("%d | %s | %s | %s | %v | %s | %v | %s | %v", s.Pids.Value, texts(s.Mounts), strings.Join(envs, " "),
			texts(s.DNS), s.Ulimits.Value, texts(s.Tmpfs), s.WritableRoot.Value, s.User.Value, e.OnHost(true))
		if got != want || e.Err != nil || e.OnHost(false) {
			t.Errorf("%s:\n%s\n%s %v", id, got, want, e.Err)
		}
	}
	e := ofAgentID(t, g, "dev", "")
	for name, line := range map[string]int{"envs.A": 2, "envs.B": 5, "envs.C": 9, "mounts[/a]": 2, "mounts[/b]": 5, "mounts[/d]": 9, "sandbox.docker.dns": 9} {
		if e.Origins[name].Line != line {
			t.Errorf("%s is from %s, want line %d", name, e.Origins[name], line)
		}
	}
}

// TestAProjectOverAnAgent: what a project tightens holds against the agent's settings, and
// it has no word on agents.
func TestAProjectOverAnAgent(t *testing.T) {
	g := global(t, `{"agents": {"defaults": {"sandbox": {"scope": "shared", "docker": {"memory": "4g", "network": "bridge"}}},
		"list": [{"id": "dev", "sandbox": {"mode": "off", "docker": {"memory": "8g"}}}]}}`)
	dir := project(t, t.TempDir(), `{"container_memory_mb": 1024, "container_network": "none", "agents": {"defaults": {"sandbox": {"mode": "off"}}}}`)
	e := ofAgentID(t, g, "", dir)
	if e.Err != nil || e.Config.ContainerMemoryMB != 1024 || e.Config.ContainerNetwork != "none" || e.OnHost(true) {
		t.Errorf("%v %d %s", e.Err, e.Config.ContainerMemoryMB, e.Config.ContainerNetwork)
	}
	if e.Config.ContainerScope != sandbox.ScopeSession || len(e.Notices) != 1 {
		t.Errorf("shares with all: %s %v", e.Config.ContainerScope, e.Notices)
	}
	bare := t.TempDir()
	if e := ofAgentID(t, g, "", bare); e.Config.ContainerScope != sandbox.ScopeShared {
		t.Errorf("a project without settings has the scope %s", e.Config.ContainerScope)
	}
	e = ofAgentID(t, g, "dev", bare)
	if e.Config.ContainerMemoryMB != 4096 || len(e.Notices) != 1 || !e.OnHost(false) {
		t.Errorf("a single agent chooses for all: %d %v", e.Config.ContainerMemoryMB, e.Notices)
	}
	with := ForChannel(g, new(Trust), core.ChannelChoices{ExtraDirs: []string{"/srv/x"}, Model: "m", Effort: "low"}, bare, "")
	if with.Config.ContainerScope != sandbox.ScopeSession || with.Config.ClaudeModel != "m" || with.Config.ClaudeEffort != "low" ||
		!slices.Equal(with.Config.ExtraDirs, []string{"/srv/x"}) || with.Origins["claude_model"].Layer != core.LayerChannel {
		t.Errorf("choices: %+v", with.Config)
	}
}

func TestScopeOnlyNarrows(t *testing.T) {
	for from, allowed := range map[string]string{"shared": "shared agent session run", "agent": "agent session run", "session": "session run", "run": "run"} {
		for _, to := range scopes {
			e := ForDir(global(t, fmt.Sprintf(`{"container_scope": %q}`, from)), new(Trust), project(t, t.TempDir(), fmt.Sprintf(`{"container_scope": %q}`, to)), "")
			want := from
			if slices.Contains(strings.Fields(allowed), to) {
				want = to
			}
			if e.Config.ContainerScope != want {
				t.Errorf("%s, then %s: %s", from, to, e.Config.ContainerScope)
			}
		}
	}
}

// TestBadAgents: each mistake is named with its place, and nothing of the file is lost.
func TestBadAgents(t *testing.T) {
	docker := func(text string) string { return `{"agents": {"defaults": {"sandbox": {"docker": {` + text + `}}}}}` }
	for text, want := range map[string]string{
		`{"agents": []}`:                                                                  "must be an object",
		`{"agents": {"list": {}}}`:                                                        "must be a list of agents",
		`{"agents": {"list": ["dev"]}}`:                                                   "“agents.list[0]” is no object",
		`{"agents": {"list": [{}]}}`:                                                      "“agents.list[0]” has no id",
		`{"agents": {"list": [{"id": 5}]}}`:                                               "“agents.list[0].id” must be a text",
		`{"agents": {"list": [{"id": "Dev"}]}}`:                                           "cannot be a name",
		`{"agents": {"list": [{"id": "dév"}]}}`:                                           "cannot be a name",
		`{"agents": {"list": [{"id": "../x"}]}}`:                                          "cannot be a name",
		`{"agents": {"list": [{"id": "a"}, {"id": "a"}]}}`:                                "which entry 0 has",
		`{"agents": {"list": [{"id": "a", "sandbox": 5}]}}`:                               "“agents.list[0].sandbox” must be an object",
		`{"agents": {"list": [{"id": "a", "sandbox": {"docker": {"memory": "512mb"}}}]}}`: "“agents.list[0].sandbox.docker.memory” must be a size",
		`{"agents": {"defaults": {"sandbox": {"mode": "some"}}}}`:                         "must be one of off, non-main, all",
		`{"agents": {"defaults": {"sandbox": {"scope": "me"}}}}`:                          "must be one of shared, agent, session, run",
		docker(`"memory": "512mb"`):                                                       "must be a size",
		docker(`"memory": 512`):                                                           "must be a text",
		docker(`"memory": "1m"`):                                                          "must be a size from 256m",
		docker(`"memory": "99999999999999999999g"`):                                       "must be a size",
		docker(`"cpus": 0`):                                                               "must be from 0.01",
		docker(`"user": "root"`):                                                          "must be a user's number",
		docker(`"dns": ["9.9.9.9", "dns.example.com"]`):                                   "must be made of addresses",
		docker(`"tmpfs": ["/x:suid"]`):                                                    "no folder in memory",
		docker(`"tmpfs": ["x"]`):                                                          "no folder in memory",
		docker(`"ulimits": {"nofile": "2:1"}`):                                            "no limit that an engine knows",
		docker(`"ulimits": {"files": 1}`):                                                 "no limit that an engine knows",
		docker(`"ulimits": {"nofile": {"soft": 1}}`):                                      "no limit that an engine knows",
		docker(`"extraHosts": ["db"]`):                                                    "not a name and an address",
		docker(`"extraHosts": ["host.docker.internal:1.2.3.4"]`):                          "not a name and an address",
		docker(`"containerPrefix": "Loop/"`):                                              "cannot begin the name",
		docker(`"workdir": "work"`):                                                       "must be a path in the container",
		docker(`"gpus": "1"`):                                                             "must be all",
		docker("\"setupCommand\": \"a\\u0000b\""):                                         "control character",
	} {
		g := global(t, text)
		i := slices.IndexFunc(g.Problems, func(p core.SettingsProblem) bool { return !p.Warning })
		if i < 0 || !strings.Contains(g.Problems[i].Message, want) || g.Problems[i].Line != 1 || g.Problems[i].Col < 2 {
			t.Errorf("%s: %+v, want %q", text, g.Problems, want)
		}
	}
	g := global(t, `{"agents": {"list": [{"id": "a", "sandbox": {"dokcer": {}}}]}}`)
	if len(g.Problems) != 1 || !g.Problems[0].Warning || g.Problems[0].Field != "agents.list[0].sandbox.dokcer" || !strings.Contains(g.Problems[0].Remedy, "docker") {
		t.Errorf("a slip: %+v", g.Problems)
	}
}

func TestSizeOf(t *testing.T) {
	for text, want := range map[string]int64{"512m": 512 << 20, "2G": 2 << 30, "1024": 1024, "1024b": 1024, "3k": 3 << 10} {
		if got, ok := sizeOf(text); !ok || got != want {
			t.Errorf("%s: %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "m", "1.5g", "-1m", "512mb", "512 m", "1t", "9223372036854775807g", "0x10m"} {
		if got, ok := sizeOf(text); ok {
			t.Errorf("%q: %d", text, got)
		}
	}
}

// TestSeccompProfile: “unconfined” is no profile, and neither is what is none.
func TestSeccompProfile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"good.json": `{"defaultAction": "SCMP_ACT_ERRNO"}`, "list.json": `[]`, "torn.json": `{"a"`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for file, ok := range map[string]bool{
		filepath.Join(dir, "good.json"): true, filepath.Join(dir, "list.json"): false, filepath.Join(dir, "torn.json"): false,
		filepath.Join(dir, "gone.json"): false, "unconfined": false, "UNCONFINED": false, dir: false, "gone.json": false,
	} {
		e := ForDir(global(t, fmt.Sprintf(`{"agents": {"defaults": {"sandbox": {"docker": {"seccompProfile": %q}}}}}`, file)), new(Trust), "", "")
		s, err := e.Seccomp()
		if (err == nil) != ok || ok != strings.Contains(s.Value, "SCMP") || err != nil && core.AsFailure(err).Remedy == "" {
			t.Errorf("%s: %q, %v", file, s.Value, err)
		}
	}
	relative := global(t, `{"agents": {"defaults": {"sandbox": {"docker": {"seccompProfile": "own.json"}}}}}`)
	if err := os.WriteFile(filepath.Join(filepath.Dir(relative.Path), "own.json"), []byte(`{"own": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := ForDir(relative, new(Trust), "", "").Seccomp(); err != nil || s.Value != `{"own": 1}` {
		t.Errorf("%q, %v", s.Value, err)
	}
}
