package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"loop/backend/atomicfile"
	"loop/backend/core"
)

// File is one settings file: the global one, or the one of a project.
type File struct {
	Path string
	dir  string // of the project or worktree; empty for the global file
	// parent is the project's folder if dir is that of a worktree.
	parent string
	// source says that it stands for what the project's own image is built from: one of
	// core.ToolchainImage, ToolchainSetup and ToolchainDevcontainer.
	source string
}

// GlobalFile is a settings file that belongs to the person alone.
func GlobalFile(path string) File { return File{Path: path} }

// ProjectFile is the settings file of the project at dir.
func ProjectFile(dir string) File { return File{Path: ProjectPath(dir), dir: filepath.Clean(dir)} }

// WorktreeFile is the settings file of the worktree at dir of the project at
// parent. It is reached through no link that stands in the project.
func WorktreeFile(dir, parent string) File {
	f := ProjectFile(dir)
	f.parent = filepath.Clean(parent)
	return f
}

// key is under which its approval is kept.
func (f File) key() string {
	switch f.source {
	case "":
		return f.dir
	case core.ToolchainImage:
		return filepath.Dir(f.Path)
	}
	return f.Path
}

func (f File) read() ([]byte, error) {
	if f.source != "" {
		r, err := f.recipe()
		return r.text, err
	}
	if f.dir != "" {
		return readProjectFile(f.dir, f.parent)
	}
	data, _, err := readFile(f.Path)
	return data, err
}

func (f File) unreadable(err error) error {
	if f.source != "" {
		return core.Fail(core.CodeConfig, err, "The project's own image cannot be used. "+imageReason(err), "Correct "+f.Path+".")
	}
	p := fileProblem(f.Path, f.most(), err)
	return core.Fail(core.CodeConfig, err, p.Message, p.Remedy)
}

// most bounds the size of the file.
func (f File) most() int {
	if f.dir != "" {
		return MaxProjectSize
	}
	return MaxSize
}

// write replaces the file as a whole: a temporary file beside it, flushed to
// disk, then renamed.
func (f File) write(data []byte) error {
	if f.dir == "" {
		path := f.Path
		// A settings file is often a link into a folder of dotfiles; the link stays.
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		return atomicfile.Keep(path, data)
	}
	// An agent may be at work in the project: nothing is written outside of it,
	// whatever links it makes meanwhile.
	root, err := openProject(f.dir, f.parent)
	if errors.Is(err, errTreeLink) || errors.Is(err, errSwapped) {
		return f.unreadable(err)
	}
	if err != nil {
		return fmt.Errorf("open project: %w", err)
	}
	defer root.Close()
	if err := unlinked(f.dir, root); err != nil {
		return err
	}
	mode := fs.FileMode(0o600)
	name := filepath.Join(ProjectFolder, FileName)
	if err := root.Mkdir(ProjectFolder, 0o755); err == nil {
		mode = 0o644
	}
	folder, err := root.Lstat(ProjectFolder)
	if err != nil || !folder.IsDir() {
		return fmt.Errorf("make %s: %w", ProjectFolder, errLink)
	}
	if info, err := root.Lstat(name); err == nil && info.Mode().IsRegular() {
		mode = info.Mode().Perm()
	}
	return atomicfile.Writer{Root: root, Mode: mode, Durable: true}.Replace(name, data)
}

// unlinked refuses a folder where the last part of its path, or the part before, is
// a link: an agent of the project can put one there in the place of a worktree.
// The folders above them are the person's own.
func unlinked(dir string, root *os.Root) error {
	opened, err := root.Stat(".")
	if err != nil {
		return fmt.Errorf("look at project: %w", err)
	}
	for _, p := range []string{dir, filepath.Dir(dir)} {
		info, err := os.Lstat(p)
		if err != nil {
			return fmt.Errorf("look at project: %w", err)
		}
		if !info.IsDir() || p == dir && !os.SameFile(info, opened) {
			return fmt.Errorf("look at %s: %w", p, errLink)
		}
	}
	return nil
}
