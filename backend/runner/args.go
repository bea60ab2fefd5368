package runner

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"loop/backend/core"
	"loop/backend/provision"
	"loop/backend/wire"
)

const (
	mcpFile = "mcp.json"
	// dockerFile is the name that the Docker CLI looks for in DOCKER_CONFIG.
	dockerFile = "config.json"
	// hookSeconds bounds the hook that says why the gate denied something, which takes
	// milliseconds. One that is late changes nothing about its tool call.
	hookSeconds = 10
)

// modelURL is where the CLI finds the model of a run through the relay, or Loop's listener.
// The relay knows the spawn, whose run need not be known when the CLI starts.
func (l Launch) modelURL(run core.Run) string {
	id := string(run.SpawnID)
	if l.Host != nil {
		id = string(run.ID)
	}
	return fmt.Sprintf("%s/runs/%s/model", l.loopURL(), id)
}

// loopURL is where programs of the run find Loop.
func (l Launch) loopURL() string {
	if l.Host != nil {
		return l.Host.URL
	}
	return "http://" + wire.RelayAddr
}

// folder is that of the spawn's own files.
func (l Launch) folder(spawn core.SpawnID) string {
	if l.Host != nil {
		return filepath.Join(l.Host.Runs, string(spawn))
	}
	return path.Join(wire.RunsDir, string(spawn))
}

// file is one of the spawn's own.
func (l Launch) file(spawn core.SpawnID, name string) string {
	if l.Host != nil {
		return filepath.Join(l.folder(spawn), name)
	}
	return path.Join(l.folder(spawn), name)
}

// commandLine is the beginning of the CLI's command line in a run and in a terminal.
func commandLine(l Launch, spawn core.SpawnID, permissions []string, plans bool, st startAt, addDirs []string) []string {
	a := []string{cmp.Or(l.Bin, "claude"), "--mcp-config", l.file(spawn, mcpFile)}
	if l.Host != nil {
		// What agents in containers leave in the channel's state must not run out here by
		// itself: hooks, helpers and variables of its settings, servers of its .claude.json.
		a = append(a, "--strict-mcp-config", "--setting-sources", "project,local")
	}
	if model := cmp.Or(l.Model, st.model); model != "" {
		a = append(a, "--model", model)
	}
	if l.Effort != "" {
		a = append(a, "--effort", l.Effort)
	}
	a = append(a, permissions...)
	a = append(a, ownSettings(l.Gated, plans)...)
	if st.resume != "" {
		a = append(a, "--resume", string(st.resume))
	}
	if st.fork {
		a = append(a, "--fork-session")
	}
	if st.at != "" {
		a = append(a, "--resume-session-at", st.at)
	}
	for _, d := range addDirs {
		a = append(a, "--add-dir", d)
	}
	for _, d := range l.PluginDirs {
		a = append(a, "--plugin-dir", d)
	}
	return a
}

// Take adds what the container has for the agent: variables, the Docker CLI's file, and what
// was granted of the person's own Claude set-up.
func (l *Launch) Take(r provision.Resolved) {
	l.Env, l.DockerConfig, l.PluginDirs = slices.Concat(r.Env, l.Env), r.DockerConfig, r.Setup.Plugins
	servers := map[string]MCPServer{}
	for name, s := range r.Setup.Servers {
		servers[name] = MCPServer{Command: s.Command, Args: s.Args, Env: s.Env}
	}
	maps.Copy(servers, l.MCPServers) // Loop's own settings win
	l.MCPServers = servers
}

// ownSettings are settings of the CLI that count besides those of its files. Hooks are
// added to the person's own.
func ownSettings(gated, plans bool) []string {
	set := map[string]any{}
	if plans { // see argv
		set["useAutoModeDuringPlan"] = false
	}
	if gated {
		hook := map[string]any{"type": "command", "command": wire.GuestBinary + " gate-reason", "timeout": hookSeconds}
		set["hooks"] = map[string]any{"PostToolUseFailure": []any{map[string]any{"hooks": []any{hook}}}}
	}
	if len(set) == 0 {
		return nil
	}
	text, err := json.Marshal(set)
	if err != nil {
		panic(err) // texts, numbers and truth values
	}
	return []string{"--settings", string(text)}
}

var skipPermissions = []string{"--dangerously-skip-permissions"}

