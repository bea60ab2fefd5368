package config

import (
	"log/slog"
	"reflect"
	"strings"
	"time"

	"loop/backend/core"
)

// Secret is a credential; see core.Secret.
type Secret = core.Secret

// Config is the whole of config.json. Tags: default is JSON text; min, max and
// oneof bound the value; unit is for people, as docs is. merge says how a later
// layer joins the earlier ones (see Merge constants; none is override) and project
// what a project's own file may do with the field (see Project constants); both hold
// for the parts of a nested object one by one. applies:"restart" marks
// what is read when Loop starts; everything else counts from its next use on.
type Config struct {
	ClaudeCodeOAuthToken Secret `json:"claude_code_oauth_token" project:"trust"`
	AnthropicAPIKey      Secret `json:"anthropic_api_key" project:"trust"`
	AnthropicBaseURL     string `json:"anthropic_base_url" project:"trust" check:"url"`

	ClaudeBinPath              string      `json:"claude_bin_path" default:"\"claude\"" project:"trust"`
	ClaudeModel                string      `json:"claude_model" project:"free" check:"word"`
	ClaudeAhead                bool        `json:"claude_ahead" default:"true" project:"tighten"`
	ClaudeEffort               string      `json:"claude_effort" oneof:",low,medium,high,xhigh,max" project:"free"`
	ClaudeBatchDisallowedTools []string    `json:"claude_batch_disallowed_tools" merge:"append" project:"tighten"`
	ClaudeRetry                ClaudeRetry `json:"claude_retry"`

	ContainerImage          string `json:"container_image" default:"\"loop-agent:latest\"" project:"trust" check:"filled"`
	ContainerImageAutobuild bool   `json:"container_image_autobuild" default:"true" project:"never"`
	Toolchains              string `json:"toolchains" default:"\"all\"" oneof:"all,loop,off" project:"never"`
	ContainerImageBare      bool   `json:"container_image_bare" project:"never"`
	ContainerTimeoutSec     int    `json:"container_timeout_sec" default:"3600" min:"1" max:"604800" unit:"seconds" project:"tighten"`
	// With 1024 MiB agents ran out of memory in practice. The pids, which are threads
	// too, are four times what the single-purpose agent container of the NanoClaw fork
	// has: a compiler or test runner for each CPU brings tens of threads, and a fork bomb
	// is still stopped long before the usual kernel limit of 32768.
	ContainerMemoryMB     int     `json:"container_memory_mb" default:"2048" min:"256" max:"4194304" unit:"MiB" project:"tighten"`
	ContainerCPUs         float64 `json:"container_cpus" default:"2.0" min:"0.01" max:"1024" unit:"CPUs" project:"tighten"`
	ContainerPids         int     `json:"container_pids" default:"2048" min:"32" max:"4194304" project:"tighten"`
	ContainerKeepAliveSec int     `json:"container_keep_alive_sec" default:"300" min:"0" max:"604800" unit:"seconds" project:"tighten"`
	ContainerScope        string  `json:"container_scope" default:"\"session\"" oneof:"shared,agent,session,run" project:"tighten"`
	WorkspaceLayout       string  `json:"workspace_layout" default:"\"mirror\"" oneof:"mirror,workspace" project:"trust"`
	WorkspaceAccess       string  `json:"workspace_access" oneof:",rw,ro,none" project:"tighten"`
	ContainerNetwork      string  `json:"container_network" default:"\"bridge\"" project:"tighten" check:"filled"`
	// A day and a week are OpenClaw's. An hour or a day is as fine as anybody needs.
	ContainerIdleHours  int `json:"container_idle_hours" default:"24" min:"0" max:"8760" unit:"hours" project:"tighten" zero:"never"`
	ContainerMaxAgeDays int `json:"container_max_age_days" default:"7" min:"0" max:"365" unit:"days" project:"tighten" zero:"never"`

	// 0 is by the engine's memory.
	ContainerWarmMax int `json:"container_warm_max" default:"0" min:"0" max:"1000" project:"never"`

	Notify       string `json:"notify" default:"\"all\"" oneof:"all,problems,needs_you,never" project:"never"`
	NotifySound  bool   `json:"notify_sound" project:"never"`
	DoNotDisturb bool   `json:"do_not_disturb" project:"never"`

	Editor []string `json:"editor" merge:"replace" project:"never" check:"filled"`

	OnAppExit string `json:"on_app_exit" default:"\"keep\"" oneof:"keep,stop,remove" project:"never"`

	Agents Agents `json:"agents"`

	ImageTools ImageTools `json:"image_tools"`

	BrowserEnabled bool    `json:"browser_enabled" default:"true" project:"tighten"`
	Browser        Browser `json:"browser"`

	InheritMounts bool           `json:"inherit_mounts" default:"true" project:"trust" only:"project"`
	Mounts        []string       `json:"mounts" merge:"by target" project:"trust"`
	CopyFiles     []string       `json:"copy_files" merge:"replace" project:"trust"`
	ExtraDirs     []string       `json:"extra_dirs" merge:"union" project:"trust"`
	Envs          map[string]any `json:"envs" merge:"by key" project:"trust"`
	InheritEnvs   []string       `json:"inherit_envs" merge:"append" project:"trust"`
	Proxies       Proxies        `json:"proxies"`

	ClaudeSetup      string   `json:"claude_setup" oneof:",none,read" project:"tighten"`
	ClaudeSetupAllow []string `json:"claude_setup_allow" merge:"replace" project:"never" check:"filled"`

	MCP MCP `json:"mcp"`

	Gates Gates `json:"gates"`

	APIAddr         string   `json:"api_addr" applies:"restart" project:"never" check:"loopback"`
	GuestTransport  string   `json:"guest_transport" default:"\"link\"" oneof:"link,tcp" project:"never"`
	APIAdvertiseURL string   `json:"api_advertise_url" project:"never" check:"url"`
	DBPath          string   `json:"db_path" applies:"restart" project:"never" check:"path"`
	LogFile         string   `json:"log_file" applies:"restart" project:"never" check:"path"`
	LogLevel        string   `json:"log_level" default:"\"info\"" oneof:"debug,info,warn,error" project:"never"`
	LogFormat       string   `json:"log_format" applies:"restart" default:"\"text\"" oneof:"text,json" project:"never"`
	ExtraCAFiles    []string `json:"extra_ca_files" merge:"replace" project:"never"`
	DockerHost      string   `json:"docker_host" applies:"restart" project:"never" check:"engine"`

	Theme     string    `json:"theme" default:"\"system\"" project:"never" check:"theme"`
	FontSizes FontSizes `json:"font_sizes"`
	// The names of actions are those of keyActions.
	Keys     map[string][]string `json:"keys" merge:"by key" project:"never" check:"keys"`
	Terminal Terminal            `json:"terminal"`
}

