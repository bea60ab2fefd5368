package bind

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	// pasteAge is how long a pasted file is kept: a conversation that names it is
	// hardly taken up again a week later.
	pasteAge = 7 * 24 * time.Hour
	// maxPastes bounds all of a channel's pasted files, which are twenty of the
	// largest kind.
	maxPastes = 200 << 20
	// maxPasteEntries bounds how much of a folder is looked at that a container
	// can fill.
	maxPasteEntries = 20_000
)

// pasted are the names that pasteName makes, with their time.
var pasted = regexp.MustCompile(`^paste-([0-9]{8}T[0-9]{6}Z)-[0-9a-f]{8}\.[a-z]{2,4}$`)

const pasteTime = "20060102T150405Z"

// prunePastes removes files that were pasted long ago, and the oldest ones until
// there is room for one of size bytes. Files of other names are the agent's. What
// cannot be removed stays: that is no reason to refuse a paste.
func prunePastes(dir *os.Root, now time.Time, size int64) {
	type file struct {
		name string
		size int64
	}
	folder, err := dir.Open(".")
	if err != nil {
		return
	}
	defer folder.Close()
	oldest := now.Add(-pasteAge).UTC().Format(pasteTime)
	var files []file
	total := size
	for seen := 0; seen < maxPasteEntries; {
		names, err := folder.Readdirnames(256)
		seen += len(names)
		for _, name := range names {
			m := pasted.FindStringSubmatch(name)
			if m == nil {
				continue
			}
			info, err := dir.Lstat(name)
			switch {
			case err != nil || !info.Mode().IsRegular():
			case m[1] < oldest && dir.Remove(name) == nil:
			default:
				files = append(files, file{name, info.Size()})
				total += info.Size()
			}
		}
		if err != nil { // io.EOF, or what has become unreadable
			break
		}
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) }) // by time
	for _, f := range files {
		if total <= maxPastes {
			return
		}
		if dir.Remove(f.name) == nil {
			total -= f.size
		}
	}
}