// argv is the command line of a run. The prompt goes by stdin: command lines are
// visible to every process and limited in length.
//
// A run that plans first starts in the CLI's plan mode, which the flag that skips
// permissions would undo; what it may do is asked of the permission tool, which
// allows everything but leaving that mode: the gate or the container's mounts are what
// holds.
// Without the setting the CLI would have a model judge each command instead, and
// refuse all of them where that model is out of reach.
func argv(l Launch, run core.Run, st startAt, addDirs []string) []string {
	permissions, plans := skipPermissions, run.Plan && run.Attempt.Kind != core.AttemptCompact
	if plans {
		permissions = []string{"--permission-mode", "plan"}
	}
	a := commandLine(l, run.SpawnID, permissions, plans, st, addDirs)
	if len(l.DisallowedTools) > 0 { // variadic: another flag must follow it
		a = append(a, "--disallowedTools", strings.Join(l.DisallowedTools, ","))
	}
	return append(a, "--permission-prompt-tool", "mcp__loop__permission_prompt",
		"--print", "--verbose", "--include-partial-messages",
		"--input-format", "stream-json", "--output-format", "stream-json")
}

// runModel is how the CLI of a run finds its model.
func runModel(l Launch, run core.Run) (env []core.EnvVar) {
	demo := run.Demo || l.Upstream.Demo
	relayed := demo || l.Upstream.BaseURL != ""
	switch {
	case relayed:
		env = append(env, appVar("ANTHROPIC_BASE_URL", l.modelURL(run)))
	case l.BaseURL != "":
		env = append(env, appVar("ANTHROPIC_BASE_URL", l.BaseURL))
	}
	switch {
	case demo && l.Host != nil:
		env = append(env, core.EnvVar{Name: "ANTHROPIC_API_KEY", Value: l.Host.Token.Reveal(), Lane: "app", Secret: true})
	case demo:
		env = append(env, appVar("ANTHROPIC_API_KEY", core.NoKey))
	case l.OAuthToken != "":
		env = append(env, core.EnvVar{Name: "CLAUDE_CODE_OAUTH_TOKEN", Value: l.OAuthToken, Lane: "app", Secret: true})
	case l.APIKey != "":
		env = append(env, core.EnvVar{Name: "ANTHROPIC_API_KEY", Value: l.APIKey, Lane: "app", Secret: true})
	case relayed || l.BaseURL != "":
		env = append(env, appVar("ANTHROPIC_API_KEY", core.NoKey)) // a model of one's own without a key
	}
	return env
}

func appVar(name, value string) core.EnvVar {
	return core.EnvVar{Name: name, Value: value, Lane: "app"}
}

// environ is what the CLI gets besides the container's own environment.
func environ(l Launch, spawn core.SpawnID, model []core.EnvVar) []core.EnvVar {
	own := append([]core.EnvVar{
		appVar("IS_SANDBOX", "1"),          // lets the CLI skip permissions as uid 0
		appVar("DISABLE_AUTOUPDATER", "1"), // the image decides the version
		appVar("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
	}, model...)
	if l.DockerConfig != nil {
		own = append(own, appVar("DOCKER_CONFIG", l.folder(spawn)))
	}
	set := map[string]core.EnvVar{}
	for _, e := range append(own, l.Env...) {
		set[e.Name] = e
	}
	return slices.SortedFunc(maps.Values(set), func(a, b core.EnvVar) int { return cmp.Compare(a.Name, b.Name) })
}

// files are put into the spawn's own folder.
func files(l Launch, mcp []byte) []core.SpawnFile {
	list := []core.SpawnFile{{Name: mcpFile, Data: mcp}}
	if l.DockerConfig != nil {
		list = append(list, core.SpawnFile{Name: dockerFile, Data: l.DockerConfig})
	}
	return list
}

// mcpConfig is the CLI's MCP configuration: the built-in servers unless the
// person defined one of that name, and theirs.
func mcpConfig(l Launch, run core.Run, workDir string) ([]byte, error) {
	args := []string{"mcp", "--channel-id", string(run.ChannelID), "--api-url", cmp.Or(l.APIURL, l.loopURL())}
	if run.AuthorID != "" {
		args = append(args, "--author-id", run.AuthorID)
	}
	if workDir != "" {
		args = append(args, "--dir", workDir)
	}
	loop := MCPServer{Command: wire.GuestBinary}
	if l.Host != nil { // for the tools alone: what the agent runs has no use for it
		loop = MCPServer{Command: l.Host.Loop, Env: map[string]string{wire.TokenEnv: l.Host.Token.Reveal()}}
	}
	tools := func(args ...string) MCPServer { return MCPServer{Command: loop.Command, Args: args, Env: loop.Env} }
	servers := map[string]MCPServer{"loop": tools(args...)}
	if l.Browser {
		servers["loop-browser"] = tools(slices.Concat([]string{"mcp-browser"}, args[1:5])...)
	}
	maps.Copy(servers, l.MCPServers)
	b, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		return nil, fmt.Errorf("encode MCP configuration: %w", err)
	}
	return b, nil
}
