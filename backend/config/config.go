package config

import (
	"fmt"
	"log/slog"
	"strings"

	"loop/backend/core"
)

// Secret is a credential; see core.Secret.
type Secret = core.Secret

// Config is the whole of config.json. Tags: default is JSON text; min, max and
// oneof bound the value; unit and doc are for people.
type Config struct {
	ClaudeCodeOAuthToken Secret `json:"claude_code_oauth_token" doc:"Token of a Claude subscription (from “claude setup-token”). Wins over anthropic_api_key."`
	AnthropicAPIKey      Secret `json:"anthropic_api_key" doc:"Key of the Anthropic API."`
	AnthropicBaseURL     string `json:"anthropic_base_url" check:"url" doc:"Where the Messages API is. An address on 127.0.0.1 is this computer's and is reached through the link."`

	ClaudeBinPath              string   `json:"claude_bin_path" default:"\"claude\"" doc:"Program of the agent CLI inside the container."`
	ClaudeModel                string   `json:"claude_model" check:"word" doc:"Model; empty leaves the choice to the CLI."`
	ClaudeEffort               string   `json:"claude_effort" oneof:",low,medium,high,xhigh,max" doc:"How much the model thinks; empty leaves the choice to the CLI."`
	ClaudeBatchDisallowedTools []string `json:"claude_batch_disallowed_tools" default:"[\"ScheduleWakeup\",\"CronCreate\",\"CronDelete\",\"CronList\",\"Monitor\"]" doc:"Tools that make no sense in a run that ends."`

	ContainerImage          string  `json:"container_image" default:"\"loop-agent:latest\"" check:"filled" doc:"Image of agent containers."`
	ContainerImageAutobuild bool    `json:"container_image_autobuild" default:"true" doc:"Build the image when it is missing or older than this Loop."`
	ContainerTimeoutSec     int     `json:"container_timeout_sec" default:"3600" min:"1" max:"604800" unit:"seconds" doc:"Longest time a run may take."`
	ContainerMemoryMB       int     `json:"container_memory_mb" default:"2048" min:"256" max:"4194304" unit:"MiB" doc:"Memory limit of a container."`
	ContainerCPUs           float64 `json:"container_cpus" default:"1.0" min:"0.01" max:"1024" unit:"CPUs" doc:"CPU limit of a container."`
	ContainerPids           int     `json:"container_pids" default:"1024" min:"32" max:"4194304" doc:"Limit on processes and threads of a container."`
	ContainerKeepAliveSec   int     `json:"container_keep_alive_sec" default:"300" min:"0" max:"604800" unit:"seconds" doc:"How long a stopped container can still be looked at."`
	ContainerNetwork        string  `json:"container_network" default:"\"bridge\"" check:"filled" doc:"bridge, none, or the name of a network of the engine."`

	Mounts    []string       `json:"mounts" doc:"host:container[:mode] strings; a source without slashes is a named volume."`
	ExtraDirs []string       `json:"extra_dirs" doc:"Further folders the agent may work in, mounted under their own paths."`
	Envs      map[string]any `json:"envs" doc:"Environment variables of containers. A leading ~ is the home directory; null removes one."`

	APIAddr      string   `json:"api_addr" check:"loopback" doc:"Address of the local listener, host:port on this computer only; empty takes a free port."`
	DBPath       string   `json:"db_path" check:"path" doc:"Database; empty is loop.db in Loop's folder."`
	LogFile      string   `json:"log_file" check:"path" doc:"Log file; empty is loop.log in Loop's folder."`
	LogLevel     string   `json:"log_level" default:"\"info\"" oneof:"debug,info,warn,error" doc:"Least serious message that is logged."`
	LogFormat    string   `json:"log_format" default:"\"text\"" oneof:"text,json" doc:"Form of the log."`
	ExtraCAFiles []string `json:"extra_ca_files" doc:"PEM files with certificates that the image build and the containers trust, e.g. of a company proxy."`
	DockerHost   string   `json:"docker_host" check:"engine" doc:"Container engine, e.g. unix:///var/run/docker.sock; empty finds it."`

	Theme     string    `json:"theme" default:"\"system\"" oneof:"system,dark,light,contrast" doc:"Look of the window."`
	FontSizes FontSizes `json:"font_sizes" doc:"Text sizes of the window."`
}

// FontSizes are in CSS pixels.
type FontSizes struct {
	Sidebar  int `json:"sidebar" default:"12" min:"8" max:"40" unit:"px" doc:"Sidebar."`
	Chat     int `json:"chat" default:"13" min:"8" max:"40" unit:"px" doc:"Timeline."`
	Terminal int `json:"terminal" default:"13" min:"8" max:"40" unit:"px" doc:"Terminals."`
	Editor   int `json:"editor" default:"13" min:"8" max:"40" unit:"px" doc:"Editor."`
	Panels   int `json:"panels" default:"12" min:"8" max:"40" unit:"px" doc:"Other panels."`
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
// without the values of envs, which often hold some.
func (c Config) String() string {
	var b strings.Builder
	def := Defaults()
	for i, f := range Fields() {
		v, d := fmt.Sprint(fieldValue(c, i)), fmt.Sprint(fieldValue(def, i))
		if f.Name == "envs" {
			v = fmt.Sprint(keys(c.Envs))
			d = "[]"
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
	"gates":           "the gate is not built yet; nothing an agent does is held for approval",
	"agentgate":       "the gate is not built yet; nothing an agent does is held for approval",
	"docker_proxy":    "agents have no access to the container engine in this version",
	"browser":         "",
	"browser_enabled": "",
	"mcp":             "", "copy_files": "the channel keeps its own .claude.json", "proxies": "proxies are taken from the environment",
	"claude_retry": "", "keep_mcp_configs": "", "inherit_mounts": "it belongs into a project's own settings",
	"api_advertise_url": "containers are reached without a network address", "poll_interval_sec": "", "workflow_bash_local": "",
	"memory": "", "review": "", "github": "", "prompt_shortcuts": "", "bash_shortcuts": "", "chat_components": "",
	"workflows": "", "workflow_concurrency": "", "task_templates": "", "quality": "", "learn": "", "explain": "",
	"playground_share": "", "permissions": "", "islands": "", "preview_tabs": "", "auto_save_on_blur": "", "stop_daemon_on_quit": "",
	"platforms": "", "discord_token": "", "discord_app_id": "", "discord_guild_id": "", "slack_bot_token": "", "slack_app_token": "",
}
