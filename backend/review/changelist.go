package review

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"loop/backend/core"
)

const (
	maxFiles = 2000
	maxPath  = 4096
)

// changes are the files that git named, before they are counted.
type changes struct {
	files []core.ReviewFile
	sides []side // of each file
	at    map[string]int
	more  bool
	odd   int
}

// side says where a file is changed.
type side struct {
	staged, unstaged bool
}

func (c *changes) add(f core.ReviewFile, at side) {
	switch {
	case !utf8.ValidString(f.Path) || checkPath(f.Path) != nil:
		c.odd++
		return
	case len(c.files) == maxFiles:
		c.more = true
		return
	}
	if _, had := c.at[f.Path]; had {
		return
	}
	if c.at == nil {
		c.at = map[string]int{}
	}
	f.Alarm = core.AlarmOf(f.Path)
	c.at[f.Path] = len(c.files)
	c.files, c.sides = append(c.files, f), append(c.sides, at)
}

// uncounted leaves the lines out: each file has one change on each side that has any.
func (c *changes) uncounted() {
	one := map[bool]int{true: 1}
	for i := range c.files {
		f := &c.files[i]
		f.Added, f.Removed, f.Staged, f.Unstaged = -1, -1, one[c.sides[i].staged], one[c.sides[i].unstaged]
	}
}

// untracked are the names that a copy of the index is to have.
func (c *changes) untracked() (names []string) {
	for _, f := range c.files {
		if f.Untracked && !strings.HasSuffix(f.Path, "/") {
			names = append(names, f.Path)
		}
	}
	return names
}

// parseStatus reads “git status --porcelain=v2 -z”.
func parseStatus(text string) (c changes) {
	records, cut := fields(text)
	for i := 0; i < len(records); i++ {
		kind, rest, _ := strings.Cut(records[i], " ")
		switch kind {
		case "?":
			c.add(core.ReviewFile{Path: rest, Kind: "A", Untracked: true}, side{unstaged: true})
		case "1", "2", "u":
			columns := map[string]int{"1": 8, "2": 9, "u": 10}[kind]
			parts := strings.SplitN(rest, " ", columns)
			if kind == "2" {
				i++ // the name before
			}
			if len(parts) == columns && len(parts[0]) == 2 {
				c.add(core.ReviewFile{Path: parts[columns-1], Kind: letter(kind, parts[0])},
					side{staged: kind != "u" && parts[0][0] != '.', unstaged: kind == "u" || parts[0][1] != '.'})
			}
		}
	}
	c.more = c.more || cut
	return c
}

// letter is one for what the index and the worktree have of a file.
func letter(kind, xy string) string {
	switch {
	case kind == "u":
		return "U"
	case strings.Contains(xy, "D"):
		return "D"
	case strings.Contains(xy, "A"):
		return "A"
	case strings.Contains(xy, "T"):
		return "T"
	}
	return "M"
}

// parseNames reads “git diff --name-status -z”, and the names of files that are in no index.
func parseNames(names, others string) (c changes) {
	list, cut := fields(names)
	for i := 0; i+1 < len(list); i += 2 {
		if kind := list[i]; len(kind) == 1 && strings.Contains("MADTU", kind) {
			c.add(core.ReviewFile{Path: list[i+1], Kind: kind}, side{unstaged: true})
		}
	}
	more, cutToo := fields(others)
	for _, name := range more {
		c.add(core.ReviewFile{Path: name, Kind: "A", Untracked: true}, side{unstaged: true})
	}
	c.more = c.more || cut || cutToo
	return c
}

// count is what one side has of a file.
type count struct {
	path           string
	added, removed int // -1 where lines are not counted
	hunks          int
}

// parseCounts reads “git diff --numstat -z”, and the numbers of hunks in the same order.
func parseCounts(numstat, hunks string) (list []count) {
	records, _ := fields(numstat)
	for _, r := range records {
		parts := strings.SplitN(r, "\t", 3)
		if len(parts) == 3 {
			list = append(list, count{parts[2], number(parts[0]), number(parts[1]), 1})
		}
	}
	each := strings.Fields(hunks)
	if len(each) != len(list) {
		return list // a file of which both sides of a merge changed is in one of them twice
	}
	for i, n := range each {
		list[i].hunks = max(1, number(n)) // what has no lines is one change
	}
	return list
}

// largeOnes are files whose lines nobody counts.
func largeOnes(names string) (list []count) {
	records, _ := fields(names)
	for _, name := range records {
		list = append(list, count{name, -1, -1, 1})
	}
	return list
}

// number is -1 for what is none.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return -1
	}
	return min(n, 1<<30)
}

// bytesIn is the size of a file; -1 for what is none.
func bytesIn(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// count adds what a side has.
func (c *changes) count(list []count, staged bool) {
	for _, n := range list {
		i, ok := c.at[n.path]
		if !ok {
			continue
		}
		f := &c.files[i]
		if n.added < 0 || f.Added < 0 {
			f.Added, f.Removed = -1, -1
		} else {
			f.Added += n.added
			f.Removed += n.removed
		}
		if staged {
			f.Staged += n.hunks
		} else {
			f.Unstaged += n.hunks
		}
	}
}

// checkPath keeps a path below the folder, and out of what is git's own.
func checkPath(p string) error {
	bad := p == "" || len(p) > maxPath || strings.HasPrefix(p, "/") || strings.ContainsRune(p, 0)
	for part := range strings.SplitSeq(strings.TrimSuffix(p, "/"), "/") {
		bad = bad || part == "" || part == "." || part == ".." || strings.EqualFold(part, ".git")
	}
	if bad {
		return core.Fail(core.CodeInvalid, nil, "That is no file of this review.", "Read the changes again.")
	}
	return nil
}

// sorted has files of a name's order; git has those of its index first.
func sorted(files []core.ReviewFile) []core.ReviewFile {
	slices.SortStableFunc(files, func(a, b core.ReviewFile) int { return strings.Compare(a.Path, b.Path) })
	return files
}
