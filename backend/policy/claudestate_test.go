package policy

import (
	"strings"
	"testing"
)

const cliState = `{"numStartups": 3, "tipsHistory": {"a": 1}, "mcpServers": {"docs": {"command": "npx", "args": ["docs"]}},
"projects": {"/ws": {"allowedTools": [], "mcpServers": {}, "hasTrustDialogAccepted": true, "lastCost": 0.1, "history": [{"display": "half \ud83d"}]}}}`

func TestAgentState(t *testing.T) {
	change := func(old, now string) string {
		if !strings.Contains(cliState, old) {
			t.Fatalf("the state has no %q", old)
		}
		return strings.Replace(cliState, old, now, 1)
	}
	top := func(field string) string { return change("{", "{"+field+", ") }
	project := func(field string) string { return change(`{"/ws": {`, `{"/ws": {`+field+", ") }
	for name, c := range map[string]struct {
		after string
		want  bool
	}{
		"nothing":                     {cliState, true},
		"a count":                     {change(`"numStartups": 3`, `"numStartups": 4`), true},
		"a cost":                      {change("0.1", "0.2"), true},
		"a tip":                       {change(`{"a": 1}`, `{"a": 1, "b": 2}`), true},
		"theme and model":             {top(`"theme": "dark", "editorMode": "vim"`), true},
		"caches":                      {top(`"cachedGrowthBookFeatures": {"x": true}, "pluginUsage": {"x": 1}, "clientDataCache": {"serverUrl": "x"}`), true},
		"notes of what was seen":      {top(`"powerShellCommandLostAt": 1, "queuedCommandUpHintCount": 2, "hasSeenAutoModeToolsHint": true`), true},
		"the CLI's own attempts":      {top(`"officialMarketplaceAutoInstallAttempted": true`), true},
		"an account":                  {top(`"oauthAccount": {"emailAddress": "a@example.org"}`), true},
		"a folder":                    {change(`{"/ws"`, `{"/new": {"allowedTools": [], "mcpServers": {}, "hasTrustDialogAccepted": false, "lastCost": 1}, "/ws"`), true},
		"a folder goes":               {change(`"hasTrustDialogAccepted": true, `, ""), false},
		"another order":               {`{"projects": {"/ws": {"hasTrustDialogAccepted": true}}, "mcpServers": {"docs": {"args": ["docs"], "command": "npx"}}}`, true},
		"a server":                    {change(`{"docs": `, `{"x": {"command": "id"}, "docs": `), false},
		"a server goes":               {change(`{"docs": {"command": "npx", "args": ["docs"]}}`, "{}"), false},
		"a server's argument":         {change(`["docs"]`, `["evil"]`), false},
		"a project's server":          {change(`"mcpServers": {}`, `"mcpServers": {"x": {}}`), false},
		"a server of .mcp.json":       {project(`"enabledMcpjsonServers": ["x"]`), false},
		"a server that was off":       {project(`"disabledMcpServers": ["x"]`), false},
		"tools":                       {change(`"allowedTools": []`, `"allowedTools": ["Bash"]`), false},
		"trust":                       {change(`{"/ws"`, `{"/new": {"hasTrustDialogAccepted": true}, "/ws"`), false},
		"instructions from elsewhere": {project(`"hasClaudeMdExternalIncludesApproved": true`), false},
		"work without permissions":    {top(`"bypassPermissionsModeAccepted": true`), true}, // as Loop writes it
		"permissions":                 {top(`"permissions": {"allow": ["Bash"]}`), false},
		"a helper":                    {top(`"apiKeyHelper": "id"`), false},
		"another helper":              {top(`"awsAuthRefresh": "id"`), false},
		"environment":                 {top(`"env": {"NODE_OPTIONS": "-r x"}`), false},
		"hooks":                       {top(`"hooks": {"Stop": []}`), false},
		"a later version's hooks":     {top(`"userHooksV2": {"Stop": []}`), false},
		"an editor":                   {top(`"autoConnectIde": true`), false},
		"twice the same key":          {top(`"mcpServers": {}`), false},
		"twice in a folder":           {project(`"hasTrustDialogAccepted": false`), false},
		"twice a folder":              {change(`{"/ws"`, `{"/ws": {"allowedTools": []}, "/ws"`), false},
		"another case":                {top(`"MCPSERVERS": {"x": {}}`), false},
		"escaped letters":             {top(`"mcpS\u0065rvers2": {"x": {}}`), false},
		"a list":                      {"[]", false},
		"null":                        {"null", false},
		"projects that are none":      {`{"projects": []}`, false},
		"a project that is none":      {`{"projects": {"/ws": 1}}`, false},
		"a comment":                   {"// x\n" + cliState, false},
		"more than one":               {cliState + "{}", false},
		"a byte order mark":           {"\ufeff" + cliState, false},
		"broken":                      {cliState[:40], false},
		"empty":                       {"", false},
	} {
		if got := agentStateChange([]byte(cliState), []byte(c.after)); got != c.want {
			t.Errorf("%s: inert is %v", name, got)
		}
	}
	if !agentStateChange(nil, []byte(`{"projects": {"/ws": {"allowedTools": []}}, "numStartups": 1}`)) ||
		agentStateChange(nil, []byte(cliState)) || agentStateChange([]byte("x"), []byte(cliState)) {
		t.Error("the first text is not compared with an empty one, or what cannot be read with one that can")
	}
}

