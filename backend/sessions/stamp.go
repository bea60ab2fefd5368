package sessions

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"

	"loop/backend/core"
)

// maxStamped bounds the entries that a stamp looks at, in each of its two folders: people
// have tens of commands and skills.
const maxStamped = 2000

// What the CLI reads at its start (seen with 2.1.332), below its own folder and below the
// project's. Its .claude.json and the rest of plugins are not among it: each CLI writes there.
var (
	readOfState   = []string{"CLAUDE.md", "agents", "commands", "skills", "output-styles", "plugins/installed_plugins.json"}
	readOfProject = []string{
		"CLAUDE.md", "CLAUDE.local.md", ".mcp.json", ".claude/CLAUDE.md", ".claude/settings.json", ".claude/settings.local.json",
		".claude/agents", ".claude/commands", ".claude/skills", ".claude/output-styles", ".claude/rules",
	}
)

// Stamp is another one when a file has changed that the CLI reads at its start in a channel:
// the transcript of the session that it takes up, settings, commands, skills. It looks at
// names, sizes and times, and follows no link.
func (s *Service) Stamp(ch core.Channel, workDir string, session core.SessionID) string {
	sum := sha256.New()
	if root, err := s.root(ch); err == nil {
		if validID(string(session)) { // what is said is added at its end; a CLI that takes it up sets its time
			if info, err := root.Lstat(path.Join(projectsDir, folder(workDir), string(session)+suffix)); err == nil {
				fmt.Fprintf(sum, "%s %d\n", session, info.Size())
			}
		}
		if info := settingsOf(root); info != nil {
			add(sum, stateSettings, info)
		}
		stampOf(sum, root, readOfState)
	}
	if root, err := os.OpenRoot(ch.Dir); err == nil {
		stampOf(sum, root, readOfProject)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

const (
	stateSettings = "settings.json"
	maxSettings   = 64 << 10 // bytes that are read of it
	// skipNoted is what a CLI that skips permissions notes in the settings at its start.
	skipNoted = "skipDangerousModePermissionPrompt"
)

// settingsOf is the settings file of a state; nil where there is none, or nothing in it but
// the CLI's own note.
func settingsOf(root *os.Root) fs.FileInfo {
	f, info, err := openFile(root, stateSettings)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSettings))
	if err != nil {
		return info
	}
	var set map[string]json.RawMessage
	if json.Unmarshal(text, &set) != nil {
		return info
	}
	if _, noted := set[skipNoted]; noted && len(set) == 1 {
		return nil
	}
	return info
}

// stampOf adds what lies below some names of a folder, which it closes.
func stampOf(sum hash.Hash, root *os.Root, names []string) {
	defer root.Close()
	left := maxStamped
	for _, name := range names {
		info, err := root.Lstat(name)
		if err != nil {
			continue
		}
		add(sum, name, info)
		if !info.IsDir() {
			continue
		}
		_ = fs.WalkDir(root.FS(), name, func(p string, d fs.DirEntry, err error) error {
			if left--; left < 0 {
				return fs.SkipAll
			}
			if err != nil { // it is gone by now, or nobody may look
				return nil //nolint:nilerr // a stamp of what there is
			}
			if info, err := d.Info(); err == nil {
				add(sum, p, info)
			}
			return nil
		})
	}
}

func add(sum hash.Hash, name string, info fs.FileInfo) {
	fmt.Fprintf(sum, "%q %v %d %d\n", name, info.Mode(), info.Size(), info.ModTime().UnixNano())
}
