package rewind

import (
	"os"
	"regexp"
	"strings"

	"loop/backend/atomicfile"
)

var (
	fullHash = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)
	refName  = regexp.MustCompile(`^refs/heads/[A-Za-z0-9][A-Za-z0-9._/-]{0,200}$`)
)

// maxRefs bounds the file in which git keeps many branches together.
const maxRefs = 1 << 20

// head is the beginning of the commit that is checked out, by git's own files, which an agent
// may have written; empty where it is not said in a few words.
func head(root *os.Root) string {
	text, err := atomicfile.ReadIn(root, ".git/HEAD", 1024)
	if err != nil {
		return ""
	}
	name := strings.TrimSpace(string(text))
	if ref, ok := strings.CutPrefix(name, "ref: "); ok && refName.MatchString(ref) && !strings.Contains(ref, "..") {
		name = ""
		if text, err := atomicfile.ReadIn(root, ".git/"+ref, 1024); err == nil {
			name = strings.TrimSpace(string(text))
		} else if packed, err := atomicfile.ReadIn(root, ".git/packed-refs", maxRefs); err == nil {
			for line := range strings.Lines(string(packed)) {
				if hash, at, ok := strings.Cut(strings.TrimSpace(line), " "); ok && at == ref {
					name = hash
				}
			}
		}
	}
	if !fullHash.MatchString(name) {
		return ""
	}
	return name[:7]
}
