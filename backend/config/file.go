package config

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"loop/backend/core"
)

// File is one settings file: the global one, or the one of a project.
type File struct {
	Path string
	dir  string // of the project or work tree; empty for the global file
	// parent is the project's folder if dir is that of a work tree.
	parent string
}

// GlobalFile is a settings file that belongs to the person alone.
func GlobalFile(path string) File { return File{Path: path} }

// ProjectFile is the settings file of the project at dir.
func ProjectFile(dir string) File { return File{Path: ProjectPath(dir), dir: filepath.Clean(dir)} }

// WorktreeFile is the settings file of the work tree at dir of the project at
// parent. It is reached through no link that stands in the project.
func WorktreeFile(dir, parent string) File {
	f := ProjectFile(dir)
	f.parent = filepath.Clean(parent)
	return f
}

func (f File) read() ([]byte, error) {
	if f.dir != "" {
		return readProjectFile(f.dir, f.parent)
	}
	data, _, err := readFile(f.Path)
	return data, err
}

func (f File) unreadable(err error) error {
	p := fileProblem(f.Path, err)
	if f.dir != "" {
		p = projectProblem(f.Path, err)
	}
	return core.Fail(core.CodeConfig, err, p.Message, p.Remedy)
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
		return writeFile(path, data)
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
	return replace(folderOf{root}, name, data, mode)
}

// unlinked refuses a folder that was opened through a link at the end of its
// path or one before: there an agent of the project can put one in the place of
// a work tree. What is above them is the person's own.
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

// writeFile replaces path by data, readable for the person alone.
func writeFile(path string, data []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	return replace(folderOf{nil}, path, data, 0o600)
}

// folderOf opens, renames and removes within a root, or anywhere without one.
type folderOf struct{ root *os.Root }

func (r folderOf) open(name string, flag int, mode fs.FileMode) (*os.File, error) {
	if r.root != nil {
		return r.root.OpenFile(name, flag, mode)
	}
	return os.OpenFile(name, flag, mode)
}

func (r folderOf) rename(from, to string) error {
	if r.root != nil {
		return r.root.Rename(from, to)
	}
	return os.Rename(from, to)
}

func (r folderOf) remove(name string) error {
	if r.root != nil {
		return r.root.Remove(name)
	}
	return os.Remove(name)
}

func replace(in folderOf, path string, data []byte, mode fs.FileMode) (err error) {
	var salt [8]byte
	_, _ = rand.Read(salt[:]) // never fails on supported systems
	name := filepath.Join(filepath.Dir(path), ".config-"+hex.EncodeToString(salt[:])+".tmp")
	tmp, err := in.open(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("make temporary file: %w", err)
	}
	defer func() {
		if err != nil {
			tmp.Close() // closing twice is harmless here
			_ = in.remove(name)
		}
	}()
	if _, err := tmp.Write(data); err != nil {
		return fmt.Errorf("write temporary file: %w", err)
	}
	if err := tmp.Sync(); err != nil {
		return fmt.Errorf("flush temporary file: %w", err)
	}
	if err := tmp.Close(); err != nil {
		return fmt.Errorf("close temporary file: %w", err)
	}
	if err := in.rename(name, path); err != nil {
		return fmt.Errorf("replace file: %w", err)
	}
	if runtime.GOOS != "windows" {
		// Makes the rename itself survive a power cut; without it the old text
		// would come back, which is still a whole file.
		if d, derr := in.open(filepath.Dir(path), os.O_RDONLY, 0); derr == nil {
			_ = d.Sync()
			d.Close()
		}
	}
	return nil
}
