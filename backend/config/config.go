package config

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"loop/backend/core"
)

// Secret is a credential; see core.Secret.
type Secret = core.Secret

// Config is the whole of config.json. Tags: default is JSON text; min, max and
// oneof bound the value; unit and doc are for people. merge says how a later
// layer joins the earlier ones (see Merge constants) and project what a
// project's own file may do with the field (see Project constants); both hold
// for the parts of a nested object one by one. applies:"restart" marks what is
// read when Loop starts; everything else counts from its next use on.
type Config struct {
	ClaudeCodeOAuthToken Secret `json:"claude_code_oauth_token" merge:"override" project:"trust" doc:"Token of a Claude subscription (from “claude setup-token”). Wins over anthropic_api_key."`
	AnthropicAPIKey      Secret `json:"anthropic_api_key" merge:"override" project:"trust" doc:"Key of the Anthropic API."`
	AnthropicBaseURL     string `json:"anthropic_base_url" merge:"override" project:"trust" check:"url" doc:"Where the Messages API is. An address on 127.0.0.1 is this computer's and is reached through the link."`

	ClaudeBinPath              string      `json:"claude_bin_path" default:"\"claude\"" merge:"override" project:"trust" doc:"Program of the agent CLI inside the container."`
	ClaudeModel                string      `json:"claude_model" merge:"override" project:"free" check:"word" doc:"Model; empty leaves the choice to the CLI."`
	ClaudeEffort               string      `json:"claude_effort" oneof:",low,medium,high,xhigh,max" merge:"override" project:"free" doc:"How much the model thinks; empty leaves the choice to the CLI."`
	ClaudeBatchDisallowedTools []string    `json:"claude_batch_disallowed_tools" default:"[\"ScheduleWakeup\",\"CronCreate\",\"CronDelete\",\"CronList\",\"Monitor\"]" merge:"append" project:"tighten" doc:"Tools that make no sense in a run that ends."`
	ClaudeRetry                ClaudeRetry `json:"claude_retry" doc:"What is tried again inside one run."`

	ContainerImage          string  `json:"container_image" default:"\"loop-agent:latest\"" merge:"override" project:"trust" check:"filled" doc:"Image of agent containers."`
	ContainerImageAutobuild bool    `json:"container_image_autobuild" default:"true" merge:"override" project:"never" doc:"Build the image when it is missing or older than this Loop."`
	ContainerTimeoutSec     int     `json:"container_timeout_sec" default:"3600" min:"1" max:"604800" unit:"seconds" merge:"override" project:"tighten" doc:"Longest time a run may take."`
	ContainerMemoryMB       int     `json:"container_memory_mb" default:"2048" min:"256" max:"4194304" unit:"MiB" merge:"override" project:"tighten" doc:"Memory limit of a container."`
	ContainerCPUs           float64 `json:"container_cpus" default:"1.0" min:"0.01" max:"1024" unit:"CPUs" merge:"override" project:"tighten" doc:"CPU limit of a container."`
	ContainerPids           int     `json:"container_pids" default:"1024" min:"32" max:"4194304" merge:"override" project:"tighten" doc:"Limit on processes and threads of a container."`
	ContainerKeepAliveSec   int     `json:"container_keep_alive_sec" default:"300" min:"0" max:"604800" unit:"seconds" merge:"override" project:"tighten" doc:"How long a stopped container can still be looked at."`
	ContainerNetwork        string  `json:"container_network" default:"\"bridge\"" merge:"override" project:"tighten" check:"filled" doc:"bridge, none, or the name of a network of the engine."`

	InheritMounts bool           `json:"inherit_mounts" default:"true" merge:"override" project:"trust" only:"project" doc:"false drops the mounts of the layers before. For a project's own file."`
	Mounts        []string       `json:"mounts" merge:"by target" project:"trust" doc:"host:container[:mode] strings; a source without slashes is a named volume. In a project's file a relative source starts in the project's folder."`
	CopyFiles     []string       `json:"copy_files" merge:"replace" project:"trust" doc:"Files of this computer of which each container gets a copy, under their own path."`
	ExtraDirs     []string       `json:"extra_dirs" merge:"union" project:"trust" doc:"Further folders the agent may work in, mounted under their own paths."`
	Envs          map[string]any `json:"envs" merge:"by key" project:"trust" doc:"Environment variables of containers. A leading ~ is the home directory; null removes one."`
	InheritEnvs   []string       `json:"inherit_envs" merge:"append" project:"trust" doc:"Names of this computer's environment variables that containers get as they are here; a name that ends in * takes all that begin like it. Those of credentials are left out."`
	Proxies       Proxies        `json:"proxies" doc:"Proxies of containers."`

	MCP MCP `json:"mcp" doc:"Tools of the agent from other programs."`

	APIAddr         string   `json:"api_addr" applies:"restart" merge:"override" project:"never" check:"loopback" doc:"Address of the local listener, host:port on this computer only; empty takes a free port."`
	GuestTransport  string   `json:"guest_transport" default:"\"link\"" oneof:"link,tcp" merge:"override" project:"never" doc:"How programs in containers call Loop: link needs no network, tcp opens a listener for them."`
	APIAdvertiseURL string   `json:"api_advertise_url" merge:"override" project:"never" check:"url" doc:"Address under which containers reach that listener; only for guest_transport tcp, empty finds it."`
	DBPath          string   `json:"db_path" applies:"restart" merge:"override" project:"never" check:"path" doc:"Database; empty is loop.db in Loop's folder."`
	LogFile         string   `json:"log_file" applies:"restart" merge:"override" project:"never" check:"path" doc:"Log file; empty is loop.log in Loop's folder."`
	LogLevel        string   `json:"log_level" default:"\"info\"" oneof:"debug,info,warn,error" merge:"override" project:"never" doc:"Least serious message that is logged."`
	LogFormat       string   `json:"log_format" applies:"restart" default:"\"text\"" oneof:"text,json" merge:"override" project:"never" doc:"Form of the log."`
	ExtraCAFiles    []string `json:"extra_ca_files" merge:"replace" project:"never" doc:"PEM files with certificates that the image build and the containers trust, e.g. of a company proxy."`
	DockerHost      string   `json:"docker_host" applies:"restart" merge:"override" project:"never" check:"engine" doc:"Container engine, e.g. unix:///var/run/docker.sock; empty finds it."`

	Theme     string    `json:"theme" default:"\"system\"" oneof:"system,dark,light,contrast" merge:"override" project:"never" doc:"Look of the window."`
	FontSizes FontSizes `json:"font_sizes" doc:"Text sizes of the window."`
	Terminal  Terminal  `json:"terminal" doc:"Terminals."`
}

