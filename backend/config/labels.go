package config

import (
	"slices"
	"sync"
)

// Group is a part of the settings as a person looks for it.
type Group struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// label is what a person calls a field, and further words by which they look for it.
type label struct {
	field string
	title string
	words string
}

// groups are the parts of the settings in the order of the window, each with its fields in
// theirs. Every field stands here once, and a test says so.
var groups = []struct {
	Group
	labels []label
}{
	{Group{"access", "Model access"}, []label{
		{"anthropic_api_key", "Anthropic API key", "key sign in login credential secret account console billing pay sk-ant"},
		{"claude_code_oauth_token", "Claude subscription token", "sign in login oauth setup-token pro max team plan account credential secret"},
		{"anthropic_base_url", "Address of the model", "endpoint url server host gateway litellm proxy provider openrouter local llm"},
	}},
	{Group{"agents", "Agents"}, []label{
		{"claude_model", "Model", "opus sonnet haiku llm claude version which cost price cheap fast quality"},
		{"claude_effort", "Effort", "thinking reasoning think budget tokens cost price speed depth ultrathink"},
		{"claude_ahead", "Start Claude Code ahead", "fast speed latency wait warm prestart memory first answer slow"},
		{"claude_setup", "Your Claude set-up", "CLAUDE.md skills agents commands hooks home dotfiles own personal config import"},
		{"claude_setup_allow", "What your set-up may run", "hooks mcp plugins statusline programs permission trust personal"},
		{"claude_batch_disallowed_tools", "Tools that runs do without", "disallowed forbid disable block ban tool cron monitor wakeup"},
		{"mcp.servers", "MCP servers", "tools plugins integrations extensions connect model context protocol"},
		{"claude_retry.max_attempts", "Attempts at most", "retry again overloaded 529 error network repeat limit cost price"},
		{"claude_retry.backoff_base_sec", "First wait between attempts", "retry backoff delay pause again overloaded"},
		{"claude_retry.backoff_max_sec", "Longest wait between attempts", "retry backoff delay pause again overloaded limit"},
		{"claude_retry.session_limit_auto_continue", "Go on after a session limit", "usage limit rate quota subscription resume wait reset cost"},
		{"claude_bin_path", "Program of Claude Code", "binary path executable cli command version install"},
	}},
	{Group{"containers", "Containers"}, []label{
		{"container_memory_mb", "Memory limit", "ram out of memory oom size resources killed limits"},
		{"container_cpus", "CPU limit", "processor cores speed resources slow limits"},
		{"container_pids", "Limit on processes", "threads pids fork bomb resources limits"},
		{"container_timeout_sec", "Longest time of a run", "timeout time limit limits stop hang stuck duration cost price budget"},
		{"container_scope", "Who shares a container", "isolation separate session run agent shared sandbox warm"},
		{"workspace_layout", "Where the folder is found", "path mirror workspace directory place project"},
		{"workspace_access", "What agents may do with the folder", "read-only readonly write copy protect permission project directory access"},
		{"container_keep_alive_sec", "How long a stopped container stays", "keep alive look inspect debug remove clean"},
		{"container_idle_hours", "End a container unused for", "idle stop clean up prune life resources"},
		{"container_max_age_days", "End a container of this age", "old stop clean up prune life restart"},
		{"container_warm_max", "Warm containers at most", "running ready fast memory resources limits start"},
		{"on_app_exit", "When Loop ends", "quit close exit shut down containers stop keep remove background"},
		{"docker_host", "Container engine", "docker podman socket address daemon remote colima orbstack"},
	}},
	{Group{"files", "Files and variables"}, []label{
		{"mounts", "Mounts", "volumes binds folders share directories cache npm ssh"},
		{"extra_dirs", "Further folders", "directories add-dir workspace other repository monorepo"},
		{"copy_files", "Files to copy in", "dotfiles gitconfig npmrc config credentials"},
		{"inherit_mounts", "Take the mounts of all projects", "inherit volumes drop global"},
		{"envs", "Environment variables", "env export secrets tokens path variables"},
		{"inherit_envs", "Variables of this computer", "environment env inherit pass through export"},
	}},
	{Group{"network", "Network"}, []label{
		{"container_network", "Network of containers", "internet offline bridge none egress connection isolate access"},
		{"proxies.http_proxy", "Proxy for http", "egress corporate company firewall internet network"},
		{"proxies.https_proxy", "Proxy for https", "egress corporate company firewall internet network tls"},
		{"proxies.no_proxy", "Reached without a proxy", "egress exceptions bypass intranet internal hosts network"},
		{"extra_ca_files", "Further certificates", "ca tls ssl https corporate company proxy trust root pem"},
		{"api_addr", "Address of Loop's listener", "port localhost server api serve headless"},
		{"guest_transport", "How containers call Loop", "link tcp transport callback connection"},
		{"api_advertise_url", "Address that containers call", "callback tcp url host advertise"},
	}},
	{Group{"gate", "Gate"}, []label{
		{"gates.agentgate.enabled", "Gate", "security safety permission approval protect hold ask off on yolo skip sandbox"},
		{"gates.agentgate.mode", "What the gate does", "record shadow enforce learn audit strict security permission"},
		{"gates.agentgate.modes", "What the gate does in single folders", "record shadow enforce project per folder security permission"},
		{"gates.agentgate.default_decision", "What no rule covers", "default allow deny approve ask permission security"},
		{"gates.agentgate.command_rules", "Rules for programs", "commands bash shell allow deny block permission security execute"},
		{"gates.agentgate.file_rules", "Rules for files", "read write delete allow deny block protect permission security path"},
		{"gates.agentgate.path_rules", "Rules for sockets", "unix connect allow deny block permission security docker ssh-agent"},
		{"gates.agentgate.site_rules", "Rules for sites", "browser web domains hosts allow deny block permission security egress"},
		{"gates.agentgate.timeout_sec", "How long a question waits", "timeout expire deny approval minutes limits"},
		{"gates.agentgate.hold_until_back", "Wait until you are back", "away timeout forever hold approval overnight"},
		{"gates.agentgate.dialog", "Dialog of the system", "popup ask approval window hidden notification"},
		{"gates.agentgate.debuggers", "Debuggers", "gdb strace ptrace debug security"},
	}},
	{Group{"browser", "Browser"}, []label{
		{"browser_enabled", "Browser for each channel", "chrome chromium web page playwright off on"},
		{"browser.mode", "Where the browser is", "chrome docker host own sign in cookies container"},
		{"browser.host_profile", "Profile of your Chrome", "user data dir folder cookies edge brave chromium"},
		{"browser.screenshots", "What agents get of a screenshot", "picture image inline path vision tokens cost price"},
		{"browser.memory_mb", "Memory of the browser", "ram chrome crash resources limits"},
		{"browser.cpus", "CPU limit while nobody watches", "processor chrome slow resources limits"},
		{"browser.watched_cpus", "CPU limit while a pane shows it", "processor chrome slow smooth frames resources limits"},
		{"browser.idle_sec", "End a browser unused for", "idle close timeout resources"},
	}},
	{Group{"terminals", "Terminals"}, []label{
		{"terminal.font_family", "Font", "typeface monospace nerd powerline look family jetbrains"},
		{"terminal.colors", "Colours", "colors ansi palette scheme background look dark light"},
		{"terminal.minimum_contrast", "Least contrast", "readable legible accessibility a11y colours look"},
		{"terminal.bell", "Bell", "sound beep ring alert noise quiet mute"},
		{"terminal.copy_on_select", "Copy what is selected", "clipboard selection mouse select"},
		{"terminal.shift_enter", "Shift and Enter", "newline line break key multi-line keyboard"},
		{"terminal.shell_integration", "Marks of prompts", "shell integration jump prompt bash zsh fish"},
		{"terminal.screen_reader", "Screen reader", "accessibility a11y blind nvda voiceover orca speech"},
		{"terminal.idle_sec", "End a terminal unused for", "idle close timeout resources"},
	}},
	{Group{"look", "Look"}, []label{
		{"theme", "Theme", "dark light contrast night mode colours colors appearance look system bright black white"},
		{"editor", "Your editor", "open file code cursor zed vim vscode idea ide line"},
		{"keys", "Keys of actions", "shortcuts keyboard hotkeys bindings rebind keymap"},
		{"font_sizes.sidebar", "Text size of the sidebar", "font zoom bigger larger smaller text look channels"},
		{"font_sizes.chat", "Text size of the timeline", "font zoom bigger larger smaller text look chat conversation"},
		{"font_sizes.terminal", "Text size of terminals", "font zoom bigger larger smaller text look shell"},
		{"font_sizes.editor", "Text size of code", "font zoom bigger larger smaller text look diff output"},
		{"font_sizes.panels", "Text size of panels", "font zoom bigger larger smaller text look dialogs"},
	}},
	{Group{"notifications", "Notifications"}, []label{
		{"notify", "What is told", "notifications alert desktop attention ring needs you failed done popup"},
		{"notify_sound", "Sound", "notifications noise ring beep audio mute quiet alert"},
		{"do_not_disturb", "Do not disturb", "notifications quiet mute silent focus off pause dnd"},
	}},
	{Group{"image", "Image"}, []label{
		{"container_image", "Image of containers", "docker dockerfile toolchain base devcontainer"},
		{"container_image_autobuild", "Build the image by itself", "docker automatic pull rebuild update"},
		{"toolchains", "What projects bring for an image", "setup.sh devcontainer dockerfile toolchain build child"},
		{"container_image_bare", "Do with a bare image", "docker openclaw fallback debian degraded"},
		{"image_tools.compiler", "C and C++ compiler", "gcc g++ build-essential toolchain install"},
		{"image_tools.make", "make", "build toolchain install"},
		{"image_tools.node", "Node.js", "npm javascript typescript toolchain install"},
		{"image_tools.pnpm", "pnpm", "node javascript package manager toolchain install"},
		{"image_tools.python", "Python", "pip venv toolchain install"},
		{"image_tools.git", "git", "version control worktree toolchain install"},
		{"image_tools.vim", "vim", "editor install"},
		{"image_tools.nano", "nano", "editor install"},
		{"image_tools.tmux", "tmux", "terminal multiplexer install"},
		{"image_tools.htop", "htop", "processes monitor install"},
		{"image_tools.less", "less", "pager install"},
		{"image_tools.ripgrep", "ripgrep", "search grep rg install"},
	}},
	{Group{"sandbox", "Containers by agent"}, agentLabels},
	{Group{"loop", "Loop itself"}, []label{
		{"log_level", "What is logged", "debug verbose log trace support"},
		{"log_format", "Form of the log", "json text log"},
		{"log_file", "Log file", "path place log support"},
		{"db_path", "Database", "sqlite path place storage history"},
	}},
}

