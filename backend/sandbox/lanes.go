package sandbox

import (
	"cmp"
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
// container's environment, where docker inspect shows them.
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
			l.note("%s was left out: use %s in the settings, so that Loop knows it for what it is.", where, field)
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
			l.note("%s goes to the agent's programs, whose output may show it, and %s. "+
				"With a name that ends in _TOKEN or _SECRET Loop would hide it there.", where, odd)
		case name == "PATH" || name == "TZ":
			l.note("%s replaces the value that Loop would set.", where)
		}
		l.set(v, e.From)
	}
	return nil
}

// SpawnEnv lists the variables of a channel's programs, sorted by name. A spec carries
// none of them: they are added to each spawn request, so that docker inspect does not
// show them, and that a container serves others once more when they change. Those that
// hold a credential, by their names (core.NamesSecret) or as an address with a login,
// are marked Secret.
func SpawnEnv(m Settings, host Host, ch core.ChannelID) ([]core.EnvVar, error) {
	l, err := resolveLanes(m, host)
	if err != nil {
		return nil, err
	}
	l.channel(m, ch)
	out := make([]core.EnvVar, 0, len(l.vars))
	for _, name := range sortedKeys(l.vars) {
		out = append(out, l.vars[name])
	}
	return out, nil
}

// channel adds the names by which programs know their channel.
func (l *lanes) channel(m Settings, ch core.ChannelID) {
	if ch == "" {
		return
	}
	l.set(core.EnvVar{Name: "CHANNEL_ID", Value: string(ch), Lane: LaneApp}, fromBuiltin)
	if m.Gate.Value {
		l.set(core.EnvVar{Name: "LOOP_CHANNEL_ID", Value: string(ch), Lane: LaneApp}, fromBuiltin)
	}
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

// appEnv lists the variables that Loop sets: for every program of the agent, and those
// that loop init reads to set up the agent.
func appEnv(host Host, agent core.AgentUser, chown []string) []core.EnvVar {
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

// resolveEnv is the container's environment, which has nothing of the settings or of a
// channel. It explains what a program has in the end: that, under what SpawnEnv adds.
func resolveEnv(m Settings, sub Subject, host Host, agent core.AgentUser, chown []string, ex *explainer) ([]core.EnvVar, error) {
	l, err := resolveLanes(m, host)
	if err != nil {
		return nil, err
	}
	ex.out.Notices = append(ex.out.Notices, l.notices...)
	l.channel(m, sub.Channel.ID)
	env := appEnv(host, agent, chown)
	if m.Gate.Value {
		env = append(env, core.EnvVar{Name: wire.GateEnabled, Value: "1", Lane: LaneApp})
		l.from[wire.GateEnabled] = m.Gate.From
	}
	slices.SortFunc(env, func(a, b core.EnvVar) int { return strings.Compare(a.Name, b.Name) })
	for _, v := range env {
		if _, over := l.vars[v.Name]; !over {
			l.vars[v.Name] = v
			l.from[v.Name] = cmp.Or(l.from[v.Name], map[string]core.SettingsOrigin{LaneApp: fromBuiltin, LaneInherited: fromHost}[v.Lane])
		}
	}
	for _, name := range sortedKeys(l.vars) {
		if l.vars[name].Secret {
			ex.set("spawn_env["+name+"]", "hidden", l.from[name])
			continue
		}
		ex.set("env["+name+"]", l.vars[name].Value, l.from[name])
	}
	return env, nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
