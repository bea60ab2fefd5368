package core

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// MountTable translates paths between this computer and a container. Paths are compared as
// they are written: who opens one sees to the links in it.
type MountTable struct {
	mounts  []Mount
	windows bool
}

// NewMountTable is the table of these mounts, on a computer with this GOOS.
func NewMountTable(mounts []Mount, hostOS string) MountTable {
	return MountTable{mounts, hostOS == "windows"}
}

// OnHost reports whether p is the full path of something on this computer.
func (t MountTable) OnHost(p string) bool {
	_, ok := t.hostName(p)
	return ok
}

// ErrNoFullPath is what Inside says of a path that is not OnHost.
var ErrNoFullPath = Fail(CodeInvalid, nil, "That is not the full path of a file on this computer.", "Drop the file from the file manager.")

// Inside returns the path at which the container sees a file of this computer. Of several
// it is that by the mount closest to the file. One that it does not see is a failure.
func (t MountTable) Inside(hostPath string) (string, error) {
	if strings.ContainsFunc(hostPath, unicode.IsControl) || strings.ToValidUTF8(hostPath, "") != hostPath {
		return "", Fail(CodeInvalid, nil, "The file's name contains control characters.", "Rename the file.")
	}
	file, ok := t.hostName(hostPath)
	if !ok {
		return "", ErrNoFullPath
	}
	seen, depth := "", 0
	for i, m := range t.mounts {
		source, ok := t.hostName(m.Source)
		if m.Volume || !ok || len(source) <= depth {
			continue
		}
		if rest, ok := pathBelow(source, file, t.caseless()); ok && t.owner(path.Join(m.Target, rest), exact) == i {
			seen, depth = path.Join(m.Target, rest), len(source)
		}
	}
	if seen != "" {
		return seen, nil
	}
	return "", Fail(CodeMount, nil, fmt.Sprintf("The container does not see %s.", CleanTitle(hostPath)),
		"Copy the file into the project's folder, or add its folder to “mounts” in the settings.")
}

// At returns the mount that a path in the container lies in, and the rest of the path below
// the mount's target, which is empty for the target itself. Without ok the path is the
// container's own.
func (t MountTable) At(inside string) (m Mount, rest string, ok bool) {
	i := t.owner(inside, exact)
	if i < 0 {
		return m, "", false
	}
	rest, _ = pathBelow(path.Clean(t.mounts[i].Target), path.Clean(inside), exact)
	return t.mounts[i], rest, true
}

// Twin reports whether a path would lead into another mount on a file system that takes
// different names for the same: past what that mount hides.
func (t MountTable) Twin(inside string) bool {
	return t.owner(inside, t.twins) != t.owner(inside, exact)
}

// Below returns the targets of mounts that lie in a folder of the container, at any depth.
func (t MountTable) Below(dir string) (targets []string) {
	for _, m := range t.mounts {
		if rest, ok := pathBelow(path.Clean(dir), path.Clean(m.Target), t.twins); ok && rest != "" {
			targets = append(targets, path.Clean(m.Target))
		}
	}
	return targets
}

// Outer returns the outermost mount that shows the folder in which a source lies, and the
// rest of the way. Without ok none does.
func (t MountTable) Outer(source string) (outer Mount, rest string, ok bool) {
	file, is := t.hostName(source)
	if !is {
		return outer, "", false
	}
	for _, m := range t.mounts {
		dir, is := t.hostName(m.Source)
		if m.Volume || !is || ok && len(dir) >= len(outer.Source) {
			continue
		}
		if r, in := pathBelow(dir, file, t.caseless()); in && r != "" {
			outer, rest, ok = m, r, true
		}
	}
	return outer, rest, ok
}

// owner returns the mount that a path in the container belongs to, or -1. A mount may
// lie over a part of another one.
func (t MountTable) owner(inside string, same sameName) int {
	best, depth := -1, -1
	for i, m := range t.mounts {
		if _, ok := pathBelow(path.Clean(m.Target), path.Clean(inside), same); ok && len(path.Clean(m.Target)) >= depth {
			best, depth = i, len(path.Clean(m.Target))
		}
	}
	return best
}

// hostName cleans an absolute path of this computer; with slashes on Windows.
func (t MountTable) hostName(p string) (string, bool) {
	if !t.windows {
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
	if len(p) < 3 || p[1] != ':' || p[2] != '/' || p[0]|0x20 < 'a' || p[0]|0x20 > 'z' {
		return "", false
	}
	return p[:2] + path.Clean(p[2:]), true
}

// sameName reports whether a name of a path is that of a mount. Names are compared one by one,
// because a letter's other case may have another length.
type sameName func(mount, name string) bool

func exact(mount, name string) bool { return mount == name }

// caseless is how this computer compares the names of its folders.
func (t MountTable) caseless() sameName {
	if t.windows {
		return strings.EqualFold
	}
	return exact
}

// shortName is how Windows writes a short name, which its file systems make up.
var shortName = regexp.MustCompile(`~[0-9]+(\.[^.]{0,3})?$`)

// twins reports whether any file system may take two names for the same: in upper and lower
// case, and in the forms of Unicode, in which macOS compares. Windows has short names besides,
// which say nothing of the long ones, streams behind a colon, and drops dots at the end.
func (t MountTable) twins(mount, name string) bool {
	if t.windows && (shortName.MatchString(mount) || shortName.MatchString(name)) {
		return true
	}
	return strings.EqualFold(t.plain(mount), t.plain(name))
}

func (t MountTable) plain(name string) string {
	if t.windows {
		name, _, _ = strings.Cut(name, ":")
		name = strings.TrimRight(name, ". ")
	}
	return norm.NFKD.String(name)
}

// pathBelow reports whether file is dir or in it, and returns the rest of its path.
func pathBelow(dir, file string, same sameName) (rest string, ok bool) {
	outer, inner := strings.Split(strings.TrimSuffix(dir, "/"), "/"), strings.Split(file, "/")
	if file == "/" {
		inner = []string{""}
	}
	if len(inner) < len(outer) {
		return "", false
	}
	for i, name := range outer {
		if !same(name, inner[i]) {
			return "", false
		}
	}
	return strings.Join(inner[len(outer):], "/"), true
}