// agentLabels are those of agents.
var agentLabels = []label{
	{"agents.list", "Agents of their own", "templates profiles roles several openclaw"},
	{agentDefaults + "sandbox.mode", "Which channels have a container", "sandbox off host all non-main isolation"},
	{agentDefaults + "sandbox.scope", "Who shares a container of an agent", "sandbox isolation session shared"},
	{agentDefaults + "sandbox.layout", "Where an agent finds its folder", "sandbox path mirror workspace directory"},
	{agentDefaults + "sandbox.workspaceAccess", "What an agent may do with its folder", "sandbox read-only write none permission access"},
	{agentDefaults + "sandbox.docker.image", "Image of an agent", "docker toolchain sandbox"},
	{agentDefaults + "sandbox.docker.containerPrefix", "Beginning of container names", "docker name prefix sandbox"},
	{agentDefaults + "sandbox.docker.workdir", "Where a copy of the folder lies", "docker workspace path directory sandbox"},
	{agentDefaults + "sandbox.docker.readOnlyRoot", "Read-only image", "docker readonly protect security sandbox"},
	{agentDefaults + "sandbox.docker.tmpfs", "Folders in memory", "docker tmp ram disk sandbox"},
	{agentDefaults + "sandbox.docker.network", "Network of an agent", "docker internet offline bridge none egress sandbox"},
	{agentDefaults + "sandbox.docker.user", "User that agents run as", "docker uid gid root permission sandbox"},
	{agentDefaults + "sandbox.docker.capDrop", "Capabilities to drop", "docker linux security privileges sandbox"},
	{agentDefaults + "sandbox.docker.env", "Variables of an agent", "docker environment env sandbox"},
	{agentDefaults + "sandbox.docker.setupCommand", "Set-up command", "docker script install toolchain apt sandbox"},
	{agentDefaults + "sandbox.docker.setupNetwork", "Network of the set-up command", "docker internet install apt sandbox egress"},
	{agentDefaults + "sandbox.docker.pidsLimit", "Limit on processes of an agent", "docker threads resources sandbox limits"},
	{agentDefaults + "sandbox.docker.memory", "Memory of an agent", "docker ram resources sandbox limits"},
	{agentDefaults + "sandbox.docker.memorySwap", "Memory and swap of an agent", "docker ram resources sandbox limits"},
	{agentDefaults + "sandbox.docker.cpus", "CPU limit of an agent", "docker processor cores resources sandbox limits"},
	{agentDefaults + "sandbox.docker.gpus", "Graphics processors", "docker gpu cuda nvidia sandbox"},
	{agentDefaults + "sandbox.docker.ulimits", "Limits of single processes", "docker ulimit nofile open files sandbox"},
	{agentDefaults + "sandbox.docker.seccompProfile", "Filter of system calls", "docker seccomp security sandbox"},
	{agentDefaults + "sandbox.docker.apparmorProfile", "AppArmor profile", "docker security sandbox"},
	{agentDefaults + "sandbox.docker.dns", "Name servers", "docker dns resolver network sandbox"},
	{agentDefaults + "sandbox.docker.extraHosts", "Further host names", "docker hosts dns network sandbox"},
	{agentDefaults + "sandbox.docker.binds", "Mounts of an agent", "docker volumes folders sandbox"},
	{agentDefaults + "sandbox.docker.allowedBindSources", "Where mounts may come from", "docker binds volumes permission sandbox"},
	{agentDefaults + "sandbox.docker.dangerouslyAllowExternalBindSources", "Mounts from anywhere", "docker binds volumes dangerous sandbox"},
	{agentDefaults + "sandbox.prune.idleHours", "End an agent's container unused for", "idle stop clean up prune sandbox"},
	{agentDefaults + "sandbox.prune.maxAgeDays", "End an agent's container of this age", "old stop clean up prune sandbox"},
}

// labelled is a label with the group that it stands in, and its place among all.
type labelled struct {
	label
	group string
	place int
}

var labels = sync.OnceValue(func() map[string]labelled {
	out := map[string]labelled{}
	for _, g := range groups {
		for _, l := range g.labels {
			out[l.field] = labelled{l, g.ID, len(out)}
		}
	}
	return out
})

// Groups are the parts of the settings in the order of the window.
func Groups() (out []Group) {
	for _, g := range groups {
		out = append(out, g.Group)
	}
	return out
}

// Grouped are the fields that hold a value themselves, in the order of the window.
func Grouped() []Field {
	out := Leaves()
	slices.SortStableFunc(out, func(a, b Field) int { return labels()[a.Name].place - labels()[b.Name].place })
	return out
}
