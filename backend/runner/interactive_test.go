package runner

import (
	"fmt"
	"strings"
	"testing"

	"loop/backend/core"
)

func TestInteractiveSession(t *testing.T) {
	gone := func(core.SessionID) bool { return false }
	ch := core.Channel{ID: "c1", SessionID: "s-1", DemoSessionID: "d-1"}
	thread := core.Channel{ID: "c2", SessionID: "s-1", NextSession: core.SessionStart{Mode: core.SessionFork}}
	fresh := core.Channel{ID: "c3"}
	copied := core.Channel{ID: "c4", NextSession: core.SessionStart{Mode: core.SessionFork, SessionID: "s-8"}}
	stopped := core.Channel{ID: "c5", NextSession: core.SessionStart{Mode: core.SessionResume, SessionID: "s-9"}}
	kept := core.Channel{ID: "c6", SessionID: "s-1", NextSession: stopped.NextSession}
	only := func(id core.SessionID) bool { return id == "s-1" }
	for name, c := range map[string]struct {
		ch    core.Channel
		demo  bool
		start InteractiveStart
		want  string
	}{
		"legacy resumes":               {ch, false, InteractiveStart{}, "--resume s-1"},
		"legacy forks a thread":        {thread, false, InteractiveStart{}, "--resume s-1 --fork-session"},
		"legacy forks another":         {copied, false, InteractiveStart{}, "--resume s-8 --fork-session"},
		"legacy after a stopped run":   {stopped, false, InteractiveStart{}, "--resume s-9"},
		"legacy, fresh wished":         {core.Channel{SessionID: "s-1", NextSession: core.SessionStart{Mode: core.SessionFresh}}, false, InteractiveStart{}, ""},
		"resume after a stopped run":   {stopped, false, InteractiveStart{Mode: core.OpenResume}, "--resume s-9"},
		"fork after a stopped run":     {stopped, false, InteractiveStart{Mode: core.OpenFork}, "--resume s-9 --fork-session"},
		"the wished one is pruned":     {kept, false, InteractiveStart{Exists: only}, "--resume s-1"},
		"resume":                       {thread, false, InteractiveStart{Mode: core.OpenResume}, "--resume s-1"},
		"fork":                         {ch, false, InteractiveStart{Mode: core.OpenFork}, "--resume s-1 --fork-session"},
		"fresh":                        {ch, false, InteractiveStart{Mode: core.OpenFresh}, ""},
		"resume without a session":     {fresh, false, InteractiveStart{Mode: core.OpenResume}, ""},
		"fork without a session":       {fresh, false, InteractiveStart{Mode: core.OpenFork}, ""},
		"the demo's own":               {ch, true, InteractiveStart{}, "--resume d-1"},
		"pruned":                       {ch, false, InteractiveStart{Exists: gone}, ""},
		"again":                        {ch, false, InteractiveStart{Again: true, Mode: core.OpenFork}, "--continue"},
		"a session that is an option":  {core.Channel{SessionID: "--help"}, false, InteractiveStart{}, ""},
		"a session with a shell in it": {core.Channel{SessionID: "a;rm"}, false, InteractiveStart{}, ""},
	} {
		got, err := InteractiveCommand(Launch{}, c.ch, c.demo, "t1", "/w", nil, c.start)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.TrimSpace("claude --mcp-config /run/loop/runs/t1/mcp.json --dangerously-skip-permissions " + c.want)
		if got.Line != want {
			t.Errorf("%s: %q, want %q", name, got.Line, want)
		}
	}
}

func TestInteractiveIsQuoted(t *testing.T) {
	got, err := InteractiveCommand(Launch{Bin: "/opt/my tools/claude", APIKey: "sk-secret"}, core.Channel{ID: "c"}, false, "t1", "/w", []string{"/it's here; $(id)"}, InteractiveStart{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(got.Line, "'/opt/my tools/claude' ") || !strings.Contains(got.Line, `--add-dir '/it'\''s here; $(id)'`) {
		t.Fatalf("%q", got.Line)
	}
	if strings.Contains(got.Line, "sk-secret") {
		t.Fatal("the key is on the command line")
	}
	for _, dir := range []string{"/a\nrm -rf .", "/a\tb", "/a\x15rm", "/a\x1b[200~"} {
		if _, err := InteractiveCommand(Launch{}, core.Channel{}, false, "t1", "/w", []string{dir}, InteractiveStart{}); err == nil {
			t.Fatalf("%q was typed", dir)
		}
	}
}

// TestTerminalsHaveNoKey: with any kind of access, the CLI in a terminal finds a model
// and a placeholder for the key. Only the link has the key.
func TestTerminalsHaveNoKey(t *testing.T) {
	for name, k := range map[string]struct {
		l    Launch
		demo bool
		env  string
		up   core.ModelUpstream
	}{
		"api key": {Launch{APIKey: "sk-secret"}, false, "ANTHROPIC_AUTH_TOKEN=loop-no-key ANTHROPIC_BASE_URL=URL", core.ModelUpstream{BaseURL: firstParty, APIKey: "sk-secret"}},
		"token": {Launch{OAuthToken: "sk-secret", APIKey: "other"}, false, "ANTHROPIC_BASE_URL=URL CLAUDE_CODE_OAUTH_TOKEN=loop-no-key",
			core.ModelUpstream{BaseURL: firstParty, OAuthToken: "sk-secret"}},
		"model on this host": {Launch{APIKey: "sk-secret", Upstream: core.ModelUpstream{BaseURL: "http://localhost:1"}}, false, "ANTHROPIC_AUTH_TOKEN=loop-no-key ANTHROPIC_BASE_URL=URL",
			core.ModelUpstream{BaseURL: "http://localhost:1", APIKey: "sk-secret"}},
		"model elsewhere, no key": {Launch{BaseURL: "https://model.example/x", Model: "m"}, false, "ANTHROPIC_AUTH_TOKEN=loop-no-key ANTHROPIC_BASE_URL=URL ANTHROPIC_MODEL=m",
			core.ModelUpstream{BaseURL: "https://model.example/x"}},
		"demo":    {Launch{APIKey: "sk-secret", Upstream: core.ModelUpstream{Demo: true}}, true, "ANTHROPIC_AUTH_TOKEN=loop-no-key ANTHROPIC_BASE_URL=URL", core.ModelUpstream{Demo: true}},
		"nothing": {Launch{}, false, "", core.ModelUpstream{}},
	} {
		got, err := InteractiveCommand(k.l, core.Channel{ID: "c"}, k.demo, "t1", "/w", nil, InteractiveStart{})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(fmt.Sprintf("%+v", got), "sk-secret") {
			t.Errorf("%s: the container gets the key: %+v", name, got)
		}
		var env []string
		for _, e := range got.Env {
			if strings.HasPrefix(e.Name, "ANTHROPIC_") || strings.HasPrefix(e.Name, "CLAUDE_CODE_OAUTH") {
				env = append(env, e.Name+"="+e.Value)
			}
		}
		if said := strings.ReplaceAll(strings.Join(env, " "), "http://127.0.0.1:8222/runs/t1/model", "URL"); said != k.env {
			t.Errorf("%s: %q, want %q", name, said, k.env)
		}
		if up := InteractiveUpstream(k.l); up != k.up {
			t.Errorf("%s: %+v", name, up)
		}
	}
}
