package runner

import (
	"path"
	"path/filepath"
	"strings"

	"loop/backend/core"
	"loop/backend/runner/transcript"
)

// markAlarms says of the files that tools have changed which ones reach further than the project,
// whose folder the agent sees at dir. So the page can name them without a look into the folder.
func markAlarms(dir string, items []transcript.Item) {
	for _, it := range items {
		r, ok := it.Data.(core.ToolResult)
		if !ok {
			continue
		}
		for i, f := range r.Files {
			if a := core.AlarmOf(inProject(dir, f.Path)); a != nil {
				r.Files[i].Alarm = a.Word
			}
		}
	}
}

// inProject is a file's path from the project's folder; empty where it lies outside.
func inProject(dir, file string) string {
	file = path.Clean(filepath.ToSlash(file))
	if rest, ok := strings.CutPrefix(file, strings.TrimSuffix(path.Clean(filepath.ToSlash(dir)), "/")+"/"); ok {
		return rest
	}
	if path.IsAbs(file) || filepath.IsAbs(file) || file == ".." || strings.HasPrefix(file, "../") {
		return ""
	}
	return file
}
