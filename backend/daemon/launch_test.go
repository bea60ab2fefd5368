package daemon

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/demo"
)

const canary = "sk-ant-canary-5d1f"

// keyed is a configuration with a key and defaults otherwise.
func keyed() config.Config {
	cfg := config.Defaults()
	cfg.AnthropicAPIKey = canary
	return cfg
}

func TestLaunchTakesOneCredential(t *testing.T) {
	for name, tc := range map[string]struct{ key, token, wantKey, wantToken string }{
		"key":           {"k", "", "k", ""},
		"token":         {"", "t", "", "t"},
		"token is over": {"k", "t", "", "t"}, // the CLI would warn if it got both
	} {
		cfg := config.Defaults()
		cfg.AnthropicAPIKey, cfg.ClaudeCodeOAuthToken = core.Secret(tc.key), core.Secret(tc.token)
		l, err := launchOf(cfg, core.Run{})
		if err != nil || l.APIKey != tc.wantKey || l.OAuthToken != tc.wantToken {
			t.Errorf("%s: key %q, token %q, %v", name, l.APIKey, l.OAuthToken, err)
		}
	}
}

func TestLaunchWithoutACredential(t *testing.T) {
	_, err := launchOf(config.Defaults(), core.Run{})
	if f := core.AsFailure(err); err == nil || f.Code != core.CodeCredentials || !strings.Contains(f.Remedy, "demo") || !strings.Contains(f.Remedy, "loop auth login") {
		t.Errorf("%+v", f)
	}
	// A person's own model, on this computer or elsewhere, may need no key.
	for _, base := range []string{"http://127.0.0.1:9/v1", "https://models.example.org"} {
		cfg := config.Defaults()
		cfg.AnthropicBaseURL = base
		if l, err := launchOf(cfg, core.Run{}); err != nil || l.APIKey+l.OAuthToken != "" {
			t.Errorf("%s: %+v, %v", base, l, err)
		}
	}
}

// TestLaunchOfADemo: the script is in the program. Nothing of the person's goes along,
// and nothing leaves the computer.
func TestLaunchOfADemo(t *testing.T) {
	cfg := keyed()
	cfg.ClaudeCodeOAuthToken, cfg.AnthropicBaseURL, cfg.ClaudeModel = canary, "https://models.example.org", "opus"
	for script, model := range map[string]string{"": demo.ModelPrefix + demo.DefaultScript, "quick": demo.ModelPrefix + "quick"} {
		l, err := launchOf(cfg, core.Run{Demo: true, Script: script})
		if err != nil || l.Upstream != (core.ModelUpstream{Demo: true}) || l.Model != model {
			t.Errorf("%q: %+v, %v", script, l, err)
		}
		if strings.Contains(fmt.Sprintf("%+v", l), canary) || l.BaseURL != "" {
			t.Errorf("%q: a demo got %+v", script, l)
		}
	}
	_, err := launchOf(cfg, core.Run{Demo: true, Script: "../quick"})
	if f := core.AsFailure(err); err == nil || f.Code != core.CodeInvalid || !strings.Contains(f.Remedy, "quick") {
		t.Errorf("%+v", f)
	}
}

// TestLaunchWayToTheModel: inside a container, a loopback address means the container.
// A model on this computer is therefore reached through the link.
func TestLaunchWayToTheModel(t *testing.T) {
	for base, linked := range map[string]bool{
		"http://localhost:11434": true, "http://LOCALHOST/v1": true, "http://localhost./": true, "http://api.localhost:1": true,
		"http://127.0.0.1:1": true, "http://127.8.9.1": true, "http://[::1]:8080/x": true, "http://[::ffff:127.0.0.1]": true, "http://0.0.0.0:4": true, "http://[::]:4": true,
		"http://host.docker.internal:4000": true, "http://gateway.docker.internal": true,

		"https://api.example.org": false, "https://localhost.example.org": false, "https://notlocalhost": false, "https://example.org/localhost": false,
		"http://192.168.1.5:8080": false, "http://10.0.0.1": false, "http://[fe80::1]": false, "http://172.17.0.1": false, "http://128.0.0.1": false,
	} {
		cfg := keyed()
		cfg.AnthropicBaseURL = base
		l, err := launchOf(cfg, core.Run{})
		if err != nil {
			t.Errorf("%s: %v", base, err)
			continue
		}
		if linked && (l.Upstream.BaseURL != base || l.BaseURL != "") || !linked && (l.Upstream != core.ModelUpstream{} || l.BaseURL != base) {
			t.Errorf("%s: through the link %+v, by itself %q", base, l.Upstream, l.BaseURL)
		}
	}
	if l, err := launchOf(keyed(), core.Run{}); err != nil || l.BaseURL != "" || l.Upstream != (core.ModelUpstream{}) {
		t.Errorf("without an address: %+v, %v", l, err)
	}
}

func TestLaunchCarriesTheSettings(t *testing.T) {
	cfg := keyed()
	cfg.ClaudeBinPath, cfg.ClaudeModel, cfg.ClaudeEffort = "/opt/claude", "opus", "high"
	cfg.ClaudeBatchDisallowedTools = []string{"WebFetch"}
	cfg.ContainerTimeoutSec = 90
	l, err := launchOf(cfg, core.Run{Script: "tour"}) // a script counts only in a demo
	if err != nil || l.Bin != "/opt/claude" || l.Model != "opus" || l.Effort != "high" || !slices.Equal(l.DisallowedTools, []string{"WebFetch"}) || l.Timeout != 90*time.Second {
		t.Errorf("%+v, %v", l, err)
	}
	for _, on := range []bool{true, false} {
		cfg.BrowserEnabled = on
		if l, err := launchOf(cfg, core.Run{}); err != nil || l.Browser != on {
			t.Errorf("browser_enabled=%v: %v %v", on, l.Browser, err)
		}
	}
	// 0 seconds means at once, and not the runner's default.
	for sec, want := range map[int]time.Duration{0: -1, 1: time.Second, 300: 5 * time.Minute} {
		cfg.ContainerKeepAliveSec = sec
		if l, err := launchOf(cfg, core.Run{}); err != nil || l.KeepAlive != want {
			t.Errorf("%d s: %v, %v", sec, l.KeepAlive, err)
		}
	}
}