// Terminal is how terminals behave.
type Terminal struct {
	IdleSec          int    `json:"idle_sec" default:"0" min:"0" max:"31536000" unit:"seconds" merge:"override" project:"never" doc:"Ends a terminal that nobody looks at, that prints nothing and is given nothing for so long; 0 never does."`
	FontFamily       string `json:"font_family" merge:"override" project:"never" doc:"Font, before the one that Loop brings; it should give every character the same width."`
	ShiftEnter       string `json:"shift_enter" default:"\"newline\"" oneof:"newline,enter" merge:"override" project:"never" doc:"What Shift and Enter send: newline begins another line of a prompt without sending it, enter is the same as Enter."`
	Bell             string `json:"bell" default:"\"mark\"" oneof:"mark,sound,off" merge:"override" project:"never" doc:"What a bell does: a mark on the tab, a sound as well, or nothing."`
	CopyOnSelect     bool   `json:"copy_on_select" default:"false" merge:"override" project:"never" doc:"Copy what is selected at once."`
	ScreenReader     bool   `json:"screen_reader" default:"false" merge:"override" project:"never" doc:"Give what terminals show to screen readers; slower."`
	ShellIntegration bool   `json:"shell_integration" default:"true" merge:"override" project:"never" doc:"Have shells mark prompts and commands, for jumping between them and copying what one printed."`

	Colors          []string `json:"colors" merge:"replace" project:"never" check:"colour" doc:"Colours instead of Loop's own, as name=#rrggbb, or dark.name and light.name for one look: background, foreground, cursor, selection, black, red, green, yellow, blue, magenta, cyan, white, and bright_black to bright_white."`
	MinimumContrast float64  `json:"minimum_contrast" default:"4.5" min:"1" max:"21" merge:"override" project:"never" doc:"Text that has less contrast than this is drawn in a clearer colour; 1 draws all as programs ask."`
}

// ClaudeRetry bounds what is tried again inside one run.
type ClaudeRetry struct {
	MaxAttempts              int  `json:"max_attempts" default:"5" min:"1" max:"50" merge:"override" project:"trust" doc:"Attempts at most, the first included, when the model is overloaded or out of reach."`
	BackoffBaseSec           int  `json:"backoff_base_sec" default:"5" min:"1" max:"3600" unit:"seconds" merge:"override" project:"trust" doc:"Wait before the second attempt; it doubles with each one."`
	BackoffMaxSec            int  `json:"backoff_max_sec" default:"120" min:"1" max:"86400" unit:"seconds" merge:"override" project:"trust" doc:"Longest wait between attempts."`
	SessionLimitAutoContinue bool `json:"session_limit_auto_continue" default:"false" merge:"override" project:"trust" doc:"Go on by itself when a session limit of the subscription is over."`
}

