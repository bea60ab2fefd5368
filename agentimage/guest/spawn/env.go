//go:build linux

package spawn

import (
	"slices"
	"strings"

	"loop/backend/wire"
)

// internalEnv are variables of the container that are for loop init alone.
var internalEnv = []string{"CHOWN_PATHS", "LOOP_AGENT_UID", "LOOP_AGENT_GID", "LOOP_AGENT_USER"}

// BaseEnv is the container's environment as programs see it: without what is
// for loop init, with the agent's name and home.
func BaseEnv(environ []string, user, home string) []string {
	env := slices.DeleteFunc(slices.Clone(environ), func(e string) bool {
		name, _, ok := strings.Cut(e, "=")
		return !ok || name == "" || slices.Contains(internalEnv, name)
	})
	if user != "" {
		env = setDefault(setDefault(env, "USER", user), "LOGNAME", user)
	}
	if home != "" {
		env = setDefault(env, "HOME", home)
	}
	return env
}

func setDefault(env []string, name, value string) []string {
	if hasEnv(env, name) {
		return env
	}
	return append(env, name+"="+value)
}

func hasEnv(env []string, name string) bool {
	return slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
}

// terminalEnv says what the terminals are that programs get from here: the page
// draws them, whatever the container believes of its own.
var terminalEnv = []string{"TERM=xterm-256color", "COLORTERM=truecolor"}

// defaultLocale is one that every glibc since 2.35 has built in and others pass
// over: without any, shells take a typed “ä” for two characters.
const defaultLocale = "C.UTF-8"

// mergeEnv puts the request's variables over the base, each name once.
func mergeEnv(base []string, req wire.Spawn) []string {
	asked := req.Env
	if req.Stdio == wire.StdioPTY {
		asked = append(slices.Clone(terminalEnv), asked...)
	}
	own := make(map[string]int, len(asked))
	env := make([]string, 0, len(base)+len(asked)+1)
	for _, e := range asked {
		name, _, _ := strings.Cut(e, "=")
		if i, ok := own[name]; ok {
			env[i] = e // the last one wins
			continue
		}
		own[name] = len(env)
		env = append(env, e)
	}
	for _, e := range base {
		name, _, _ := strings.Cut(e, "=")
		if _, ok := own[name]; !ok {
			env = append(env, e)
		}
	}
	if req.Stdio == wire.StdioPTY && !hasEnv(env, "LC_ALL") && !hasEnv(env, "LC_CTYPE") {
		env = setDefault(env, "LANG", defaultLocale)
	}
	return env
}
