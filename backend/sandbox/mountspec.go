package sandbox

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MountText is a parsed host:container[:mode] string.
type MountText struct {
	Source   string // host path as an absolute clean path, or a volume's name
	Target   string // absolute clean container path
	Volume   bool
	ReadOnly bool
	NoCopy   bool
	Relabel  string // "z" or "Z" when asked for
}

// maxMountText bounds one entry: two paths of Linux' PATH_MAX and a mode.
const maxMountText = 2*4096 + 64

var volumeName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]+$`)

// ParseMount reads one mount string. base is the directory that a relative
// host path (./x) starts from. Errors name what is wrong in a few words; the
// caller says which entry it was.
func ParseMount(text string, host Host, base string) (MountText, error) {
	var m MountText
	if len(text) > maxMountText {
		return m, fmt.Errorf("it is longer than %d bytes", maxMountText)
	}
	if err := plainText(text); err != nil {
		return m, err
	}
	s := host.style()
	parts := splitMount(text, s.windows)
	switch {
	case len(parts) < 2:
		return m, errors.New("the container path is missing (host:container[:mode])")
	case len(parts) > 3:
		return m, errors.New("it has too many colons (host:container[:mode])")
	case parts[0] == "":
		return m, errors.New("the host path is empty")
	case parts[1] == "":
		return m, errors.New("the container path is empty")
	}

	var err error
	m.Source = parts[0]
	// The seed's rule: a volume's name has no slash, and no ~ or . in front.
	m.Volume = !strings.ContainsAny(m.Source, `/\`) && m.Source[0] != '~' && m.Source[0] != '.'
	if !m.Volume {
		m.Source, err = expandHost(m.Source, host, base)
	} else if !volumeName.MatchString(m.Source) {
		err = fmt.Errorf("%q is neither a path nor a valid volume name", m.Source)
	}
	if err == nil {
		m.Target, err = expandTarget(parts[1], host)
	}
	if err == nil && len(parts) == 3 {
		err = m.modes(parts[2])
	}
	return m, err
}

// splitMount splits at colons, except the one of a drive letter (C:\x) when
// the host is Windows.
func splitMount(text string, windows bool) []string {
	var parts []string
	start := 0
	for i := 0; i < len(text); i++ {
		if text[i] != ':' {
			continue
		}
		if windows && i == start+1 && isDrive(text[start:i+1]) && i+1 < len(text) && (text[i+1] == '\\' || text[i+1] == '/') && len(parts) < 2 {
			// C:/x:/y is a drive; c:/y alone could be a one-letter volume, which
			// no engine accepts.
			continue
		}
		parts = append(parts, text[start:i])
		start = i + 1
	}
	return append(parts, text[start:])
}

func (m *MountText) modes(text string) error {
	writable := false
	for mode := range strings.SplitSeq(text, ",") {
		switch mode {
		case "ro":
			m.ReadOnly = true
		case "rw":
			writable = true
		case "cached", "delegated", "consistent": // Docker Desktop's old consistency hints, without effect
		case "z", "Z":
			m.Relabel = mode
		case "nocopy":
			m.NoCopy = true
		case "shared", "rshared", "slave", "rslave", "private", "rprivate":
			return fmt.Errorf("the mode %q is not allowed: a mount made inside must never reach the host", mode)
		default:
			return fmt.Errorf("the mode %q is not known (ro, rw, z, Z, nocopy)", mode)
		}
	}
	switch {
	case m.ReadOnly && writable:
		return errors.New("it is both ro and rw")
	case m.Volume && m.Relabel != "":
		return errors.New("z and Z are for host paths")
	case !m.Volume && m.NoCopy:
		return errors.New("nocopy is for named volumes")
	}
	return nil
}

// expandHost makes an absolute host path of what a person wrote.
func expandHost(p string, host Host, base string) (string, error) {
	s := host.style()
	switch {
	case p == "":
		return "", errors.New("the path is empty")
	case p == "~":
		return s.clean(host.Home), nil
	case strings.HasPrefix(p, "~/"), s.windows && strings.HasPrefix(p, `~\`):
		return s.join(host.Home, p[2:]), nil
	case p[0] == '~':
		return "", fmt.Errorf("%q names another user's home, which Loop does not look up", p)
	case s.abs(p):
		return s.clean(p), nil
	case p[0] == '.':
		if base == "" {
			return "", fmt.Errorf("%q is relative and there is no folder to start from", p)
		}
		return s.join(base, p), nil
	}
	return "", fmt.Errorf("%q is not an absolute path (start it with /, ~ or .)", p)
}

// expandTarget makes an absolute container path; ~ is the agent's home inside.
func expandTarget(p string, host Host) (string, error) {
	home := ContainerPath(host.OS, host.Home)
	s := host.style()
	switch {
	case p == "~":
		return home, nil
	case strings.HasPrefix(p, "~/"):
		p = home + "/" + p[2:]
	case p[0] == '~':
		return "", fmt.Errorf("%q names another user's home, which does not exist in the container", p)
	case s.windows && s.abs(p):
		p = ContainerPath(host.OS, p)
	}
	if p[0] != '/' {
		return "", fmt.Errorf("the container path %q is not absolute", p)
	}
	// A dot-dot in a target is never needed, and hides what it lands on.
	for part := range strings.SplitSeq(p, "/") {
		if part == ".." {
			return "", fmt.Errorf("the container path %q contains “..”", p)
		}
	}
	return claudePath(path.Clean(p), home), nil
}

// claudePath is where the container has what the settings name below ~/.claude.
func claudePath(p, home string) string {
	if rel, ok := strings.CutPrefix(p, home+"/.claude/"); ok {
		return ClaudeDir + "/" + rel
	}
	return p
}

// plainText refuses what no path in a spec may hold: bytes that JSON would
// change on the way to the engine, and characters that end a line.
func plainText(s string) error {
	if !utf8.ValidString(s) {
		return errors.New("it is not valid UTF-8")
	}
	for _, r := range s {
		switch {
		case r == 0:
			return errors.New("it contains a NUL byte")
		case r == '\n' || r == '\r':
			return errors.New("it contains a line break")
		case unicode.IsControl(r):
			return fmt.Errorf("it contains a control character (U+%04X)", r)
		}
	}
	return nil
}
