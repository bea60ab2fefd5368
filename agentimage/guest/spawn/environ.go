//go:build linux

package spawn

import (
	"slices"
	"strings"

	"loop/backend/wire"
)

// internalEnv are variables of the container that are for loop init alone.
var internalEnv = []string{"CHOWN_PATHS", "LOOP_AGENT_UID", "LOOP_AGENT_GID", "LOOP_AGENT_USER",
	wire.Places, wire.GateEnabled, wire.GatePolicyFile} // the last two are set for each spawn

// BaseEnv is the container's environment as programs see it: without what is
// for loop init, with the agent's name and home.
func BaseEnv(environ []string, user, home string) []string {
	env := slices.DeleteFunc(slices.Clone(environ), func(e string) bool {
		name, _, ok := strings.Cut(e, "=")
		return !ok || name == "" || slices.Contains(internalEnv, name)
	})
	for _, own := range [][2]string{{"USER", user}, {"LOGNAME", user}, {"HOME", home}} {
		has := slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, own[0]+"=") })
		if own[1] != "" && !has {
			env = append(env, own[0]+"="+own[1])
		}
	}
	return env
}

// gateEnv tells a supervised program that it is, whatever request and container say: what
// they say switches nothing on or off.
func gateEnv(env []string, policyFile string) []string {
	env = slices.DeleteFunc(env, func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return name == wire.GateEnabled || name == wire.GatePolicyFile
	})
	return append(env, wire.GateEnabled+"=1", wire.GatePolicyFile+"="+policyFile)
}

// terminalEnv describes the terminals that programs get: the page draws them, whatever
// the container believes of its own.
var terminalEnv = []string{"TERM=xterm-256color", "COLORTERM=truecolor"}

// defaultLocale is one that every glibc since 2.35 has built in and others pass
// over: without any, shells take a typed “ä” for two characters.
const defaultLocale = "C.UTF-8"

// mergeEnv puts the request's variables over the base, each name once.
func mergeEnv(base []string, req wire.Spawn) []string {
	env := slices.Clone(base)
	if req.Stdio == wire.StdioPTY {
		env = append(env, terminalEnv...)
	}
	env = append(env, req.Env...)
	seen := make(map[string]bool, len(env))
	slices.Reverse(env) // the last one wins
	env = slices.DeleteFunc(env, func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		again := seen[name]
		seen[name] = true
		return again
	})
	slices.Reverse(env)
	if req.Stdio == wire.StdioPTY && !seen["LC_ALL"] && !seen["LC_CTYPE"] && !seen["LANG"] {
		env = append(env, "LANG="+defaultLocale)
	}
	return env
}
