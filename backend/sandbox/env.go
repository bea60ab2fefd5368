package sandbox

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"loop/backend/core"
)

// Lanes of an environment variable.
const (
	LaneApp       = "app"       // set by Loop; nobody may override it
	LaneOperator  = "operator"  // written in the settings
	LaneInherited = "inherited" // taken from the host
)

// maxEnvValue is Linux' limit for one NAME=value string (MAX_ARG_STRLEN, 32
// pages of 4 KiB) with room for the name.
const maxEnvValue = 128*1024 - 1024

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,255}$`)

// appOnly are the names whose meaning Loop relies on; a configured value is
// dropped with a notice. LOOP_ is reserved as a whole.
var appOnly = []string{"CHANNEL_ID", "API_URL", "HOME", "HOST_USER", "CHOWN_PATHS"}

// modelNames have fields of their own in the settings, and must never be in a
// container's environment, where every process and docker inspect reads them.
var modelNames = map[string]string{
	"ANTHROPIC_API_KEY":       "anthropic_api_key",
	"ANTHROPIC_AUTH_TOKEN":    "anthropic_api_key",
	"CLAUDE_CODE_OAUTH_TOKEN": "claude_code_oauth_token",
	"ANTHROPIC_BASE_URL":      "anthropic_base_url",
}

// secretSuffixes mark a name as a credential's.
var secretSuffixes = []string{"API_KEY", "APIKEY", "TOKEN", "PASSWORD", "PASSWD", "PASSPHRASE", "PRIVATE_KEY", "SECRET", "SECRET_KEY", "ACCESS_KEY", "CREDENTIALS"}

func looksSecret(name string) bool {
	up := strings.ToUpper(name)
	return slices.ContainsFunc(secretSuffixes, func(s string) bool { return strings.HasSuffix(up, s) })
}

// operatorEnv reads the configured variables: those for the container, and
// those whose names mark them as credentials, which travel with the spawn
// request instead.
func operatorEnv(m merged, host Host) (plain []core.EnvVar, secret []core.EnvVar, from map[string]LayerName, notices []string, err error) {
	from = map[string]LayerName{}
	for _, name := range sortedKeys(m.envs) {
		e := m.envs[name]
		where := fmt.Sprintf("%s envs[%q]", e.layer, name)
		if !envName.MatchString(name) {
			return nil, nil, nil, nil, core.Fail(core.CodeInvalid, nil,
				fmt.Sprintf("The name of %s is not valid for an environment variable.", where),
				"Use letters, digits and underscores, and do not begin with a digit.")
		}
		if slices.Contains(appOnly, name) || strings.HasPrefix(name, "LOOP_") {
			notices = append(notices, where+" was left out: Loop sets this variable itself.")
			continue
		}
		if field, is := modelNames[name]; is {
			notices = append(notices, where+" was left out: use "+field+" in the settings, so that it stays out of the container's environment.")
			continue
		}
		value := envValue(e.value, host)
		if i := strings.IndexByte(value, 0); i >= 0 {
			return nil, nil, nil, nil, core.Fail(core.CodeInvalid, nil,
				fmt.Sprintf("The value of %s contains a NUL byte.", where), "Remove it.")
		}
		if len(value) > maxEnvValue {
			return nil, nil, nil, nil, core.Fail(core.CodeInvalid, nil,
				fmt.Sprintf("The value of %s is %d bytes long; the limit is %d.", where, len(value), maxEnvValue),
				"Put it into a file in the workspace and name the file instead.")
		}
		v := core.EnvVar{Name: name, Value: value, Lane: LaneOperator}
		from[name] = e.layer
		if looksSecret(name) {
			v.Secret = true
			secret = append(secret, v)
			continue
		}
		if name == "PATH" || name == "TZ" {
			notices = append(notices, where+" replaces the value that Loop would set.")
		}
		plain = append(plain, v)
	}
	return plain, secret, from, notices, nil
}

// SpawnEnv is what the operator's envs hold of credentials (names that end in
// TOKEN, API_KEY, PASSWORD …). A spec never carries them: they are added to
// the spawn request, so that docker inspect does not show them.
func SpawnEnv(layers []Layer, host Host) ([]core.EnvVar, error) {
	m, err := mergeLayers(layers)
	if err != nil {
		return nil, err
	}
	_, secret, _, _, err := operatorEnv(m, host)
	if err != nil {
		return nil, err
	}
	_, withLogin := proxyEnv(host)
	return append(secret, withLogin...), nil
}

// envValue expands a leading ~ and writes other JSON types as fmt's %v does
// (the seed's rule), except that a whole number never becomes 1e+06.
func envValue(v any, host Host) string {
	home := ContainerPath(host.OS, host.Home)
	switch v := v.(type) {
	case string:
		if v == "~" {
			return home
		}
		if strings.HasPrefix(v, "~/") {
			return home + v[1:]
		}
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case json.Number:
		return v.String()
	}
	return fmt.Sprintf("%v", v)
}

var (
	proxyNames   = []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"}
	noProxyNames = []string{"NO_PROXY", "no_proxy"}
	barePort     = regexp.MustCompile(`^:[0-9]{1,5}$`)
)

// noProxyAlways must never pass through a proxy: the relay, and the host.
var noProxyAlways = []string{"host.docker.internal", "localhost", "127.0.0.1", "::1"}

// proxyEnv forwards the host's proxies, a loopback address rewritten to the
// host as the container sees it. A proxy with a login is a credential and is
// returned apart.
func proxyEnv(host Host) (plain, secret []core.EnvVar) {
	any := false
	for _, name := range proxyNames {
		v := host.Proxies[name]
		if v == "" || plainText(v) != nil {
			continue
		}
		any = true
		if barePort.MatchString(v) {
			v = "http://host.docker.internal" + v
		}
		v = strings.NewReplacer("://localhost:", "://host.docker.internal:", "://127.0.0.1:", "://host.docker.internal:",
			"@localhost:", "@host.docker.internal:", "@127.0.0.1:", "@host.docker.internal:").Replace(v)
		e := core.EnvVar{Name: name, Value: v, Lane: LaneInherited}
		if strings.Contains(v, "@") {
			e.Secret = true
			secret = append(secret, e)
			continue
		}
		plain = append(plain, e)
	}
	if !any {
		return nil, nil
	}
	for _, name := range noProxyNames {
		v := host.Proxies[name]
		if plainText(v) != nil {
			v = ""
		}
		var list []string
		for item := range strings.SplitSeq(v, ",") {
			if item = strings.TrimSpace(item); item != "" {
				list = append(list, item)
			}
		}
		for _, must := range noProxyAlways {
			if !slices.Contains(list, must) {
				list = append(list, must)
			}
		}
		plain = append(plain, core.EnvVar{Name: name, Value: strings.Join(list, ","), Lane: LaneInherited})
	}
	return plain, secret
}

// agentPath is the seed's PATH, below the agent's home.
func agentPath(home string) string {
	return home + "/.local/bin:" + home + "/bin:" + home + "/go/bin:/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
}

// appEnv is the seed's table (gate and Docker proxy variables excepted) and
// what loop init reads to set up the agent.
func appEnv(sub Subject, host Host, agent core.AgentUser, chown []string) []core.EnvVar {
	tz, lane := host.TimeZone, LaneInherited
	if tz == "" {
		tz, lane = "UTC", LaneApp
	}
	user := host.User
	if user == "" || plainText(user) != nil {
		user = agent.Name
	}
	app := func(n, v string) core.EnvVar { return core.EnvVar{Name: n, Value: v, Lane: LaneApp} }
	return []core.EnvVar{
		app("CHANNEL_ID", string(sub.Channel.ID)),
		app("API_URL", RelayURL),
		app("HOME", agent.Home),
		app("HOST_USER", user),
		{Name: "TZ", Value: tz, Lane: lane},
		app("PATH", agentPath(agent.Home)),
		app("CHOWN_PATHS", strings.Join(chown, ":")),
		app("LOOP_AGENT_UID", strconv.Itoa(agent.UID)),
		app("LOOP_AGENT_GID", strconv.Itoa(agent.GID)),
		app("LOOP_AGENT_USER", agent.Name),
	}
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
