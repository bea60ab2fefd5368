package sandbox

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"

	"loop/backend/core"
)

// maxBase bounds the readable part of a container's name, in characters.
const maxBase = 40

var (
	channelPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$`)
	namePattern    = regexp.MustCompile(`^loop-[a-z0-9-]{1,40}-[0-9a-f]{6}$`)
	notInName      = regexp.MustCompile(`[^a-z0-9]+`)
	notInUserName  = regexp.MustCompile(`[^a-z0-9_.-]`)
)

// NameBase makes the readable part of a container's name: lower case, every
// run of other characters one hyphen, none at the ends, then at most 40
// characters. It is empty when nothing of s can be kept.
func NameBase(s string) string {
	out := strings.Trim(notInName.ReplaceAllString(strings.ToLower(s), "-"), "-")
	return out[:min(len(out), maxBase)]
}

// containerName is loop-{base}-{suffix}. dir is the channel's own directory,
// empty when it uses the default one; then, or when the directory's name keeps
// no character, the channel's id is the base.
func containerName(style pathStyle, dir string, ch core.ChannelID, suffix string) string {
	base := NameBase(string(ch))
	if dir != "" {
		base = cmp.Or(NameBase(style.base(dir)), base)
	}
	return "loop-" + cmp.Or(base, "channel") + "-" + suffix
}

// scopeOf names those who share a container; empty is nobody. Where each run has its own,
// the terminals of a channel share one all the same.
func scopeOf(m Settings, sub Subject) string {
	switch {
	case !sub.Shared || sub.Plan:
		return ""
	case m.Scope.Value == ScopeSession:
		return ChannelScopes(sub.Channel.ID)[0]
	case sub.Type == core.TypeShell:
		return ChannelScopes(sub.Channel.ID)[1]
	}
	return ""
}

// ChannelScopes are the scopes that a channel may have: that of its runs and terminals,
// and that of its terminals where each run has a container of its own.
func ChannelScopes(ch core.ChannelID) []string {
	return []string{ScopeSession + ":" + string(ch), string(core.TypeShell) + ":" + string(ch)}
}

// scopeSuffix ends the name of a scope's container: the same each time, and another for
// each install and scope.
func scopeSuffix(install, scope string) string {
	sum := sha256.Sum256([]byte(install + "\x00" + scope))
	return hex.EncodeToString(sum[:3])
}

// agentName makes a name that passwd can hold out of the host's login name:
// the part after a Windows domain, lower case, [a-z0-9_-], at most 32.
func agentName(user string, uid int) string {
	if uid == 0 {
		return "root"
	}
	user = strings.ToLower(user[strings.LastIndexAny(user, `\/`)+1:])
	user = strings.TrimLeftFunc(user, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') })
	name := notInUserName.ReplaceAllString(user, "_")
	name = name[:min(len(name), 32)]
	if name == "" || name == "root" || name == SupervisorName {
		return "u" + strconv.Itoa(uid)
	}
	return name
}
