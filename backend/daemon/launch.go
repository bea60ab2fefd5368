package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"runtime"
	"strings"
	"time"

	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/demo"
	"loop/backend/runner"
	"loop/backend/sandbox"
	"loop/backend/sessions"
)

// The CLI repeats a refused request ten times by default, a wrong key included,
// which took over three minutes to say so when measured. Four repeats bridge
// some fifteen seconds of an overloaded model. After its result it waits ten minutes
// for what goes on in the background, and then ends it; 0 is no limit, because the
// run's own is over that too. envs in the settings wins.
const (
	retriesEnv     = "CLAUDE_CODE_MAX_RETRIES"
	maxRetries     = "4"
	backgroundEnv  = "CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS"
	backgroundWait = "0"
)

// launchOf says how the CLI is started: which credential, and by which way the
// model is reached.
func launchOf(cfg config.Config, run core.Run) (runner.Launch, error) {
	l := runner.Launch{
		Bin: cfg.ClaudeBinPath, Model: cfg.ClaudeModel, Effort: cfg.ClaudeEffort, DisallowedTools: cfg.ClaudeBatchDisallowedTools,
		Timeout: time.Duration(cfg.ContainerTimeoutSec) * time.Second, KeepAlive: cfg.KeepAlive(), Browser: cfg.BrowserEnabled,
		MCPServers: map[string]runner.MCPServer{}, Ahead: cfg.ClaudeAhead,
		Retry: runner.Retry{
			MaxAttempts: cfg.ClaudeRetry.MaxAttempts, Base: time.Duration(cfg.ClaudeRetry.BackoffBaseSec) * time.Second,
			Max: time.Duration(cfg.ClaudeRetry.BackoffMaxSec) * time.Second, SessionLimitContinue: cfg.ClaudeRetry.SessionLimitAutoContinue,
		},
	}
	for name, server := range cfg.MCP.Servers {
		l.MCPServers[name] = runner.MCPServer(server)
	}
	if run.Demo {
		script := cmp.Or(run.Script, demo.DefaultScript)
		if demo.Builtin()[script] == nil {
			return l, core.Fail(core.CodeInvalid, nil, fmt.Sprintf("There is no demo script %q.", script),
				"Choose one of: "+strings.Join(demo.Builtin().Names(), ", ")+".")
		}
		// Named always: a resumed session would bring back the script of the run before.
		l.Upstream, l.Model = core.ModelUpstream{Demo: true}, demo.ModelPrefix+script
		return l, nil
	}
	switch kind, secret := cfg.Credential(); kind {
	case config.CredentialOAuth:
		l.OAuthToken = secret.Reveal()
	case config.CredentialAPIKey:
		l.APIKey = secret.Reveal()
	default:
		if cfg.AnthropicBaseURL != "" {
			break // a model of the person's own may want no key
		}
		return l, core.Fail(core.CodeCredentials, nil, "Loop has no key for the model.",
			"Run “loop auth login”, paste an API key in the settings, or use the demo channel (“loop run --demo”), which needs none.")
	}
	if cfg.AnthropicBaseURL == "" {
		return l, nil
	}
	u, err := url.Parse(cfg.AnthropicBaseURL)
	if err != nil {
		return l, core.Fail(core.CodeConfig, err, "anthropic_base_url is not an address.", "Use the form https://host/path.")
	}
	if core.ThisComputer(u.Hostname()) { // a container cannot reach it under that name, so the link does
		l.Upstream = core.ModelUpstream{BaseURL: cfg.AnthropicBaseURL}
	} else {
		l.BaseURL = cfg.AnthropicBaseURL
	}
	return l, nil
}

// agents are those that a person starts on a terminal.
type agents struct {
	settings settingsReader
	keys     credentialChoice
	log      *slog.Logger
}

// Interactive implements programs.Agents.
func (a agents) Interactive(ctx context.Context, ch core.Channel) (runner.Launch, error) {
	e, err := a.settings.read(ch)
	if err != nil {
		return runner.Launch{}, err
	}
	demo := ch.Kind == core.KindDemo
	if !demo {
		if e.Config, err = a.keys.Add(ctx, e.Config); err != nil {
			a.log.Warn("look for a key for a terminal", "err", err)
		}
	}
	l, err := launchOf(e.Config, core.Run{Demo: demo})
	if f, ok := errors.AsType[*core.Failure](err); ok && f.Code == core.CodeCredentials {
		err = nil
	}
	return l, err
}

// transcripts reads what the agent CLI keeps in the channels' states.
func transcripts(home string, states func(core.Channel) []core.ChannelID) *sessions.Service {
	return sessions.New(sessions.Options{
		Home: home, States: states, DemoPrefix: demo.ModelPrefix,
		WorkDir: func(dir string) string { return sandbox.ContainerPath(runtime.GOOS, dir) },
	})
}
