package transcript

import (
	"bytes"
	"fmt"
	"strings"

	"loop/backend/core"
)

// filesOf reads which file a tool says it wrote. It is what the tool reports,
// not proof: a command may have changed more.
func filesOf(v []byte) []core.FileChange {
	if len(v) == 0 || v[0] != '{' || !bytes.Contains(v, []byte(`"filePath"`)) {
		return nil
	}
	var w wireFile
	if decode(v, &w) != nil || w.FilePath == "" {
		return nil
	}
	c := core.FileChange{Path: clipMarked(w.FilePath, 4096), Kind: "edit"}
	var patch strings.Builder
	for _, h := range w.Patch {
		if patch.Len() < maxPatch {
			fmt.Fprintf(&patch, "@@ -%d,%d +%d,%d @@\n", h.OldStart, h.OldLines, h.NewStart, h.NewLines)
		}
		for _, l := range h.Lines {
			switch {
			case strings.HasPrefix(l, "+"):
				c.Added++
			case strings.HasPrefix(l, "-"):
				c.Removed++
			}
			if patch.Len() < maxPatch {
				patch.WriteString(l)
				patch.WriteByte('\n')
			}
		}
	}
	c.Patch = clipMarked(patch.String(), maxPatch)
	switch {
	case w.Type == "create":
		c.Kind = "create"
		if w.Content != nil && len(w.Patch) == 0 {
			for range strings.Lines(*w.Content) {
				c.Added++
			}
		}
	case w.Type == "update", len(w.Patch) > 0:
	default:
		return nil // a file that was read
	}
	return []core.FileChange{c}
}
