package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"loop/backend/atomicfile"
	"loop/backend/core"
)

// ProjectFolder is the folder in a project that holds its settings file.
const ProjectFolder = ".loop"

// MaxProjectSize bounds a project's settings file. It can be written by
// agents, and everything in it is shown to a person before it counts.
const MaxProjectSize = 1 << 20

// ProjectPath is where the settings file of the project at dir is.
func ProjectPath(dir string) string { return filepath.Join(dir, ProjectFolder, FileName) }

var (
	errLink     = errors.New("is a link")
	errTreeLink = errors.New("is a link where a worktree should be")
	errSwapped  = errors.New("changed while it was opened")
)

// openProject opens the folder of a project, or of a worktree of the project at
// parent. Agents write in a project, so no link is followed from parent down to a
// worktree inside it, whenever it was put there: it would make another folder's
// file the worktree's. The folders above parent are the person's own.
func openProject(dir, parent string) (*os.Root, error) {
	rel, err := filepath.Rel(parent, dir)
	if parent == "" || err != nil || !filepath.IsLocal(rel) {
		return openFolder(dir)
	}
	root, err := openFolder(parent)
	if err != nil {
		return nil, err
	}
	for part := range strings.SplitSeq(filepath.Clean(rel), string(filepath.Separator)) {
		below, err := enter(root, part, errTreeLink)
		_ = root.Close() // only read from
		if err != nil {
			return nil, err
		}
		root = below
	}
	return root, nil
}

// openFolder treats a file where the folder should be like a missing folder: it has
// no settings, and the run will say what stands there.
func openFolder(dir string) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	if info, serr := os.Stat(dir); err != nil && serr == nil && !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: fs.ErrNotExist}
	}
	return root, err
}

// enter opens a folder in root; one that is a link is the error link.
func enter(root *os.Root, name string, link error) (*os.Root, error) {
	seen, err := root.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case seen.Mode()&fs.ModeSymlink != 0:
		return nil, link
	case !seen.IsDir():
		return nil, fs.ErrNotExist // a file of that name is neither a worktree nor settings
	}
	below, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if info, err := below.Stat("."); err != nil || !os.SameFile(seen, info) {
		_ = below.Close() // only looked at
		return nil, errSwapped
	}
	return below, nil
}

// readProjectFile reads the settings file of the project at dir, or of the work
// tree at dir of the project at parent.
func readProjectFile(dir, parent string) ([]byte, error) {
	return readOwnFile(dir, parent, FileName, MaxProjectSize)
}

// readOwnFile reads a file in the ProjectFolder. Neither it nor the folder may be a link: the
// project would choose a file that is not its own. An error that wraps fs.ErrNotExist means
// that the project has none.
func readOwnFile(dir, parent, name string, most int64) ([]byte, error) {
	root, err := openProject(dir, parent)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	folder, err := enter(root, ProjectFolder, errLink)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	return readUnlinked(folder, name, most)
}

// readUnlinked reads a file in a folder; one that is a link is the error errLink.
func readUnlinked(folder *os.Root, name string, most int64) ([]byte, error) {
	seen, err := folder.Lstat(name)
	if err != nil {
		return nil, err
	}
	if seen.Mode()&fs.ModeSymlink != 0 {
		return nil, errLink
	}
	f, err := folder.OpenFile(name, os.O_RDONLY|atomicfile.NoWait, 0)
	if err != nil {
		return nil, err
	}
	data, info, err := atomicfile.ReadOpened(f, most)
	if err == nil && !os.SameFile(seen, info) {
		err = errSwapped
	}
	return data, err
}

// loadProject reads the settings file of the project at dir, or of the worktree
// at dir of the project at parent. Its settings are for the channel of the folder at.
// Without one it returns nil.
func loadProject(dir, parent, at string) (doc *document, sum string) {
	path := ProjectPath(dir)
	data, err := readProjectFile(dir, parent)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, ""
	}
	if err != nil {
		return &document{path: path, config: Defaults(), problems: []core.SettingsProblem{fileProblem(path, MaxProjectSize, err)}}, ""
	}
	doc = decode(path, data)
	doc.resolve(dir)
	doc.config.Gates.AgentGate.resolve(dir, at)
	doc.misplaced(true)
	doc.rulesHold()
	return doc, sumOf(data)
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// resolve makes relative host paths start in the project's folder.
func (doc *document) resolve(dir string) {
	each := func(list []string, to func(text, dir string) string) (out []string) {
		for _, text := range list {
			out = append(out, to(text, dir))
		}
		return out
	}
	c := &doc.config
	c.Mounts, c.ExtraDirs, c.CopyFiles = each(c.Mounts, resolveMount), each(c.ExtraDirs, resolvePath), each(c.CopyFiles, resolvePath)
}

func resolvePath(p, dir string) string {
	if p == "" || p[0] == '~' || p[0] == '/' || filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(dir, p)
}

// resolveMount makes the source of host:container[:mode] absolute unless it is
// a volume's name. A text that is no mount stays as it is; package sandbox refuses it.
func resolveMount(text, dir string) string {
	source, rest, ok := cutMount(text)
	if !ok || source == "" || !strings.ContainsAny(source, `/\`) && source[0] != '.' {
		return text
	}
	return resolvePath(source, dir) + ":" + rest
}

// cutMount cuts at the colon after the source, which may begin with a drive on
// Windows.
func cutMount(text string) (source, rest string, ok bool) {
	skip := 0
	if runtime.GOOS == "windows" && len(text) > 2 && text[1] == ':' && (text[2] == '\\' || text[2] == '/') {
		skip = 2
	}
	source, rest, ok = strings.Cut(text[skip:], ":")
	return text[:skip] + source, rest, ok
}
