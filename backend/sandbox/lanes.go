package sandbox

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"loop/backend/core"
	"loop/backend/wire"
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
var appOnly = []string{"CHANNEL_ID", "API_URL", "HOME", "HOST_USER", "CHOWN_PATHS", "CLAUDE_CONFIG_DIR"}

// modelNames have fields of their own in the settings, and must never be in a
// container's environment, where every process and docker inspect reads them.
var modelNames = map[string]string{
	"ANTHROPIC_API_KEY":       "anthropic_api_key",
	"ANTHROPIC_AUTH_TOKEN":    "anthropic_api_key",
	"CLAUDE_CODE_OAUTH_TOKEN": "claude_code_oauth_token",
	"ANTHROPIC_BASE_URL":      "anthropic_base_url",
}

// lanes is the environment that is not the app's. A credential in it is marked
// Secret: it travels with the spawn request and is in no spec.
type lanes struct {
	vars    map[string]core.EnvVar
	from    map[string]core.SettingsOrigin
	notices []string
}

func (l *lanes) set(v core.EnvVar, from core.SettingsOrigin) {
	l.vars[v.Name], l.from[v.Name] = v, from
}

func (l *lanes) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(l.notices, text) {
		l.notices = append(l.notices, text)
	}
}

// resolveLanes puts the lanes over each other: inherited, then proxies, then
// what the settings say.
func resolveLanes(m Settings, host Host) (lanes, error) {
	l := lanes{vars: map[string]core.EnvVar{}, from: map[string]core.SettingsOrigin{}}
	l.inherit(m, host)
	if m.Network.Value != "none" {
		l.proxies(m, host)
	}
	return l, l.operator(m, host)
}

// inherits says whether a pattern of Settings.Inherit takes a name.
func inherits(pattern, name string) bool {
	if start, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, start)
	}
	return pattern == name
}

// inherit takes variables of this computer that the settings name, filtered by
// name and by value.
func (l *lanes) inherit(m Settings, host Host) {
	for _, name := range sortedKeys(host.Env) {
		i := slices.IndexFunc(m.Inherit, func(e Setting[string]) bool { return inherits(e.Value, name) })
		if i < 0 {
			continue
		}
		value, from := host.Env[name], m.Inherit[i].From
		reason := notInherited(name)
		switch {
		case reason != "":
		case strings.ContainsRune(value, 0) || plainText(strings.NewReplacer("\n", "", "\t", "", "\r", "").Replace(value)) != nil:
			reason = "its value is not plain text"
		case len(value) > maxEnvValue:
			reason = "its value is too long"
		case core.HoldsLogin(value):
			reason = "its value holds a login"
		}
		if reason != "" {
			l.note("This computer's %s was left out: %s.", name, reason)
			continue
		}
		if odd := oddValue(value); odd != "" {
			l.note("This computer's %s goes into containers, though %s.", name, odd)
		}
		l.set(core.EnvVar{Name: name, Value: value, Lane: LaneInherited}, from)
	}
}