// ImageTools are the parts of Loop's own image that can be left out, by the names
// that agentimage/install-tools.sh knows.
type ImageTools struct {
	Compiler bool `json:"compiler" default:"true" project:"never"`
	Make     bool `json:"make" default:"true" project:"never"`
	Node     bool `json:"node" default:"true" project:"never"`
	Pnpm     bool `json:"pnpm" default:"true" project:"never"`
	Python   bool `json:"python" default:"true" project:"never"`
	Git      bool `json:"git" default:"true" project:"never"`
	Vim      bool `json:"vim" default:"true" project:"never"`
	Nano     bool `json:"nano" default:"true" project:"never"`
	Tmux     bool `json:"tmux" default:"true" project:"never"`
	Htop     bool `json:"htop" default:"true" project:"never"`
	Less     bool `json:"less" default:"true" project:"never"`
	Ripgrep  bool `json:"ripgrep" default:"true" project:"never"`
}

// Off are the names of the parts that are switched off, in the order above.
func (t ImageTools) Off() (names []string) {
	for f, on := range reflect.ValueOf(t).Fields() {
		if !on.Bool() {
			names = append(names, f.Tag.Get("json"))
		}
	}
	return names
}

// Browser bounds the browser of a channel. Half a processor draws some ten frames of a
// moving page a second, and one and a half draw sixty, measured; Chromium with a few pages
// runs out of less than 2048 MiB.
type Browser struct {
	MemoryMB    int     `json:"memory_mb" default:"2048" min:"768" max:"65536" unit:"MiB" project:"tighten"`
	CPUs        float64 `json:"cpus" default:"0.5" min:"0.1" max:"64" unit:"CPUs" project:"tighten"`
	WatchedCPUs float64 `json:"watched_cpus" default:"1.5" min:"0.1" max:"64" unit:"CPUs" project:"tighten"`
	IdleSec     int     `json:"idle_sec" default:"300" min:"30" max:"86400" unit:"seconds" project:"tighten"`
	Screenshots string  `json:"screenshots" default:"\"inline\"" oneof:"inline,path" project:"free"`

	Mode        string `json:"mode" default:"\"docker\"" oneof:"docker,host" project:"never"`
	HostProfile string `json:"host_profile" project:"never" check:"path"`
}

// Processors are what Chromium gets while nobody watches it, and while a pane does.
func (b Browser) Processors() (alone, watched float64) { return b.CPUs, max(b.CPUs, b.WatchedCPUs) }

// IdleTime is how long a browser stays that nobody uses.
func (b Browser) IdleTime() time.Duration { return time.Duration(b.IdleSec) * time.Second }

