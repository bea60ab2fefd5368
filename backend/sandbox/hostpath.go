package sandbox

import (
	"path"
	"strings"
)

// pathStyle does path arithmetic for a host, whatever system this runs on.
type pathStyle struct {
	windows bool
	fold    bool // names that differ only in case are the same file
}

func isDrive(p string) bool {
	return len(p) >= 2 && p[1] == ':' && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z')
}

func (s pathStyle) abs(p string) bool {
	if s.windows {
		return len(p) >= 3 && isDrive(p) && (p[2] == '\\' || p[2] == '/')
	}
	return strings.HasPrefix(p, "/")
}

// clean normalises separators, dots and the drive's case.
func (s pathStyle) clean(p string) string {
	if !s.windows {
		return path.Clean(p)
	}
	p = strings.ReplaceAll(p, `\`, "/")
	drive := ""
	if isDrive(p) {
		drive, p = strings.ToUpper(p[:1])+":", p[2:]
	}
	p = path.Clean(p)
	return drive + strings.ReplaceAll(p, "/", `\`)
}

func (s pathStyle) join(elem ...string) string {
	if !s.windows {
		return path.Join(elem...)
	}
	return s.clean(strings.Join(elem, `\`))
}

func (s pathStyle) base(p string) string {
	if s.windows {
		p = strings.ReplaceAll(p, `\`, "/")
		if isDrive(p) {
			p = p[2:]
		}
	}
	return path.Base(p)
}

func (s pathStyle) same(a, b string) bool {
	if s.fold {
		return strings.EqualFold(a, b)
	}
	return a == b
}

// rel gives p relative to root, slash separated, and whether p is root or lies
// below it. Both must be clean.
func (s pathStyle) rel(root, p string) (string, bool) {
	sep := "/"
	if s.windows {
		sep = `\`
	}
	if s.same(root, p) {
		return "", true
	}
	prefix := strings.TrimSuffix(root, sep) + sep
	// Folding may change the length of a name in bytes only outside ASCII; a
	// prefix that does not line up is then treated as foreign by the compare.
	if len(p) <= len(prefix) || !s.same(p[:len(prefix)], prefix) {
		return "", false
	}
	return strings.ReplaceAll(p[len(prefix):], sep, "/"), true
}

// within reports whether p is root or lies below it.
func (s pathStyle) within(root, p string) bool { _, ok := s.rel(root, p); return ok }

// isRoot reports whether p is the top of a file system tree.
func (s pathStyle) isRoot(p string) bool {
	if s.windows {
		return len(p) <= 3 && isDrive(p)
	}
	return p == "/"
}

// ContainerPath maps an absolute host path to the path that mirrors it inside
// a container: itself, or /c/x for C:\x on a Windows host.
func ContainerPath(hostOS, p string) string {
	s := pathStyle{windows: hostOS == "windows"}
	if !s.windows || !isDrive(p) {
		return path.Clean(p)
	}
	rest := strings.ReplaceAll(p[2:], `\`, "/")
	// Cleaned below the drive: a dot-dot must not climb out of it.
	return path.Join("/"+strings.ToLower(p[:1]), path.Clean("/"+rest))
}

// inside reports whether the container path p is root or lies below it.
func inside(root, p string) bool {
	return p == root || root == "/" || strings.HasPrefix(p, root+"/")
}