// Proxies are what containers get as http_proxy and so on.
type Proxies struct {
	HTTPProxy  string   `json:"http_proxy" merge:"override" project:"trust" check:"proxy" doc:"Proxy for http addresses; empty takes the one of this computer's environment."`
	HTTPSProxy string   `json:"https_proxy" merge:"override" project:"trust" check:"proxy" doc:"Proxy for https addresses; empty takes the one of this computer's environment."`
	NoProxy    []string `json:"no_proxy" merge:"append" project:"trust" doc:"Names and networks that are reached without a proxy."`
}

// MCP holds the servers that the agent CLI starts inside the container.
type MCP struct {
	Servers map[string]MCPServer `json:"servers" merge:"by key" project:"trust" doc:"Servers by name, each {command, args, env}."`
}

// MCPServer is one program that speaks MCP on its standard input and output.
type MCPServer struct {
	Command string            `json:"command"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
}

// FontSizes are in CSS pixels.
type FontSizes struct {
	Sidebar  int `json:"sidebar" default:"12" min:"8" max:"40" unit:"px" merge:"override" project:"never" doc:"Sidebar."`
	Chat     int `json:"chat" default:"13" min:"8" max:"40" unit:"px" merge:"override" project:"never" doc:"Timeline."`
	Terminal int `json:"terminal" default:"13" min:"8" max:"40" unit:"px" merge:"override" project:"never" doc:"Terminals."`
	Editor   int `json:"editor" default:"13" min:"8" max:"40" unit:"px" merge:"override" project:"never" doc:"Editor."`
	Panels   int `json:"panels" default:"12" min:"8" max:"40" unit:"px" merge:"override" project:"never" doc:"Other panels."`
}

// Kinds of credentials, as the window and doctor name them.
const (
	CredentialOAuth  = "claude_code_oauth_token"
	CredentialAPIKey = "anthropic_api_key"
)

// Credential is the one a run uses: the OAuth token wins. kind is empty when
// there is none.
func (c Config) Credential() (kind string, value Secret) {
	switch {
	case c.ClaudeCodeOAuthToken != "":
		return CredentialOAuth, c.ClaudeCodeOAuthToken
	case c.AnthropicAPIKey != "":
		return CredentialAPIKey, c.AnthropicAPIKey
	}
	return "", ""
}

// String lists what differs from the defaults, without credentials and
// without the values of envs, mcp and proxies, which often hold some.
func (c Config) String() string {
	var b strings.Builder
	def := Defaults()
	for i, f := range Fields() {
		v, d := fmt.Sprint(fieldValue(c, i)), fmt.Sprint(fieldValue(def, i))
		switch f.Name {
		case "envs":
			v, d = fmt.Sprint(slices.Sorted(maps.Keys(c.Envs))), "[]"
		case "mcp":
			v, d = fmt.Sprint(slices.Sorted(maps.Keys(c.MCP.Servers))), "[]"
		case "proxies": // an address may hold a password
			v, d = fmt.Sprint(c.Proxies.HTTPProxy != "", c.Proxies.HTTPSProxy != "", c.Proxies.NoProxy), fmt.Sprint(false, false, []string(nil))
		}
		if v == d {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s=%s", f.Name, v)
	}
	return b.String()
}

func (c Config) GoString() string     { return c.String() }
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// later are fields of the original that this version reads past.
var later = map[string]string{
	"gates":             "the gate is not built yet; nothing an agent does is held for approval",
	"agentgate":         "the gate is not built yet; nothing an agent does is held for approval",
	"docker_proxy":      "agents have no access to the container engine in this version",
	"browser":           "",
	"browser_enabled":   "",
	"keep_mcp_configs":  "a run's MCP settings are in memory in its container, and go with the run",
	"poll_interval_sec": "", "workflow_bash_local": "",
	"memory": "", "review": "", "github": "", "prompt_shortcuts": "", "bash_shortcuts": "", "chat_components": "",
	"workflows": "", "workflow_concurrency": "", "task_templates": "", "quality": "", "learn": "", "explain": "",
	"playground_share": "", "permissions": "", "islands": "", "preview_tabs": "", "auto_save_on_blur": "", "stop_daemon_on_quit": "",
	"platforms": "", "discord_token": "", "discord_app_id": "", "discord_guild_id": "", "slack_bot_token": "", "slack_app_token": "",
}
