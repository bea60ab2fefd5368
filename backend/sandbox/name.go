package sandbox

import (
	"regexp"
	"strconv"
	"strings"

	"loop/backend/core"
)

// maxBase is the seed's limit on the readable part of a container's name.
const maxBase = 40

var (
	suffixPattern  = regexp.MustCompile(`^[0-9a-f]{6}$`)
	channelPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$`)
	namePattern    = regexp.MustCompile(`^loop-[a-z0-9-]{1,40}-[0-9a-f]{6}$`)
)

// NameBase makes the readable part of a container's name: lower case, every
// run of other characters one hyphen, none at the ends, then at most 40
// characters. It is empty when nothing of s can be kept.
func NameBase(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		if (r >= 'a' && r <= 'z') || (r >= '0' && r <= '9') {
			b.WriteRune(r)
			continue
		}
		if n := b.Len(); n > 0 && b.String()[n-1] != '-' {
			b.WriteByte('-')
		}
		// Hyphens only ever follow a kept character, so none can lead; the cost
		// of reading the builder back is a slice header.
	}
	out := strings.Trim(b.String(), "-")
	if len(out) > maxBase {
		out = out[:maxBase]
	}
	return out
}

// containerName is loop-{base}-{suffix}. dir is the channel's own directory,
// empty when it uses the default one; then, or when the directory's name keeps
// no character, the channel's id is the base.
func containerName(style pathStyle, dir string, ch core.ChannelID, suffix string) string {
	base := ""
	if dir != "" {
		base = NameBase(style.base(dir))
	}
	if base == "" {
		base = NameBase(string(ch))
	}
	if base == "" {
		base = "channel"
	}
	return "loop-" + base + "-" + suffix
}

// agentName makes a name that passwd can hold out of the host's login name:
// the part after a Windows domain, lower case, [a-z0-9_-], at most 32.
func agentName(user string, uid int) string {
	if uid == 0 {
		return "root"
	}
	if i := strings.LastIndexAny(user, `\/`); i >= 0 {
		user = user[i+1:]
	}
	var b strings.Builder
	for _, r := range strings.ToLower(user) {
		switch {
		case r >= 'a' && r <= 'z', r == '_', b.Len() > 0 && (r >= '0' && r <= '9' || r == '-' || r == '.'):
			b.WriteRune(r)
		case b.Len() > 0:
			b.WriteByte('_')
		}
		if b.Len() == 32 {
			break
		}
	}
	name := b.String()
	if name == "" || name == "root" || name == SupervisorName {
		return "u" + strconv.Itoa(uid)
	}
	return name
}
