package policy

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// gitKey is a key that makes git run nothing, send nothing elsewhere and read no
// further file, with the values for which that is so. Everything else asks.
type gitKey struct {
	section, key string
	sub          bool // the section has a name of its own
	value        *regexp.Regexp
}

// inertGit is what GitConfigChange knows. It is made when it is first needed, as most
// programs that hold this package never need it.
type inertGit struct {
	keys        []gitKey
	remote, url *regexp.Regexp
}

var gitKeys = sync.OnceValue(func() inertGit {
	yesNo := regexp.MustCompile(`^(true|false)$`)
	anything := regexp.MustCompile(`^.*$`)
	name := regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]*$`)
	rebase := regexp.MustCompile(`^(true|false|merges)$`)
	return inertGit{
		remote: regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`), // a name, never a URL or a path
		url:    regexp.MustCompile(`^(https://|ssh://(git@)?|git@)[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5}/|[:/])[A-Za-z0-9_~][A-Za-z0-9._~/+-]*$`),
		keys: []gitKey{
			{"user", "name", false, anything},
			{"user", "email", false, anything},
			{"core", "repositoryformatversion", false, regexp.MustCompile(`^[01]$`)},
			{"core", "filemode", false, yesNo},
			{"core", "bare", false, regexp.MustCompile(`^false$`)},
			{"core", "logallrefupdates", false, yesNo},
			{"core", "ignorecase", false, yesNo},
			{"core", "precomposeunicode", false, yesNo},
			{"core", "autocrlf", false, regexp.MustCompile(`^(true|false|input)$`)},
			{"core", "eol", false, regexp.MustCompile(`^(lf|crlf|native)$`)},
			{"core", "quotepath", false, yesNo},
			{"core", "symlinks", false, yesNo},
			{"core", "sparsecheckout", false, yesNo}, // what it names are files of the repository
			{"core", "sparsecheckoutcone", false, yesNo},
			{"index", "sparse", false, yesNo},
			{"extensions", "worktreeconfig", false, yesNo}, // which is a second file, and judged as this one
			{"color", "ui", false, regexp.MustCompile(`^(true|false|auto|always|never)$`)},
			{"commit", "gpgsign", false, regexp.MustCompile(`^false$`)}, // true starts a program
			{"tag", "gpgsign", false, regexp.MustCompile(`^false$`)},
			{"diff", "algorithm", false, regexp.MustCompile(`^(default|myers|minimal|patience|histogram)$`)},
			{"fetch", "prune", false, yesNo},
			{"merge", "conflictstyle", false, regexp.MustCompile(`^(merge|diff3|zdiff3)$`)},
			{"merge", "ff", false, regexp.MustCompile(`^(true|false|only)$`)},
			{"push", "default", false, regexp.MustCompile(`^(nothing|current|upstream|simple)$`)},
			{"rebase", "autosquash", false, yesNo},
			{"rebase", "autostash", false, yesNo},
			{"rerere", "enabled", false, yesNo},
			{"rerere", "autoupdate", false, yesNo},
			{"submodule", "active", true, yesNo},
			{"init", "defaultbranch", false, name},
			{"pull", "rebase", false, rebase},
			{"pull", "ff", false, regexp.MustCompile(`^(true|false|only)$`)},
			{"push", "autosetupremote", false, yesNo},
			{"branch", "remote", true, regexp.MustCompile(`^(\.|origin)$`)}, // see GitConfigChange
			{"branch", "merge", true, regexp.MustCompile(`^refs/heads/[A-Za-z0-9][A-Za-z0-9._/+@#-]*$`)},
			{"branch", "rebase", true, rebase},
			{"remote", "fetch", true, regexp.MustCompile(
				`^\+?refs/(heads/[A-Za-z0-9._/+*-]+:refs/remotes/[A-Za-z0-9._/+*-]+|tags/\*:refs/tags/\*)$`)},
		},
	}
})

// GitConfigChange tells whether the change of a git configuration may pass without a
// person. It is so only if both texts are small plain UTF-8, are written as git writes
// them, and differ in nothing but keys that do nothing by themselves, e.g. the branch
// that a branch follows. A remote may be added if its address is an ordinary one, but
// the address of one that exists is not inert: a person's next push goes there. Nor does a
// branch come to follow another remote than origin, which may have been added before, or
// change from another one to it.
func GitConfigChange(before, after []byte) (inert bool) {
	old, err := parseGitConfig(before)
	if err != nil {
		return false
	}
	now, err := parseGitConfig(after)
	if err != nil {
		return false
	}
	known := map[string]bool{} // remotes that there were
	var follow []gitEntry
	elsewhere := map[string]bool{} // branches that follow another remote than origin
	for _, e := range old {
		if e.section == "remote" {
			known[e.sub] = true
		}
		if e.follows() {
			follow = append(follow, e)
			elsewhere[e.sub] = elsewhere[e.sub] || e.value != "origin"
		}
	}
	added := func(e gitEntry) bool {
		// A “..” is a path's way out; git's own addresses have none.
		return e.section == "remote" && e.key == "url" && gitKeys().remote.MatchString(e.sub) && !known[e.sub] &&
			gitKeys().url.MatchString(e.value) && !strings.Contains(e.value, "..")
	}
	old = slices.DeleteFunc(old, func(e gitEntry) bool { return e.inert() || e.follows() })
	now = slices.DeleteFunc(now, func(e gitEntry) bool {
		if e.follows() && elsewhere[e.sub] {
			return slices.Contains(follow, e)
		}
		return e.inert() || added(e) || slices.Contains(follow, e)
	})
	return slices.Equal(old, now)
}

// follows reports whether it says to which remote a branch is pushed. That may go, with
// the branch.
func (e gitEntry) follows() bool { return e.section == "branch" && e.key == "remote" && e.sub != "" }

func (e gitEntry) inert() bool {
	for _, k := range gitKeys().keys {
		if e.section == k.section && e.key == k.key && k.sub == (e.sub != "") {
			return k.value.MatchString(e.value) && !strings.Contains(e.value, "..")
		}
	}
	return false
}
