package config

import "testing"

// TestWhenAFieldApplies: each field is read at every use, or marked as needing a
// restart. Whoever adds a field looks up where it is read and adds it here.
func TestWhenAFieldApplies(t *testing.T) {
	const live, restart = false, true
	want := map[string]bool{
		"claude_code_oauth_token": live, "anthropic_api_key": live, "anthropic_base_url": live, "claude_bin_path": live, "claude_model": live,
		"claude_effort": live, "claude_batch_disallowed_tools": live,
		"claude_retry.max_attempts": live, "claude_retry.backoff_base_sec": live, "claude_retry.backoff_max_sec": live,
		"claude_retry.session_limit_auto_continue": live,
		"container_image":                          live, "container_image_autobuild": live, "container_image_bare": live, "toolchains": live, "container_timeout_sec": live, "container_memory_mb": live,
		"container_cpus": live, "container_pids": live, "container_keep_alive_sec": live, "container_network": live, "container_scope": live, "workspace_layout": live, "claude_setup": live, "claude_setup_allow": live, "workspace_access": live, "agents.defaults.sandbox.layout": live,
		"agents.list": live, "agents.defaults.sandbox.mode": live, "agents.defaults.sandbox.scope": live, "agents.defaults.sandbox.workspaceAccess": live,
		"agents.defaults.sandbox.prune.idleHours": live, "agents.defaults.sandbox.prune.maxAgeDays": live,
		"agents.defaults.sandbox.docker.image":                               live,
		"agents.defaults.sandbox.docker.containerPrefix":                     live,
		"agents.defaults.sandbox.docker.workdir":                             live,
		"agents.defaults.sandbox.docker.readOnlyRoot":                        live,
		"agents.defaults.sandbox.docker.tmpfs":                               live,
		"agents.defaults.sandbox.docker.network":                             live,
		"agents.defaults.sandbox.docker.user":                                live,
		"agents.defaults.sandbox.docker.capDrop":                             live,
		"agents.defaults.sandbox.docker.env":                                 live,
		"agents.defaults.sandbox.docker.setupCommand":                        live,
		"agents.defaults.sandbox.docker.setupNetwork":                        live,
		"agents.defaults.sandbox.docker.pidsLimit":                           live,
		"agents.defaults.sandbox.docker.memory":                              live,
		"agents.defaults.sandbox.docker.memorySwap":                          live,
		"agents.defaults.sandbox.docker.cpus":                                live,
		"agents.defaults.sandbox.docker.gpus":                                live,
		"agents.defaults.sandbox.docker.ulimits":                             live,
		"agents.defaults.sandbox.docker.seccompProfile":                      live,
		"agents.defaults.sandbox.docker.apparmorProfile":                     live,
		"agents.defaults.sandbox.docker.dns":                                 live,
		"agents.defaults.sandbox.docker.extraHosts":                          live,
		"agents.defaults.sandbox.docker.binds":                               live,
		"agents.defaults.sandbox.docker.allowedBindSources":                  live,
		"agents.defaults.sandbox.docker.dangerouslyAllowExternalBindSources": live,
		"container_idle_hours":                                               live, "container_max_age_days": live, "on_app_exit": live, "notify": live, "notify_sound": live, "do_not_disturb": live, "container_warm_max": live,
		"image_tools.compiler": live, "image_tools.make": live, "image_tools.node": live, "image_tools.pnpm": live,
		"image_tools.python": live, "image_tools.git": live, "image_tools.vim": live, "image_tools.nano": live,
		"image_tools.tmux": live, "image_tools.htop": live, "image_tools.less": live, "image_tools.ripgrep": live,
		"claude_ahead":    live,
		"browser_enabled": live, "browser.memory_mb": live, "browser.cpus": live, "browser.watched_cpus": live, "browser.idle_sec": live,
		"browser.mode": live, "browser.screenshots": live, "browser.host_profile": live,
		"inherit_mounts": live, "mounts": live, "copy_files": live, "extra_dirs": live, "envs": live, "inherit_envs": live,
		"proxies.http_proxy": live, "proxies.https_proxy": live, "proxies.no_proxy": live, "mcp.servers": live,
		"gates.agentgate.enabled": live, "gates.agentgate.mode": live, "gates.agentgate.default_decision": live, "gates.agentgate.path_rules": live, "gates.agentgate.site_rules": live,
		"gates.agentgate.command_rules": live, "gates.agentgate.file_rules": live, "gates.agentgate.timeout_sec": live,
		"gates.agentgate.modes": live, "gates.agentgate.hold_until_back": live, "gates.agentgate.dialog": live, "gates.agentgate.debuggers": live,
		"api_addr": restart, "guest_transport": live, "api_advertise_url": live,
		"db_path": restart, "log_file": restart, "log_level": live, "log_format": restart, "extra_ca_files": live, "docker_host": restart,
		"theme": live, "keys": live, "editor": live, "font_sizes.sidebar": live, "font_sizes.chat": live, "font_sizes.terminal": live, "font_sizes.editor": live, "font_sizes.panels": live,
		"terminal.idle_sec": live, "terminal.font_family": live, "terminal.shift_enter": live, "terminal.bell": live, "terminal.copy_on_select": live,
		"terminal.screen_reader": live, "terminal.shell_integration": live, "terminal.colors": live, "terminal.minimum_contrast": live,
	}
	for _, f := range Leaves() {
		at, known := want[f.Name]
		if !known {
			t.Errorf("%s: does a change count at once, or after a restart?", f.Name)
		}
		if at != f.Restart {
			t.Errorf("%s: after a restart: %v", f.Name, f.Restart)
		}
		delete(want, f.Name)
	}
	for name := range want {
		t.Errorf("there is no field %s", name)
	}
}
