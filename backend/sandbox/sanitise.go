package sandbox

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"loop/backend/core"
)

// hostOnly are names whose values mean something on this computer alone, or
// would change how programs are started inside.
var hostOnly = []string{
	"PATH", "PWD", "OLDPWD", "SHELL", "USER", "LOGNAME", "HOSTNAME", "TMPDIR", "TMP", "TEMP", "TZ",
	"DOCKER_HOST", "DOCKER_CONFIG", "CONTAINER_HOST", "KUBECONFIG", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO",
	"DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "XAUTHORITY", "WAYLAND_DISPLAY", "DISPLAY",
	"AWS_ACCESS_KEY_ID", "AWS_SESSION_TOKEN", "DATABASE_URL",
	"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND", "ZDOTDIR", "IFS",
	"GIT_EXTERNAL_DIFF", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "SSH_ASKPASS", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR", "GIT_PROXY_COMMAND",
	"NODE_OPTIONS", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME",
	"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "DOTNET_STARTUP_HOOKS",
	"RUBYOPT", "RUBYLIB", "PERL5OPT", "PERL5LIB", "PERL5DB",
}

var hostOnlyPrefixes = []string{"LD_", "DYLD_", "COMPLUS_", "LOOP_", "BASH_FUNC_", "RUSTUP_", "GIT_CONFIG"}

// notInherited says why a variable of this computer never goes into a container
// by its name, or "". Names compare without case, as on Windows.
func notInherited(name string) string {
	up := strings.ToUpper(name)
	switch {
	case !envName.MatchString(name):
		return "its name is not one for an environment variable"
	case slices.Contains(appOnly, up):
		return "Loop sets it itself"
	case modelNames[up] != "" || core.NamesSecret(name):
		return "its name is a credential's"
	case slices.Contains(proxyNames, name) || slices.Contains(noProxyNames, name):
		return "proxies are forwarded by themselves"
	case slices.Contains(hostOnly, up) || slices.ContainsFunc(hostOnlyPrefixes, func(p string) bool { return strings.HasPrefix(up, p) }):
		return "it means something on this computer alone"
	}
	return ""
}

const (
	// longValue and keyLength are from where on a value is worth a word: what is
	// that long is seldom a setting, and what is that long in the alphabet of
	// base64 is often a key.
	longValue = 32768
	keyLength = 80
)

var keyLike = regexp.MustCompile(`^[A-Za-z0-9+/_=-]{80,}$`)

// oddValue says what is strange about a value, or "". The value is not in it.
func oddValue(value string) string {
	switch {
	case len(value) > longValue:
		return fmt.Sprintf("its value is %d bytes long", len(value))
	case len(value) >= keyLength && keyLike.MatchString(value):
		return "its value looks like a key"
	}
	return ""
}
