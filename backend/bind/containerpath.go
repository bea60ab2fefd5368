package bind

import (
	"fmt"
	"path"
	"strings"
	"unicode"

	"loop/backend/core"
)

// ContainerPath returns the path at which a shell in the channel's container sees a
// file of this computer, quoted if the shell needs it. Paths are compared as they are
// written; no link is followed.
func (t *Terminals) ContainerPath(channelID, hostPath string) (string, error) {
	mounts, err := t.Shared.Mounts(t.Ctx, core.ChannelID(channelID))
	if err != nil {
		return "", err
	}
	at, err := containerPath(mounts, hostPath, t.OS == "windows")
	if err != nil {
		return "", err
	}
	return core.ShellQuote(at), nil
}

var errNoFullPath = core.Fail(core.CodeInvalid, nil, "That is not the full path of a file on this computer.",
	"Drop the file from the file manager.")

// containerPath finds where a container with these mounts sees a file.
func containerPath(mounts []core.Mount, hostPath string, windows bool) (string, error) {
	if strings.ContainsFunc(hostPath, unicode.IsControl) || strings.ToValidUTF8(hostPath, "") != hostPath {
		return "", core.Fail(core.CodeInvalid, nil, "The file's name contains control characters.", "Rename the file.")
	}
	file, ok := hostName(hostPath, windows)
	if !ok {
		return "", errNoFullPath
	}
	seen, depth := "", 0 // by the mount that is closest to the file
	for i, m := range mounts {
		source, ok := hostName(m.Source, windows)
		if m.Volume || !ok || len(source) <= depth {
			continue
		}
		if rest, ok := below(source, file, windows); ok && owner(mounts, path.Join(m.Target, rest)) == i {
			seen, depth = path.Join(m.Target, rest), len(source)
		}
	}
	if seen != "" {
		return seen, nil
	}
	return "", core.Fail(core.CodeMount, nil, fmt.Sprintf("The container does not see %s.", core.CleanTitle(hostPath)),
		"Copy the file into the project's folder, or add its folder to “mounts” in the settings.")
}

// owner returns the mount that a path in the container belongs to, or -1. A mount may
// lie over a part of another one.
func owner(mounts []core.Mount, target string) int {
	best, depth := -1, -1
	for i, m := range mounts {
		if _, ok := below(path.Clean(m.Target), target, false); ok && len(path.Clean(m.Target)) >= depth {
			best, depth = i, len(path.Clean(m.Target))
		}
	}
	return best
}

// hostName cleans an absolute path of this computer; with slashes on Windows.
func hostName(p string, windows bool) (string, bool) {
	if !windows {
		return path.Clean(p), strings.HasPrefix(p, "/")
	}
	p = strings.ReplaceAll(p, `\`, "/")
	if long, ok := strings.CutPrefix(p, "//?/"); ok { // the long form of the same
		p = long
		if share, ok := strings.CutPrefix(p, "UNC/"); ok {
			p = "//" + share
		}
	}
	if share, ok := strings.CutPrefix(p, "//"); ok {
		return "/" + path.Clean("/"+share), share != ""
	}
	if len(p) < 3 || p[1] != ':' || p[2] != '/' || !isLetter(p[0]) {
		return "", false
	}
	return p[:2] + path.Clean(p[2:]), true
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// below reports whether file is dir or in it, and returns the rest of its path.
func below(dir, file string, windows bool) (rest string, ok bool) {
	fits := func(a, b string) bool { return a == b }
	if windows {
		fits = strings.EqualFold // as its file systems do
	}
	if fits(dir, file) {
		return "", true
	}
	dir = strings.TrimSuffix(dir, "/") + "/"
	if len(file) <= len(dir) || !fits(file[:len(dir)], dir) {
		return "", false
	}
	return file[len(dir):], true
}