// Terminal is how terminals behave.
type Terminal struct {
	IdleSec          int    `json:"idle_sec" default:"0" min:"0" max:"31536000" unit:"seconds" project:"never"`
	FontFamily       string `json:"font_family" project:"never"`
	ShiftEnter       string `json:"shift_enter" default:"\"newline\"" oneof:"newline,enter" project:"never"`
	Bell             string `json:"bell" default:"\"mark\"" oneof:"mark,sound,off" project:"never"`
	CopyOnSelect     bool   `json:"copy_on_select" default:"false" project:"never"`
	ScreenReader     bool   `json:"screen_reader" default:"false" project:"never"`
	ShellIntegration bool   `json:"shell_integration" default:"true" project:"never"`

	Colors          []string `json:"colors" merge:"replace" project:"never" check:"colour"`
	MinimumContrast float64  `json:"minimum_contrast" default:"4.5" min:"1" max:"21" project:"never"`
}

// ClaudeRetry bounds what is tried again inside one run.
type ClaudeRetry struct {
	MaxAttempts              int  `json:"max_attempts" default:"5" min:"1" max:"50" project:"trust"`
	BackoffBaseSec           int  `json:"backoff_base_sec" default:"5" min:"1" max:"3600" unit:"seconds" project:"trust"`
	BackoffMaxSec            int  `json:"backoff_max_sec" default:"120" min:"1" max:"86400" unit:"seconds" project:"trust"`
	SessionLimitAutoContinue bool `json:"session_limit_auto_continue" default:"false" project:"trust"`
}

// Proxies are what containers get as http_proxy and so on.
type Proxies struct {
	HTTPProxy  string   `json:"http_proxy" project:"trust" check:"proxy"`
	HTTPSProxy string   `json:"https_proxy" project:"trust" check:"proxy"`
	NoProxy    []string `json:"no_proxy" merge:"append" project:"trust"`
}

// MCP holds the servers that the agent CLI starts inside the container.
type MCP struct {
	Servers map[string]MCPServer `json:"servers" merge:"by key" project:"trust"`
}

// MCPServer is one program that speaks MCP on its standard input and output.
type MCPServer struct {
	Command string            `json:"command"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
}

// FontSizes are in CSS pixels.
type FontSizes struct {
	Sidebar  int `json:"sidebar" default:"12" min:"8" max:"40" unit:"px" project:"never"`
	Chat     int `json:"chat" default:"13" min:"8" max:"40" unit:"px" project:"never"`
	Terminal int `json:"terminal" default:"13" min:"8" max:"40" unit:"px" project:"never"`
	Editor   int `json:"editor" default:"13" min:"8" max:"40" unit:"px" project:"never"`
	Panels   int `json:"panels" default:"12" min:"8" max:"40" unit:"px" project:"never"`
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

// KeepAlive is how long a stopped container stays; a setting of 0 means not at
// all, which the services take as a negative time because 0 is their default.
func (c Config) KeepAlive() time.Duration {
	if c.ContainerKeepAliveSec == 0 {
		return -1
	}
	return time.Duration(c.ContainerKeepAliveSec) * time.Second
}

// ContainerLife is how long a shared container that nobody holds goes on.
func (c Config) ContainerLife() core.Life {
	return core.Life{Idle: time.Duration(c.ContainerIdleHours) * time.Hour, Age: time.Duration(c.ContainerMaxAgeDays) * 24 * time.Hour}
}

// String names the fields that differ from the defaults. Their values stay out of
// logs: some are credentials, and others often hold one.
func (c Config) String() string {
	var names []string
	def := Defaults()
	for _, f := range leaves() {
		if !same(f.in(&c), f.in(&def)) {
			names = append(names, f.Name)
		}
	}
	return strings.Join(names, " ")
}

func (c Config) GoString() string     { return c.String() }
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// later are settings that this version reads past, each with the reason that a person
// is shown, if there is one.
var later = map[string]string{
	"agentgate":         "the gate's settings are those of gates.agentgate",
	"docker_proxy":      "agents have no access to the container engine in this version",
	"keep_mcp_configs":  "a run's MCP settings are in memory in its container, and go with the run",
	"poll_interval_sec": "", "workflow_bash_local": "",
	"memory": "", "review": "", "github": "", "prompt_shortcuts": "", "bash_shortcuts": "", "chat_components": "",
	"workflows": "", "workflow_concurrency": "", "task_templates": "", "quality": "", "learn": "", "explain": "",
	"playground_share": "", "permissions": "", "islands": "", "preview_tabs": "", "auto_save_on_blur": "", "stop_daemon_on_quit": "",
	"platforms": "", "discord_token": "", "discord_app_id": "", "discord_guild_id": "", "slack_bot_token": "", "slack_app_token": "",
}
