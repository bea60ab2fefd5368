package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"loop/backend/bind"
	"loop/backend/core"
)

var ownSetup = core.ClaudeSetup{
	Folder: "/home/ana/.claude",
	Files: []core.SetupFile{{Path: "CLAUDE.md"}, {Path: "agents/reviewer.md"}, {Path: "skills/deploy/SKILL.md"},
		{Path: "skills/deploy/\x1b[2Jrun.sh"}},
	Settings: []string{"model", "permissions.deny"},
	Asks: []core.SetupAsk{{ID: "hooks", Text: "Hooks", Detail: "gofmt -l .\n./notify.sh", Allowed: true},
		{ID: "mcp:tickets", Text: "The MCP server tickets", Detail: "npx tickets"}},
	Left: []core.SkippedMount{{Text: "settings.json: apiKeyHelper", Reason: "Loop gives agents their key."}},
}

func TestSetup(t *testing.T) {
	r := newRig(t)
	r.fake.answers["Settings.ClaudeSetup"] = bind.ClaudeSetupView{Setup: ownSetup}
	if code := r.run("setup"); code != exitOK {
		t.Fatal(code)
	}
	for _, want := range []string{
		"/home/ana/.claude\n", "you have not said that it may be", "files            CLAUDE.md\n", "agents           reviewer.md\n", "skills           deploy/SKILL.md, deploy/",
		"settings         model, permissions.deny\n", "hooks        yes      Hooks: gofmt -l . ./notify.sh\n", "mcp:tickets  no       The MCP server tickets: npx tickets\n",
		"These never come:\nsettings.json: apiKeyHelper: Loop gives agents their key.\n",
	} {
		r.wantIn("out", want)
	}
	if strings.Contains(r.out.String(), "\x1b[2J") {
		t.Error("a name moved the cursor")
	}
	for _, c := range []struct{ grant, want string }{{"none", "Agents have nothing of it."}, {"read", "Agents have copies of it."}} {
		r.fake.answers["Settings.ClaudeSetup"] = bind.ClaudeSetupView{Setup: ownSetup, Grant: c.grant}
		if code := r.run("setup"); code != exitOK {
			t.Fatal(code)
		}
		r.wantIn("out", c.want)
	}
	r.out.Reset()
	if code := r.run("setup", "--json"); code != exitOK || !strings.Contains(r.out.String(), `"grant": "read"`) {
		t.Errorf("%d %s", code, r.out.String())
	}
	r.fake.answers["Settings.ClaudeSetup"] = bind.ClaudeSetupView{Setup: core.ClaudeSetup{Folder: "/none"}}
	r.out.Reset()
	if code := r.run("setup"); code != exitOK || r.out.String() != "There is nothing in /none that agents could use.\n" {
		t.Errorf("%d %q", code, r.out.String())
	}
}

// TestSetupAnswers: the list is stored before the grant, and an ID that is not there stores
// nothing.
func TestSetupAnswers(t *testing.T) {
	for _, c := range []struct {
		args, stored []string
		code         int
	}{
		{[]string{"allow"}, []string{`["global" "" "claude_setup_allow" []]`, `["global" "" "claude_setup" "read"]`}, exitOK},
		{[]string{"allow", "mcp:tickets", "hooks"}, []string{`["global" "" "claude_setup_allow" ["mcp:tickets","hooks"]]`, `["global" "" "claude_setup" "read"]`}, exitOK},
		{[]string{"allow", "mcp:other"}, nil, exitUsage},
		{[]string{"none"}, []string{`["global" "" "claude_setup" "none"]`}, exitOK},
		{[]string{"nothing"}, nil, exitUsage},
	} {
		r := newRig(t)
		r.fake.answers["Settings.ClaudeSetup"], r.fake.answers["Settings.Set"] = bind.ClaudeSetupView{Setup: ownSetup}, bind.SettingsView{}
		var stored []string
		r.fake.onCall = func(method string) {
			if method == "Settings.Set" {
				r.fake.mu.Lock()
				stored = append(stored, fmt.Sprintf("%s", r.fake.last[method]))
				r.fake.mu.Unlock()
			}
		}
		if code := r.run(append([]string{"setup"}, c.args...)...); code != c.code || !slices.Equal(stored, c.stored) {
			t.Errorf("%s: exit %d, stored %s, %s", c.args, code, stored, r.err.String())
		}
	}
}

func TestChooseSetup(t *testing.T) {
	r := newRig(t)
	r.fake.channels = []map[string]any{{"channel_id": "ch1", "name": "one", "dir": r.dir, "kind": "project", "choices": map[string]any{"model": "opus"}}}
	r.fake.answers["Channels.Choose"] = map[string]any{"channel_id": "ch1", "choices": map[string]any{"model": "opus", "claude_setup": "none"}}
	if code := r.run("channels", "choose", "--channel", "one", "--claude-setup", "none"); code != exitOK {
		t.Fatal(code, r.err.String())
	}
	if got := fmt.Sprintf("%s", r.fake.last["Channels.Choose"]); got != `["ch1" {"model":"opus","claude_setup":"none"}]` {
		t.Error(got)
	}
	r.wantIn("out", "claude set-up none\n")
}
