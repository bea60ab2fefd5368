package config

// docs says for each field what it is for, as the reference page, the schema and the
// window show it.
var docs = map[string]string{
	"claude_code_oauth_token":       "Token of a Claude subscription (from “claude setup-token”). Wins over anthropic_api_key.",
	"anthropic_api_key":             "Key of the Anthropic API.",
	"anthropic_base_url":            "Where the Messages API is. An address on 127.0.0.1 is this computer's and is reached through the link.",
	"claude_bin_path":               "Program of the agent CLI inside the container.",
	"claude_model":                  "Model; empty leaves the choice to the CLI.",
	"claude_ahead":                  "Start Claude Code before its prompt is sent. One that waits has some 160 MB.",
	"claude_effort":                 "How much the model thinks; empty leaves the choice to the CLI.",
	"claude_batch_disallowed_tools": "Tools that make no sense in a run that ends.",
	"claude_retry":                  "What is tried again inside one run.",
	"container_image":               "Image of agent containers.",
	"container_image_autobuild":     "Build the image when it is missing or older than this Loop, and pull another that is missing.",
	"toolchains": "What of a project may make an image of its own, after you approved it: all; loop, which is what is in its .loop folder " +
		"and no devcontainer; or off.",
	"container_image_bare": "Where openclaw-sandbox:bookworm-slim is missing, make one that is Debian with Claude Code alone. It is " +
		"degraded: git, python3 and other tools are missing.",
	"container_timeout_sec": "Longest time a run may take.",
	"container_memory_mb":   "Memory limit of a container.",
	"container_cpus": "CPU limit of a container. Claude Code uses two while it starts: with 1 the engine holds it back, and the first " +
		"answer comes a sixth later.",
	"container_pids":           "Limit on processes and threads of a container. For the gate, each program takes about 20.",
	"container_keep_alive_sec": "How long a stopped container can still be looked at, and that of a plan waits for its approval.",
	"container_scope": "Who shares a container. session: the runs and terminals of a channel, one after another and side by side; " +
		"it stays warm between them. run: each run has a container of its own, which ends with it. agent: a project and its threads. " +
		"shared: all channels whose projects have no settings of their own; each sees the others' folders.",
	"workspace_layout": "Where agents find the channel's folder. mirror: under the path that it has on this computer. " +
		"workspace: at /workspace.",
	"workspace_access": "What agents may do with the channel's folder; empty is rw in the layout mirror and none in workspace. " +
		"rw: they work in it. ro: they can only read it. none: they do not see it, and work in a copy of their own, " +
		"into which AGENTS.md and the like are copied once.",
	"container_idle_hours": "Ends a shared container that nobody holds or has used for so long; 0 never does. It counts for containers " +
		"that are made from then on.",
	"container_max_age_days": "Ends a shared container of this age once nobody holds it; 0 never does. It counts for containers that are " +
		"made from then on.",
	"container_warm_max": "Most shared containers that go on while nobody holds them; the one that was idle for longest is stopped " +
		"first, and the next run starts it again. 0 is as many as take half of the engine's memory by their limits, and at least two.",
	"do_not_disturb": "Show no notification, whatever happens. What waits is in the window, and a held call still has its dialog.",
	"notify": "What the desktop tells of a channel while nobody looks at Loop's window. all: it needs you, a run failed, a run is done. " +
		"problems: the first two. needs_you: the first. A channel may have its own choice.",
	"notify_sound": "Let the desktop play its sound with these notifications. On macOS and Windows the system decides.",
	"on_app_exit": "What becomes of containers that nobody holds when Loop ends. keep: they go on, and one that no Loop has visited for " +
		"half an hour and in which nothing runs ends by itself. stop: they are stopped, and the next run starts them again. remove: they " +
		"are removed. Runs and terminals go on in any case.",
	"container_network": "bridge, none, or the name of a network of the engine.",
	"inherit_mounts":    "false drops the mounts of the layers before. For a project's own file.",
	"mounts": "host:container[:mode] strings; a source without slashes is a named volume. In a project's file a relative source starts " +
		"in the project's folder.",
	"copy_files": "Files of this computer of which each container gets a copy, under their own path.",
	"extra_dirs": "Further folders the agent may work in, mounted under their own paths.",
	"envs":       "Environment variables of containers. A leading ~ is the home directory; null removes one.",
	"inherit_envs": "Names of this computer's environment variables that containers get as they are here; a name that ends in * takes all " +
		"that begin like it. Those of credentials are left out.",
	"claude_setup": "Your own Claude Code set-up (~/.claude: CLAUDE.md, skills, agents, commands and some settings). read: agents get " +
		"copies of it. none: nothing of it. Empty is none, and the window asks once.",
	"claude_setup_allow": "What of that set-up runs programs or sets variables, and may come along: hooks, statusLine, env:NAME, mcp:NAME, " +
		"plugin:NAME.",
	"proxies":           "Proxies of containers.",
	"mcp":               "Tools of the agent from other programs.",
	"api_addr":          "Address of the local listener, host:port on this computer only; empty takes a free port.",
	"guest_transport":   "How programs in containers call Loop: link needs no network, tcp opens a listener for them.",
	"api_advertise_url": "Address under which containers reach that listener; only for guest_transport tcp, empty finds it.",
	"db_path":           "Database; empty is loop.db in Loop's folder.",
	"log_file":          "Log file; empty is loop.log in Loop's folder.",
	"log_level":         "Least serious message that is logged.",
	"log_format":        "Form of the log.",
	"extra_ca_files":    "PEM files with certificates that the image build and the containers trust, e.g. of a company proxy.",
	"docker_host":       "Container engine, e.g. unix:///var/run/docker.sock; empty finds it.",
	"theme":             "Look of the window: system, dark, light, contrast, or the name of a theme that you imported (docs/themes.md).",
	"editor": "Your editor, for files that you open from Loop: the program and its arguments, in which {file}, {line} and {column} are " +
		"replaced. Without it Loop takes $VISUAL, an editor that it finds, or $EDITOR.",
	"browser_enabled":      "Give each channel a browser, which its agent and you drive together.",
	"browser":              "The browser of a channel.",
	"browser.memory_mb":    "Memory limit of the browser's container; a quarter of it may be shared memory.",
	"browser.cpus":         "CPU limit of the browser while nobody watches.",
	"browser.watched_cpus": "CPU limit of the browser while a pane shows it.",
	"browser.screenshots":  "What an agent gets of a screenshot: the picture and its path, or the path alone.",
	"browser.idle_sec":     "Ends a browser that no pane shows and that nobody has used for so long.",
	"browser.mode": "Where the browser is: docker has one for each channel, in a container of its own; host is a Chrome that " +
		"you started, with what you are signed in to and all that this computer reaches (docs/limits.md).",
	"browser.host_profile": "Folder of that Chrome's profile, as --user-data-dir or chrome://version says it; empty looks in " +
		"the usual folders of Chrome, Chromium, Edge and Brave.",
	"agents":          "Templates of containers for agents.",
	"agents.defaults": "What counts for every agent.",
	"agents.list":     "Agents of their own: {id, name, sandbox}, with what differs from agents.defaults.",
	"image_tools":     "Programs in Loop's own image; a change rebuilds it before the next container.",
	"font_sizes":      "Text sizes of the window.",
	"keys": "Keys of actions instead of Loop's own, as {\"page.palette\": [\"Ctrl+Shift+P\"]}; an empty list takes the key away. " +
		"docs/keys.md has the names.",
	"terminal":             "Terminals.",
	"terminal.idle_sec":    "Ends a terminal that nobody looks at, that prints nothing and is given nothing for so long; 0 never does.",
	"terminal.font_family": "Font, before the one that Loop brings; it should give every character the same width.",
	"terminal.shift_enter": "What Shift and Enter send: newline begins another line of a prompt without sending it, " +
		"enter is the same as Enter.",
	"terminal.bell":              "What a bell does: a mark on the tab, a sound as well, or nothing.",
	"terminal.copy_on_select":    "Copy what is selected at once.",
	"terminal.screen_reader":     "Give what terminals show to screen readers; slower.",
	"terminal.shell_integration": "Have shells mark prompts and commands, for jumping between them and copying what one printed.",
	"terminal.colors": "Colours instead of Loop's own, as name=#rrggbb, or dark.name and light.name for one look: background, foreground, " +
		"cursor, selection, black, red, green, yellow, blue, magenta, cyan, white, and bright_black to bright_white.",
	"terminal.minimum_contrast": "Text that has less contrast than this is drawn in a clearer colour; " +
		"1 draws all as programs ask.",
	"claude_retry.max_attempts":                "Attempts at most, the first included, when the model is overloaded or out of reach.",
	"claude_retry.backoff_base_sec":            "Wait before the second attempt; it doubles with each one.",
	"claude_retry.backoff_max_sec":             "Longest wait between attempts.",
	"claude_retry.session_limit_auto_continue": "Go on by itself when a session limit of the subscription is over.",
	"proxies.http_proxy":                       "Proxy for http addresses; empty takes the one of this computer's environment.",
	"proxies.https_proxy":                      "Proxy for https addresses; empty takes the one of this computer's environment.",
	"proxies.no_proxy":                         "Names and networks that are reached without a proxy.",
	"gates":                                    "What holds acts of agents until a person answers.",
	"gates.agentgate":                          "The gate at the system calls of everything that Loop starts in a container.",
	"gates.agentgate.enabled":                  "Hold what the rules say to ask about, and refuse what they deny.",
	"gates.agentgate.mode": "record asks and denies nothing but what is never remembered (credentials, protected " +
		"sockets, what leads out of the container, the gate's own files); shadow also writes down what would have been " +
		"asked and denied. A run that only plans is held to that in each. It counts at once, also for what runs.",
	"gates.agentgate.modes": "Modes of single folders, as {\"/home/ana/src/app\": \"shadow\"}: of the channel of that folder, its " +
		"threads, and its worktrees that have none of their own.",
	"gates.agentgate.default_decision": "What becomes of an act that no rule covers. approve asks each time.",
	"gates.agentgate.path_rules": "Rules for connections to Unix sockets: {pattern, decision, message, off}; an " +
		"abstract socket is @name.",
	"gates.agentgate.command_rules": "Rules for programs: {commands, args_patterns, decision, message, off}. Advice: a " +
		"program can be run under another name.",
	"gates.agentgate.file_rules": "Rules for files: {paths, operations, decision, message, off}; " +
		"operations are read, write, create, delete, chmod, chown and link.",
	"gates.agentgate.site_rules": "Rules for pages that an agent opens in the browser: {sites, decision, message, off}; sites are hosts, " +
		"such as example.com, *.example.com for what is below it, or *. A site that no rule names is asked about.",
	"gates.agentgate.timeout_sec":     "How long a question waits; then it is denied this once.",
	"gates.agentgate.hold_until_back": "Let questions wait without an end.",
	"gates.agentgate.debuggers": "Let gdb and strace work, on programs of the same run or terminal alone. " +
		"Then command rules are advice for every program there: a debugger can have any program run under the name of one that may. " +
		"What a rule would ask about does not run in a debugger. Files stay guarded. It takes a kernel with Landlock. Runs that " +
		"only plan, and agents that you start in a shell, stay without. It counts for programs that are started from then on.",
	"gates.agentgate.dialog": "When the system's own dialog asks: while the window is hidden, always, or never.",
	"mcp.servers":            "Servers by name, each {command, args, env}.",
	"image_tools.compiler":   "C and C++ compiler.",
	"image_tools.make":       "make.",
	"image_tools.node":       "Node.js with npm.",
	"image_tools.pnpm":       "pnpm, with Node.js.",
	"image_tools.python":     "Python 3 with pip and venv.",
	"image_tools.git":        "git, which worktrees need.",
	"image_tools.vim":        "vim.",
	"image_tools.nano":       "nano.",
	"image_tools.tmux":       "tmux.",
	"image_tools.htop":       "htop.",
	"image_tools.less":       "less, which git shows long output with.",
	"image_tools.ripgrep":    "ripgrep.",

	"font_sizes.sidebar":  "Sidebar.",
	"font_sizes.chat":     "Timeline.",
	"font_sizes.terminal": "Terminals.",
	"font_sizes.editor":   "Code, output, diffs and paths.",
	"font_sizes.panels":   "Dialogs, and panels other than the timeline.",
}

// longDefaults are the default values that have no place in a struct tag, as JSON.
var longDefaults = map[string]string{
	"claude_batch_disallowed_tools": `["ScheduleWakeup","CronCreate","CronDelete","CronList","Monitor"]`,
}
