package runner

import (
	"encoding/json"
	"fmt"
	"path"
	"sort"
	"strings"

	"loop/backend/core"
	"loop/backend/wire"
)

const (
	mcpFile = "mcp.json"
	// dockerFile is the name that the Docker CLI looks for in DOCKER_CONFIG.
	dockerFile = "config.json"
)

// modelURL is where the CLI finds the model of a run through the relay.
func modelURL(run core.RunID) string {
	return fmt.Sprintf("http://%s/runs/%s/model", wire.RelayAddr, run)
}

// argv is the CLI's command line. The prompt goes by stdin: command lines are
// visible to every process and limited in length.
//
// A run that plans first starts in the CLI's plan mode, which the flag that skips
// permissions would undo; what it may do is asked of the permission tool, which
// allows everything but leaving that mode: the container's mounts are what holds.
// Without the setting the CLI would have a model judge each command instead, and
// refuse all of them where that model is out of reach.
func argv(l Launch, run core.Run, st startAt, addDirs []string) []string {
	bin := l.Bin
	if bin == "" {
		bin = "claude"
	}
	a := []string{bin, "--mcp-config", path.Join(wire.RunsDir, string(run.SpawnID), mcpFile)}
	if l.Model != "" {
		a = append(a, "--model", l.Model)
	}
	if l.Effort != "" {
		a = append(a, "--effort", l.Effort)
	}
	if run.Plan && run.Attempt.Kind != core.AttemptCompact {
		a = append(a, "--permission-mode", "plan", "--settings", `{"useAutoModeDuringPlan":false}`)
	} else {
		a = append(a, "--dangerously-skip-permissions")
	}
	if st.resume != "" {
		a = append(a, "--resume", string(st.resume))
		if st.fork {
			a = append(a, "--fork-session")
			if st.at != "" {
				a = append(a, "--resume-session-at", st.at)
			}
		}
	}
	for _, d := range addDirs {
		a = append(a, "--add-dir", d)
	}
	if len(l.DisallowedTools) > 0 { // variadic: another flag must follow it
		a = append(a, "--disallowedTools", strings.Join(l.DisallowedTools, ","))
	}
	return append(a, "--permission-prompt-tool", "mcp__loop__permission_prompt",
		"--print", "--verbose", "--include-partial-messages", "--output-format", "stream-json")
}

// runModel is how the CLI of a run finds its model.
func runModel(l Launch, run core.Run) (env []core.EnvVar) {
	demo := run.Demo || l.Upstream.Demo
	relayed := demo || l.Upstream.BaseURL != ""
	switch {
	case relayed:
		env = append(env, appVar("ANTHROPIC_BASE_URL", modelURL(run.ID)))
	case l.BaseURL != "":
		env = append(env, appVar("ANTHROPIC_BASE_URL", l.BaseURL))
	}
	switch {
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
	set := map[string]core.EnvVar{}
	own := append([]core.EnvVar{
		appVar("IS_SANDBOX", "1"),          // lets the CLI skip permissions as uid 0
		appVar("DISABLE_AUTOUPDATER", "1"), // the image decides the version
		appVar("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
	}, model...)
	if l.DockerConfig != nil {
		own = append(own, appVar("DOCKER_CONFIG", path.Join(wire.RunsDir, string(spawn))))
	}
	for _, e := range append(own, l.Env...) {
		set[e.Name] = e
	}
	out := make([]core.EnvVar, 0, len(set))
	for _, e := range set {
		out = append(out, e)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// files are put into the spawn's own folder.
func files(l Launch, mcp []byte) []core.SpawnFile {
	list := []core.SpawnFile{{Name: mcpFile, Data: mcp}}
	if l.DockerConfig != nil {
		list = append(list, core.SpawnFile{Name: dockerFile, Data: l.DockerConfig})
	}
	return list
}

// mcpConfig is the CLI's MCP configuration: the built-in server unless the
// person defined one of that name, and theirs.
func mcpConfig(l Launch, run core.Run, workDir string) ([]byte, error) {
	servers := map[string]MCPServer{}
	api := l.APIURL
	if api == "" {
		api = "http://" + wire.RelayAddr
	}
	args := []string{"mcp", "--channel-id", string(run.ChannelID), "--api-url", api}
	if run.AuthorID != "" {
		args = append(args, "--author-id", run.AuthorID)
	}
	if workDir != "" {
		args = append(args, "--dir", workDir)
	}
	servers["loop"] = MCPServer{Command: wire.GuestBinary, Args: args}
	for name, s := range l.MCPServers {
		servers[name] = s
	}
	b, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		return nil, fmt.Errorf("encode MCP configuration: %w", err)
	}
	return b, nil
}
