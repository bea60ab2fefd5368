package claudesetup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"loop/backend/atomicfile"
	"loop/backend/core"
)

const (
	// maxFile, maxFiles and maxBytes bound what is copied. People's own files are far smaller;
	// beyond it lies what a tool has put there.
	maxFile  = 1 << 20
	maxFiles = 4000
	maxBytes = 64 << 20
	// maxDepth ends links that lead in circles.
	maxDepth = 16
	// maxLeft bounds the list of what does not come.
	maxLeft = 200
)

// folders are those whose content comes with the grant.
var folders = []string{"agents", "commands", "output-styles", "rules", "skills"}

// neverNames are names of files that may hold credentials, wherever they are.
var neverNames = []string{
	".env", ".env.*", ".netrc", ".npmrc", "*.key", "*.pem", "*.p12", "id_rsa*", "id_ed25519*", "*credential*", "*secret*", "*token*",
}

// Setup is that of one person; Of makes it. Methods may be called from any goroutine.
type Setup struct {
	// Folder is Claude Code's, and Config the file that it keeps beside or in it.
	Folder, Config string
	// Inside is where the folder of a channel's state is in its container.
	Inside string

	turn *sync.Mutex // for placing: runs of one channel begin side by side
}

// Of is the setup that programs of this process would find.
func Of(home string, getenv func(string) string, inside string) Setup {
	if dir := getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return Setup{dir, filepath.Join(dir, ".claude.json"), inside, new(sync.Mutex)}
	}
	return Setup{filepath.Join(home, ".claude"), filepath.Join(home, ".claude.json"), inside, new(sync.Mutex)}
}

// file is one that comes, with its content.
type file struct {
	path string
	data []byte
	exec bool
}

// found is the whole of a setup, as it was read.
type found struct {
	core.ClaudeSetup
	files    []file
	settings map[string][]byte // JSON of what comes, by name; parts are joined by a dot
	size     int64
}

func (f *found) leave(text, why string) {
	if len(f.Left) < maxLeft {
		f.Left = append(f.Left, core.SkippedMount{Text: core.CleanTitle(text), Reason: why})
	}
}

// Survey reads what there is, with the things that the person allowed. A folder that is not
// there is an empty setup.
func (s Setup) Survey(allow []string) (core.ClaudeSetup, error) {
	f, err := s.read(allow)
	return f.ClaudeSetup, err
}

func (s Setup) read(allow []string) (*found, error) {
	f := &found{ClaudeSetup: core.ClaudeSetup{Folder: s.Folder}, settings: map[string][]byte{}}
	root, err := os.OpenRoot(s.Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, fmt.Errorf("open Claude Code's folder: %w", err)
	}
	defer root.Close()
	top, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return f, fmt.Errorf("list Claude Code's folder: %w", err)
	}
	for _, e := range top {
		name := e.Name()
		switch {
		case slices.Contains(folders, name):
			f.tree(root, name, name, 0)
		case strings.HasSuffix(name, ".md") || name == "keybindings.json":
			f.take(root, name, name)
		}
	}
	f.readSettings(root, allow)
	f.plugins(root, s, allow)
	f.servers(s.Config, allow)
	slices.SortFunc(f.Asks, func(a, b core.SetupAsk) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(f.Files, func(a, b core.SetupFile) int { return strings.Compare(a.Path, b.Path) })
	slices.Sort(f.Settings)
	return f, nil
}

// tree takes a folder of the setup. A link is followed as long as it stays in the setup.
func (f *found) tree(root *os.Root, from, to string, depth int) {
	info, err := root.Stat(filepath.FromSlash(from))
	switch {
	case err != nil:
		f.leave(from, away)
		return
	case !info.IsDir():
		f.take(root, from, to)
		return
	case depth > maxDepth:
		f.leave(from, "It is too deep in other folders, or links lead in a circle.")
		return
	}
	folder, err := root.Open(filepath.FromSlash(from))
	if err != nil {
		f.leave(from, "It cannot be opened.")
		return
	}
	list, err := folder.ReadDir(maxFiles)
	if err = errors.Join(err, folder.Close()); err != nil && len(list) == 0 && info.Size() > 0 && !isEOF(err) {
		f.leave(from, "It cannot be listed.")
		return
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, e := range list {
		if e.Name() == ".git" || e.Name() == "node_modules" {
			f.leave(path.Join(from, e.Name()), "It is not the person's own work.")
			continue
		}
		f.tree(root, path.Join(from, e.Name()), path.Join(to, e.Name()), depth+1)
	}
}

const away = "It is a link out of Claude Code's folder, or to nothing."

// take takes one file.
func (f *found) take(root *os.Root, from, to string) {
	name := strings.ToLower(path.Base(to))
	if slices.ContainsFunc(neverNames, func(p string) bool { ok, _ := path.Match(p, name); return ok && !strings.HasSuffix(name, ".md") }) {
		f.leave(from, "By its name it may hold credentials.")
		return
	}
	if len(f.files) >= maxFiles || f.size >= maxBytes {
		f.leave(from, "It is more than Loop copies: 4000 files of 64 MiB together.")
		return
	}
	opened, err := root.OpenFile(filepath.FromSlash(from), os.O_RDONLY|atomicfile.NoWait, 0)
	if err != nil {
		f.leave(from, away)
		return
	}
	data, info, err := atomicfile.ReadOpened(opened, maxFile)
	switch {
	case errors.Is(err, atomicfile.ErrTooLarge):
		f.leave(from, "It is larger than 1 MiB.")
		return
	case err != nil:
		f.leave(from, "It is no ordinary file, or cannot be read.")
		return
	}
	f.size += int64(len(data))
	f.files = append(f.files, file{to, data, info.Mode().Perm()&0o100 != 0})
	f.Files = append(f.Files, core.SetupFile{Path: to, Bytes: int64(len(data))})
}
