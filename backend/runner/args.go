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
	// demoKey is what the CLI is given where no real key exists: it insists on
	// having one, and the scripted model or a local one does not look at it.
	demoKey = "loop-no-key"
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

// environ is what the CLI gets besides the container's own environment.
func environ(l Launch, run core.Run) []core.EnvVar {
	set := map[string]core.EnvVar{}
	put := func(name, value string, secret bool) {
		set[name] = core.EnvVar{Name: name, Value: value, Lane: "app", Secret: secret}
	}
	put("IS_SANDBOX", "1", false)          // lets the CLI skip permissions as uid 0
	put("DISABLE_AUTOUPDATER", "1", false) // the image decides the version
	put("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1", false)
	demo := run.Demo || l.Upstream.Demo
	relayed := demo || l.Upstream.BaseURL != ""
	switch {
	case relayed:
		put("ANTHROPIC_BASE_URL", modelURL(run.ID), false)
	case l.BaseURL != "":
		put("ANTHROPIC_BASE_URL", l.BaseURL, false)
	}
	switch {
	case demo:
		put("ANTHROPIC_API_KEY", demoKey, false)
	case l.OAuthToken != "":
		put("CLAUDE_CODE_OAUTH_TOKEN", l.OAuthToken, true)
	case l.APIKey != "":
		put("ANTHROPIC_API_KEY", l.APIKey, true)
	case relayed || l.BaseURL != "":
		put("ANTHROPIC_API_KEY", demoKey, false) // a model of one's own without a key
	}
	if l.DockerConfig != nil {
		put("DOCKER_CONFIG", path.Join(wire.RunsDir, string(run.SpawnID)), false)
	}
	for _, e := range l.Env {
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
