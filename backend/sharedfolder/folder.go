package sharedfolder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loop/backend/core"
)

const (
	// maxEntries bounds the names read of a folder, which a container can fill.
	maxEntries = 20_000
	// maxSameName bounds the names that are tried for one file.
	maxSameName = 500
)

// Folder is a place for files: Dir below Root on this computer, Target in the container. A
// container can write below Root, so no link there is followed; no container can replace
// Root itself.
type Folder struct {
	Root, Dir, Target string
}

// InHome is a folder in the agent's home of the container that a spec describes. Every
// container of the channel has that home, and it goes with the channel. The mount's source
// lies in Loop's own folder, which no container can change. Errors are *core.Failure.
func InHome(spec core.Spec, dir string) (Folder, error) {
	for _, m := range spec.Mounts {
		if m.Kind == core.MountState && !m.Volume && !m.ReadOnly && m.Target == spec.Agent.Home {
			// It can be given files before the channel has had a container.
			if err := os.MkdirAll(m.Source, 0o700); err != nil {
				return Folder{}, core.Fail(core.CodeDir, fmt.Errorf("make state folder: %w", err),
					"The channel's folder for files could not be made.", "Check that the disk is not full and that Loop's folder belongs to you.")
			}
			return Folder{Root: m.Source, Dir: dir, Target: m.Target + "/" + dir}, nil
		}
	}
	return Folder{}, core.Fail(core.CodeMount, nil, "The channel's container has no home folder of Loop's to keep files in.",
		"Copy the file into the project's folder and name it there.")
}

// Rule says how long files stay in a folder.
type Rule struct {
	// Put says when Loop put a file there; false for a file that is none of Loop's.
	Put func(info fs.FileInfo) (time.Time, bool)
	Age time.Duration
	Max int64 // bytes of all together
}

// Keep puts a new file into the folder, which only its owner may read, and returns its path
// as the container sees it. The file is exactly size bytes that r has until its end. Where
// there is such a name already, the file gets a number. Files that have to go by the rule
// go first.
func (f Folder) Keep(rule Rule, name string, size int64, r io.Reader) (at string, err error) {
	if !filepath.IsLocal(name) || filepath.Base(name) != name || name == "." {
		return "", fmt.Errorf("keep %q: that is no name of a file: %w", name, fs.ErrInvalid)
	}
	root, err := os.OpenRoot(f.Root)
	if err != nil {
		return "", fmt.Errorf("open folder: %w", err)
	}
	defer root.Close()
	if err := root.Mkdir(f.Dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("make shared folder: %w", err)
	}
	if info, err := root.Lstat(f.Dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("look at shared folder: it is no folder: %w", errors.Join(err, fs.ErrInvalid))
	}
	dir, err := root.OpenRoot(f.Dir) // never outside of f.Root, also if it has become a link just now
	if err != nil {
		return "", fmt.Errorf("open shared folder: %w", err)
	}
	defer dir.Close()
	prune(dir, rule, time.Now(), size)
	out, name, err := create(dir, name)
	if err != nil {
		return "", fmt.Errorf("make file: %w", err)
	}
	n, err := io.Copy(out, io.LimitReader(r, size+1)) // one more shows that it is too long
	if err == nil && n != size {
		err = fmt.Errorf("%d bytes came, not %d: %w", n, size, io.ErrUnexpectedEOF)
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("write file: %w", err), dir.Remove(name))
	}
	return path.Join(f.Target, name), nil
}

// create makes a file of a name that is not there yet.
func create(dir *os.Root, name string) (*os.File, string, error) {
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	for n := 1; ; n++ {
		if n > 1 {
			name = fmt.Sprintf("%s (%d)%s", stem, n, ext)
		}
		out, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if n == maxSameName || !errors.Is(err, fs.ErrExist) {
			return out, name, err
		}
	}
}

// prune removes files that were put there long ago, and the oldest ones until there is
// room for one of size bytes. A file that cannot be removed stays: that is no reason to
// refuse another.
func prune(dir *os.Root, rule Rule, now time.Time, size int64) {
	folder, err := dir.Open(".")
	if err != nil {
		return
	}
	defer folder.Close()
	type file struct {
		name string
		put  time.Time
		size int64
	}
	var all []file
	names, _ := folder.Readdirnames(maxEntries) // as many as can be read
	for _, name := range names {
		info, err := dir.Lstat(name)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if put, ok := rule.Put(info); ok {
			all = append(all, file{name, put, info.Size()})
		}
	}
	slices.SortFunc(all, func(a, b file) int { return b.put.Compare(a.put) }) // newest first
	oldest := now.Add(-rule.Age)
	for _, one := range all {
		if size += one.size; one.put.Before(oldest) || size > rule.Max {
			_ = dir.Remove(one.name)
		}
	}
}
