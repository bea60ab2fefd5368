package sandbox

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"loop/backend/core"
)

// maxBase bounds the readable part of a container's name, in characters, and maxSlug that
// of a scope's, whose name is OpenClaw's: 32 characters, eight hex digits, and 63 in all.
const (
	maxBase = 40
	maxSlug = 32
	maxName = 63
)

// DefaultPrefix begins the names of containers.
const DefaultPrefix = "loop-"

var (
	channelPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$`)
	namePattern    = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,54}-[0-9a-f]{6}([0-9a-f]{2})?$`)
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
	return DefaultPrefix + cmp.Or(base, "channel") + "-" + suffix
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