// operator adds the configured variables.
func (l *lanes) operator(m Settings, host Host) error {
	for _, name := range sortedKeys(m.Envs) {
		e := m.Envs[name]
		where := fmt.Sprintf("envs[%q] (%s)", name, e.From)
		if !envName.MatchString(name) {
			return core.Fail(core.CodeInvalid, nil, "The name of "+where+" is not valid for an environment variable.",
				"Use letters, digits and underscores, and do not begin with a digit.")
		}
		if slices.Contains(appOnly, name) || strings.HasPrefix(name, "LOOP_") {
			l.note("%s was left out: Loop sets this variable itself.", where)
			continue
		}
		if field, is := modelNames[name]; is {
			l.note("%s was left out: use %s in the settings, so that it stays out of the container's environment.", where, field)
			continue
		}
		value := envValue(e.Value, host)
		if strings.ContainsRune(value, 0) {
			return core.Fail(core.CodeInvalid, nil, "The value of "+where+" contains a NUL byte.", "Remove it.")
		}
		if len(value) > maxEnvValue {
			return core.Fail(core.CodeInvalid, nil,
				fmt.Sprintf("The value of %s is %d bytes long; the limit is %d.", where, len(value), maxEnvValue),
				"Put it into a file in the workspace and name the file instead.")
		}
		v := core.EnvVar{Name: name, Value: value, Lane: LaneOperator, Secret: core.NamesSecret(name) || core.HoldsLogin(value)}
		switch odd := oddValue(value); {
		case v.Secret && core.NamesSecret(name):
			l.note("envs[%q] is handed to the agent's process alone, because its name is a credential's.", name)
		case v.Secret:
			l.note("envs[%q] is handed to the agent's process alone, because its value holds a login.", name)
		case odd != "":
			l.note("%s is in the container's environment, where docker inspect shows it, and %s. "+
				"With a name that ends in _TOKEN or _SECRET it would not be.", where, odd)
		case name == "PATH" || name == "TZ":
			l.note("%s replaces the value that Loop would set.", where)
		}
		l.set(v, e.From)
	}
	return nil
}

// SpawnEnv lists the variables that hold a credential, by their names
// (core.NamesSecret) or as an address with a login. A spec never carries them: they
// are added to the spawn request, so that docker inspect does not show them.
func SpawnEnv(m Settings, host Host) ([]core.EnvVar, error) {
	l, err := resolveLanes(m, host)
	if err != nil {
		return nil, err
	}
	var out []core.EnvVar
	for _, name := range sortedKeys(l.vars) {
		if v := l.vars[name]; v.Secret {
			out = append(out, v)
		}
	}
	return out, nil
}

// envValue expands a leading ~ and writes other JSON types as fmt's %v does, except
// that a whole number never becomes 1e+06.
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

// appEnv lists the variables that Loop sets: for programs of the agent, and those
// that loop init reads to set up the agent.
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
		app("CLAUDE_CONFIG_DIR", ClaudeDir),
		{Name: "TZ", Value: tz, Lane: lane},
		app("PATH", agent.Home+"/.local/bin:"+agent.Home+"/bin:"+agent.Home+"/go/bin:"+ // before those of the system
			"/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
		app("CHOWN_PATHS", strings.Join(chown, ":")),
		app("LOOP_AGENT_UID", strconv.Itoa(agent.UID)),
		app("LOOP_AGENT_GID", strconv.Itoa(agent.GID)),
		app("LOOP_AGENT_USER", agent.Name),
	}
}

// resolveEnv is the container's environment: the app's variables under those of
// the lanes, which cannot name what only Loop may set.
func resolveEnv(m Settings, sub Subject, host Host, agent core.AgentUser, chown []string, ex *explainer) ([]core.EnvVar, error) {
	l, err := resolveLanes(m, host)
	if err != nil {
		return nil, err
	}
	ex.out.Notices = append(ex.out.Notices, l.notices...)
	if m.Gate.Value {
		l.set(core.EnvVar{Name: wire.GateEnabled, Value: "1", Lane: LaneApp}, m.Gate.From)
		l.set(core.EnvVar{Name: "LOOP_CHANNEL_ID", Value: string(sub.Channel.ID), Lane: LaneApp}, fromBuiltin)
	}
	for _, v := range appEnv(sub, host, agent, chown) {
		if _, over := l.vars[v.Name]; !over {
			l.set(v, map[string]core.SettingsOrigin{LaneApp: fromBuiltin, LaneInherited: fromHost}[v.Lane])
		}
	}
	env := make([]core.EnvVar, 0, len(l.vars))
	for _, name := range sortedKeys(l.vars) {
		v := l.vars[name]
		if v.Secret {
			ex.set("spawn_env["+name+"]", "hidden", l.from[name])
			continue
		}
		env = append(env, v)
		ex.set("env["+name+"]", v.Value, l.from[name])
	}
	return env, nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