// TestAgentStateByRule: what the bytes decide for whom, and in which files.
func TestAgentStateByRule(t *testing.T) {
	const file = "/opt/loop/.claude/.claude.json"
	inert, server := []byte(strings.Replace(cliState, ": 3", ": 4", 1)), []byte(strings.Replace(cliState, "npx", "id", 1))
	for name, decision := range map[string]Decision{NameAgent: Approve, NamePlan: Deny, NameSystem: Deny} {
		e := compiled(t, shipped(t, name))
		if v := e.File(Write, file); v.Decision != decision || !v.ByContent() {
			t.Errorf("%s: %+v", name, v)
		}
		if !e.Content(Write, file, []byte(cliState), inert) || e.Content(Write, file, []byte(cliState), server) {
			t.Errorf("%s: the bytes decide wrongly", name)
		}
		if v := e.File(Write, "/opt/loop/.claude/settings.json"); v.ByContent() || v.Decision != decision {
			t.Errorf("%s: settings: %+v", name, v)
		}
	}
	agent := compiled(t, shipped(t, NameAgent))
	for _, name := range []string{"/home/ada/.claude.json", "/root/.claude.json", "/opt/loop/.claude/.config.json", "/opt/loop/.claude/.claude-custom-oauth.json"} {
		if v := agent.File(Create, name); v.Decision != Approve {
			t.Errorf("%s: %+v", name, v)
		}
	}
	if v := compiled(t, shipped(t, NamePerson)).File(Write, file); v.Decision != Allow {
		t.Errorf("a person: %+v", v)
	}
	project := Policy{Name: "project", FileRules: []FileRule{{Paths: []string{"/**/.claude.json"}, Decision: Deny}}}
	mine := Merge(shipped(t, NameAgent), Policy{FileRules: []FileRule{{ID: "mine", Paths: []string{"/**/.claude.json"}, Decision: Approve}}})
	if compiled(t, mine).Content(Write, file, []byte(cliState), inert) {
		t.Error("a rule of the person's asks, and is not asked")
	}
	stacked := shipped(t, NameAgent)
	stacked.Tighten = []Policy{project}
	if compiled(t, stacked).Content(Write, file, []byte(cliState), inert) {
		t.Error("a project denies, and the bytes let it pass")
	}
}

func TestAgentStateExcerpt(t *testing.T) {
	e := compiled(t, shipped(t, NameAgent))
	after := strings.Replace(strings.Replace(cliState, `["docs"]`, `["docs", "--all"]`, 1), `"allowedTools": []`, `"allowedTools": ["Bash"]`, 1)
	was, is, ok := e.Excerpt(Write, "/opt/loop/.claude/.claude.json", []byte(cliState), []byte(after))
	if !ok || !strings.Contains(string(was), "mcpServers = {\n") || strings.Contains(string(was), "Bash") || strings.Contains(string(is), "numStartups") ||
		strings.Contains(string(is), "Trust") || !strings.Contains(string(is), `projects["/ws"].allowedTools = [`) || !strings.Contains(string(is), `"--all"`) {
		t.Errorf("%v\n%s\n%s", ok, was, is)
	}
	if _, _, ok := e.Excerpt(Write, "/opt/loop/.claude/.claude.json", []byte(cliState), []byte("x")); ok {
		t.Error("a text that cannot be read has an excerpt")
	}
	if _, _, ok := e.Excerpt(Write, "/opt/loop/.claude/settings.json", []byte(cliState), []byte(after)); ok {
		t.Error("settings have an excerpt")
	}
}

func TestOnlyEdits(t *testing.T) {
	for args, want := range map[string]bool{
		"claude mcp add x -- y": true, "claude mcp remove x": true, "claude mcp add-json x {}": true,
		"claude": false, "claude mcp": false, "claude mcp list": false, "claude mcp get x": false, "claude mcp serve": false,
		"claude -p mcp add": false, "claude --mcp-config x mcp add": false,
	} {
		if OnlyEdits(strings.Fields(args)) != want {
			t.Errorf("%s: %v", args, !want)
		}
	}
}

func FuzzAgentState(f *testing.F) {
	f.Add([]byte(cliState), []byte(strings.Replace(cliState, "0.1", "0.2", 1)))
	f.Add([]byte(""), []byte(`{"projects": {"/\ud83d": {"mcpServers": {}}}}`))
	f.Fuzz(func(t *testing.T, before, after []byte) {
		was, is, ok := agentStateExcerpt(before, after)
		if inert := agentStateChange(before, after); inert != (ok && len(was)+len(is) == 0) {
			t.Fatalf("inert is %v, and %q and %q are shown", inert, was, is)
		}
		if len(after) > 2 && after[0] == '{' && agentStateChange(before, append([]byte(`{"mcpServers": {"x": 1}, `), after[1:]...)) {
			if old, _ := agentState(before); string(old["mcpServers"]) != `{"x":1}` {
				t.Fatal("a server is inert")
			}
		}
	})
}
