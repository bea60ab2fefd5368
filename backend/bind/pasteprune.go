package bind

import (
	"os"
	"regexp"
	"slices"
	"time"
)

const (
	// pasteAge is how long a pasted file is kept: a conversation that names it is
	// hardly taken up again a week later.
	pasteAge = 7 * 24 * time.Hour
	// maxPastes bounds all of a channel's pasted files: twenty of the largest.
	maxPastes = 200 << 20
	// maxPasteEntries bounds the names read of the folder, which a container can fill.
	maxPasteEntries = 20_000
)

// pasted are the names that pasteName makes, with their time.
var pasted = regexp.MustCompile(`^paste-([0-9]{8}T[0-9]{6}Z)-[0-9a-f]{8}\.[a-z]{2,4}$`)

const pasteTime = "20060102T150405Z"

// prunePastes removes files that were pasted long ago, and the oldest ones until
// there is room for one of size bytes. Files of other names are the agent's. A file
// that cannot be removed stays: that is no reason to refuse a paste.
func prunePastes(dir *os.Root, now time.Time, size int64) {
	folder, err := dir.Open(".")
	if err != nil {
		return
	}
	defer folder.Close()
	names, _ := folder.Readdirnames(maxPasteEntries) // as many as can be read
	slices.Sort(names)                               // by time
	oldest := now.Add(-pasteAge).UTC().Format(pasteTime)
	for _, name := range slices.Backward(names) {
		m := pasted.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		if info, err := dir.Lstat(name); err == nil && info.Mode().IsRegular() {
			if size += info.Size(); m[1] < oldest || size > maxPastes {
				_ = dir.Remove(name)
			}
		}
	}
}
