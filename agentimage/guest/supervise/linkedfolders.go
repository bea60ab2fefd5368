//go:build linux

package supervise

import (
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"loop/backend/policy"
)

// FolderJudge is a Judge that knows the folders its rules name. What such a folder is a
// symbolic link to is judged by both names: the agent may have found the link there, as in
// a repository, and rules are only about the names that they have.
type FolderJudge interface {
	Folders() []string
}

// linked is a folder that rules name, and where it is.
type linked struct{ named, real string }

// follow finds the folders of rules that are links, on a thread that performs calls.
func (v *view) follow() {
	j, ok := v.Judge.(FolderJudge)
	if !ok {
		return
	}
	for _, f := range j.Folders() {
		var st unix.Stat_t
		if below(f, "/proc") || below(f, "/dev") || unix.Lstat(f, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFLNK {
			continue
		}
		if real := leadsTo(f); real != "" && real != f {
			v.links = append(v.links, linked{f, real})
		}
	}
}

// leadsTo is where a symbolic link leads, also where nothing is there yet; empty where it
// leads nowhere.
func leadsTo(link string) string {
	var buf [pathMax]byte
	fd, err := unix.Open(link, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err == nil {
		defer func() { _ = unix.Close(fd) }()
		n, err := unix.Readlink(descriptorPath(fd), buf[:])
		if err != nil {
			return ""
		}
		return string(buf[:n])
	}
	n, lerr := unix.Readlink(link, buf[:])
	if err != unix.ENOENT || lerr != nil {
		return ""
	}
	text := string(buf[:n])
	if !strings.HasPrefix(text, "/") {
		text = path.Join(path.Dir(link), text)
	}
	return path.Clean(text)
}

func below(p, dir string) bool {
	rest, ok := strings.CutPrefix(p, dir)
	return ok && (rest == "" || rest[0] == '/' || dir == "/")
}

// byAllNames judges a path by its name and by those that links of rules give it.
func (v *view) byAllNames(p string, judge func(path string) policy.Verdict) policy.Verdict {
	says := judge(p)
	for _, l := range v.links {
		if below(p, l.real) {
			says = stricter(says, judge(path.Join(l.named, strings.TrimPrefix(p, l.real))))
		}
	}
	return says
}

func (v *view) File(op policy.Operation, p string) policy.Verdict {
	if len(v.links) == 0 {
		return v.Judge.File(op, p)
	}
	return v.byAllNames(p, func(p string) policy.Verdict { return v.Judge.File(op, p) })
}

func (v *view) Folder(p string) policy.Verdict { return v.byAllNames(p, v.Judge.Folder) }

func (v *view) Under(op policy.Operation, dir string) policy.Verdict {
	return v.whole(dir, func(p string) policy.Verdict { return v.Judge.Under(op, p) })
}

func (v *view) Leads(op policy.Operation, link string) policy.Verdict {
	return v.whole(link, func(p string) policy.Verdict { return v.Judge.Leads(op, p) })
}

// whole judges a folder with all that is below it, where what a link leads to may be.
func (v *view) whole(dir string, judge func(path string) policy.Verdict) policy.Verdict {
	says := v.byAllNames(dir, judge)
	if i := slices.IndexFunc(v.links, func(l linked) bool { return below(l.real, dir) }); i >= 0 {
		says = stricter(says, judge(v.links[i].named))
	}
	return says
}
