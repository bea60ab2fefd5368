package sandbox

import (
	"strings"
	"testing"
)

// TestNotInherited lists names of credentials, and of variables that make a program run
// another one at its start.
func TestNotInherited(t *testing.T) {
	for reason, names := range map[string]string{
		"its name is a credential's": `ANTHROPIC_API_KEY OPENAI_API_KEY GEMINI_API_KEY OPENROUTER_API_KEY MINIMAX_API_KEY ELEVENLABS_API_KEY
			AZURE_OPENAI_API_KEY COHERE_API_KEY TELEGRAM_BOT_TOKEN DISCORD_BOT_TOKEN SLACK_BOT_TOKEN SLACK_APP_TOKEN LINE_CHANNEL_ACCESS_TOKEN
			LINE_CHANNEL_SECRET GATEWAY_TOKEN GATEWAY_PASSWORD AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN GH_TOKEN GITHUB_TOKEN CLAUDE_CODE_OAUTH_TOKEN
			ANTHROPIC_BASE_URL X_PRIVATE_KEY x_secret my_Password APIKEY NPM_AUTH SSH_KEY GIT_CREDENTIAL`,
		"it means something on this computer alone": `LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES NODE_OPTIONS PYTHONPATH PYTHONSTARTUP JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS
			_JAVA_OPTIONS DOTNET_STARTUP_HOOKS COMPlus_Enable BASH_ENV SHELLOPTS PS4 ZDOTDIR GIT_EXTERNAL_DIFF GIT_CONFIG_COUNT GIT_SSH RUSTUP_TOOLCHAIN
			rustup_home PERL5DB RUBYLIB PATH DOCKER_HOST SSH_AUTH_SOCK`,
		"Loop sets it itself":                    "HOME home CHANNEL_ID API_URL CHOWN_PATHS HOST_USER",
		"proxies are forwarded by themselves":    "HTTP_PROXY https_proxy NO_PROXY no_proxy",
		"its name is not one for an environment": "1X A-B A.B X=Y ProgramFiles(x86)",
		"":                                       "LANG LC_ALL TERM EDITOR GOPROXY NODE_ENV NPM_CONFIG_REGISTRY TOKENIZER KEYBOARD GIT_AUTHOR_NAME",
	} {
		for name := range strings.FieldsSeq(names) {
			if got := notInherited(name); !strings.HasPrefix(got, reason) || reason == "" && got != "" {
				t.Errorf("%s: %q, want %q", name, got, reason)
			}
		}
	}
	if notInherited("") == "" {
		t.Error("a variable without a name is inherited")
	}
}

// TestOddValue: the limits are exactly where they are documented.
func TestOddValue(t *testing.T) {
	for in, want := range map[string]string{
		strings.Repeat("A", keyLength-1):                    "",
		strings.Repeat("A", keyLength):                      "looks like a key",
		strings.Repeat("A", keyLength) + " ":                "",
		strings.Repeat("a-_/", keyLength/4) + "==":          "looks like a key",
		strings.Repeat("x ", longValue/2):                   "",
		strings.Repeat("x ", longValue/2) + "x":             "32769 bytes long",
		"/usr/share/java:" + strings.Repeat("/a/b.jar:", 9): "",
	} {
		if got := oddValue(in); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%.20q… (%d): %q, want %q", in, len(in), got, want)
		}
	}
}
