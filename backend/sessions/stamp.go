package sessions

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path"

	"loop/backend/core"
)

// maxStamped bounds the entries that a stamp looks at, in each of its two folders: people
// have tens of commands and skills.
const maxStamped = 2000

// What the CLI reads at its start (seen with 2.1.332), below its own folder and below the
// project's. Its .claude.json is not among it: each CLI writes that one.
var (
	readOfState   = []string{"settings.json", "CLAUDE.md", "agents", "commands", "skills", "output-styles", "plugins"}
	readOfProject = []string{
		"CLAUDE.md", "CLAUDE.local.md", ".mcp.json", ".claude/CLAUDE.md", ".claude/settings.json", ".claude/settings.local.json",
		".claude/agents", ".claude/commands", ".claude/skills", ".claude/output-styles", ".claude/rules",
	}
)

// Stamp is another one when a file has changed that the CLI reads at its start in a channel:
// the transcript of the session that it takes up, settings, commands, skills. It looks at
// names, sizes and times, opens no file and follows no link.
func (s *Service) Stamp(ch core.Channel, workDir string, session core.SessionID) string {
	sum := sha256.New()
	if root, err := s.root(ch); err == nil {
		names := readOfState
		if validID(string(session)) {
			names = append([]string{path.Join(projectsDir, folder(workDir), string(session)+suffix)}, names...)
		}
		stampOf(sum, root, names)
	}
	if root, err := os.OpenRoot(ch.Dir); err == nil {
		stampOf(sum, root, readOfProject)
	}
	return hex.EncodeToString(sum.Sum(nil))
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
				return nil
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
