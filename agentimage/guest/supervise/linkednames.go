//go:build linux

package supervise

import (
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"loop/backend/policy"
)

// SpelledJudge is a Judge that knows the files and folders its rules name. What one of them
// is a symbolic link to is judged by both names: the agent may have found the link there, as
// in a repository, and rules are only about the names that they have.
type SpelledJudge interface {
	Spelled() []string
}

// linked is a file or folder that rules name, and where it is.
type linked struct{ named, real string }

// follow finds what rules name that is a link, on a thread that performs calls.
func (v *view) follow() {
	j, ok := v.Judge.(SpelledJudge)
	if !ok {
		return
	}
	for _, f := range j.Spelled() {
		var st unix.Stat_t
		if below(f, "/proc") || below(f, "/dev") || unix.Lstat(f, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFLNK {
			continue
		}
		for _, real := range leadsTo(f) {
			if real != f {
				v.links = append(v.links, linked{f, real})
			}
		}
	}
}

// leadsTo is by which paths a symbolic link leads to what it is, the last of them without
// links, also where nothing is there yet. Who changes a link on the way changes what the
// name means. None where the link leads nowhere.
func leadsTo(link string) (paths []string) {
	at, todo := "/", link
	for links := 0; ; {
		name, rest, _ := strings.Cut(strings.TrimLeft(todo, "/"), "/")
		todo = rest
		switch name {
		case "":
			return append(paths, at)
		case ".":
			continue
		case "..":
			at = path.Dir(at)
			continue
		}
		next := join(at, name)
		var buf [pathMax]byte
		n, err := unix.Readlink(next, buf[:])
		if err != nil {
			at = next
			continue
		}
		if links++; links > maxLinks || below(next, "/proc") {
			return nil
		}
		if next != link {
			paths = append(paths, strings.TrimRight(next+"/"+rest, "/"))
		}
		text := string(buf[:n])
		todo = text + "/" + rest
		if strings.HasPrefix(text, "/") {
			at = "/"
		}
	}
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

// Twins is false wherever a link that rules follow is at one of the two, or below.
func (v *view) Twins(one, other string) bool {
	for _, l := range v.links {
		if below(l.real, one) || below(l.real, other) || below(one, l.real) || below(other, l.real) {
			return false
		}
	}
	j, ok := v.Judge.(TwinJudge)
	return ok && j.Twins(one, other)
}

// whole judges a folder with all that is below it, where what a link leads to may be.
func (v *view) whole(dir string, judge func(path string) policy.Verdict) policy.Verdict {
	says := v.byAllNames(dir, judge)
	if i := slices.IndexFunc(v.links, func(l linked) bool { return below(l.real, dir) }); i >= 0 {
		says = stricter(says, judge(v.links[i].named))
	}
	return says
}
