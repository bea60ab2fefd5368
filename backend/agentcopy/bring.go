package agentcopy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loop/backend/atomicfile"
	"loop/backend/core"
)

// keepTrash is how long what was replaced can come back.
const keepTrash = 30 * 24 * time.Hour

// Promote makes files of the original what they are in the copy, and Pull the other way
// round. Marks are those of Compare, by path: a file that has changed since is refused, and
// then nothing is done at all. What is replaced goes to the trash, from which it can come
// back as a whole.
func (c *Copies) Promote(s core.WorkspaceSeed, marks map[string]string) (core.TrashedCopy, error) {
	return c.bring(s, marks, "promote")
}

// Pull is the other way round.
func (c *Copies) Pull(s core.WorkspaceSeed, marks map[string]string) (core.TrashedCopy, error) {
	return c.bring(s, marks, "pull")
}

func (c *Copies) bring(s core.WorkspaceSeed, marks map[string]string, what string) (t core.TrashedCopy, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, err := open(s)
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	from, to, place := p.copied, p.original, s.Original
	if what == "pull" {
		from, to, place = p.original, p.copied, s.Copy
	}
	names := slices.Sorted(maps.Keys(marks))
	for _, name := range names {
		d, differs := p.difference(name)
		switch {
		case !local(name):
			return t, core.Fail(core.CodeInvalid, nil,
				fmt.Sprintf("“%s” is not a file that is brought over.", core.CleanTitle(name)), "Copy it by hand, after a look at it.")
		case !differs || d.Mark != marks[name]:
			return t, core.Fail(core.CodeConflict, core.ErrConflict,
				fmt.Sprintf("“%s” has changed since it was compared.", core.CleanTitle(name)), "Compare again, look at it, then try once more.")
		}
	}
	if len(names) == 0 {
		return t, core.Fail(core.CodeInvalid, nil, "No file was named.", "Name the files, or all of them.")
	}
	t, err = c.toTrash(what, place, from, to, names)
	if err != nil {
		return t, err
	}
	for _, name := range names {
		if err := write(to.root, name, from.files); err != nil {
			return t, fmt.Errorf("write %s: %w", name, err)
		}
		if data, there := from.files[name]; there {
			p.known[name] = hashOf(data)
		} else {
			delete(p.known, name)
		}
	}
	return t, p.known.keep(s.Copy)
}

// write makes a file what it is among files, or removes it.
func write(root *os.Root, name string, files map[string][]byte) error {
	data, there := files[name]
	if !there {
		return atomicfile.RemoveIn(root, name)
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	w := atomicfile.Writer{Root: root, Mode: 0o644, Durable: true}
	if info, err := root.Lstat(name); err == nil && info.Mode().IsRegular() {
		w.Like = info
	}
	return w.Replace(filepath.FromSlash(name), data)
}

// trashed is what lies beside the files of one thing in the trash.
type trashed struct {
	core.TrashedCopy
	Before []string `json:"before"` // files that were there
	// After are hashes of all files as they were made; empty is no file. One that somebody has
	// changed since is kept.
	After map[string]string `json:"after"`
}

func (c *Copies) trash() string { return filepath.Join(c.home, "trash") }

// toTrash keeps files as they are, before they are replaced.
func (c *Copies) toTrash(what, place string, from, to *side, names []string) (core.TrashedCopy, error) {
	t := trashed{
		TrashedCopy: core.TrashedCopy{ID: core.NewID(), What: what, Place: place, At: time.Now().UTC()},
		After:       map[string]string{},
	}
	dir := filepath.Join(c.trash(), t.ID, "files")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return t.TrashedCopy, fmt.Errorf("make the trash: %w", err)
	}
	for _, name := range names {
		t.After[name] = ""
		if data, there := from.files[name]; there {
			t.After[name] = hashOf(data)
		}
		data, there := to.files[name]
		if !there {
			continue
		}
		t.Before, t.Files, t.Bytes = append(t.Before, name), t.Files+1, t.Bytes+int64(len(data))
		if err := atomicfile.Keep(filepath.Join(dir, filepath.FromSlash(name)), data); err != nil {
			return t.TrashedCopy, fmt.Errorf("keep %s: %w", name, err)
		}
	}
	return t.TrashedCopy, t.keep(c.trash())
}

func (t trashed) keep(trash string) error {
	data, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("encode what is in the trash: %w", err)
	}
	return atomicfile.Keep(filepath.Join(trash, t.ID, "what.json"), data)
}

// Discard moves a copy to the trash. The next container of its scope gets a new one.
func (c *Copies) Discard(copyDir string) (core.TrashedCopy, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := trashed{TrashedCopy: core.TrashedCopy{ID: core.NewID(), What: "copy", Place: copyDir, At: time.Now().UTC()}}
	t.Files, t.Bytes = sizeOf(copyDir)
	dir := filepath.Join(c.trash(), t.ID)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return t.TrashedCopy, fmt.Errorf("make the trash: %w", err)
	}
	if err := t.keep(c.trash()); err != nil {
		return t.TrashedCopy, err
	}
	if err := os.Rename(copyDir, filepath.Join(dir, "copy")); err != nil {
		return t.TrashedCopy, errors.Join(fmt.Errorf("move the copy: %w", err), os.RemoveAll(dir))
	}
	if err := os.Rename(baseFile(copyDir), filepath.Join(dir, "copy.json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return t.TrashedCopy, fmt.Errorf("move what is known of the copy: %w", err)
	}
	return t.TrashedCopy, nil
}

func sizeOf(dir string) (files int, bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { // what cannot be read counts as nothing
		if err == nil && !d.IsDir() {
			if info, ierr := d.Info(); ierr == nil {
				files, bytes = files+1, bytes+info.Size()
			}
		}
		return nil
	})
	return files, bytes
}

// Trash lists what can come back, the newest first, after what is too old was removed.
func (c *Copies) Trash(now time.Time) ([]core.TrashedCopy, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	entries, err := os.ReadDir(c.trash())
	if errors.Is(err, fs.ErrNotExist) {
		return []core.TrashedCopy{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the trash: %w", err)
	}
	out := []core.TrashedCopy{}
	for _, e := range entries {
		t, err := c.trashed(e.Name())
		if err != nil {
			continue // a crash in between; nothing was replaced yet
		}
		if now.Sub(t.At) > keepTrash {
			if err := atomicfile.RemoveTree(filepath.Join(c.trash(), t.ID)); err != nil {
				return nil, fmt.Errorf("empty the trash: %w", err)
			}
			continue
		}
		out = append(out, t.TrashedCopy)
	}
	slices.SortFunc(out, func(a, b core.TrashedCopy) int { return b.At.Compare(a.At) })
	return out, nil
}

func (c *Copies) trashed(id string) (t trashed, err error) {
	if id == "" || strings.Trim(id, "0123456789abcdef") != "" {
		return t, core.ErrNotFound
	}
	data, _, err := atomicfile.Read(filepath.Join(c.trash(), id, "what.json"), maxSkills)
	if errors.Is(err, fs.ErrNotExist) {
		return t, core.ErrNotFound
	}
	if err == nil {
		err = json.Unmarshal(data, &t)
	}
	return t, err
}

// Restore brings something back from the trash: a copy, where there is none by now, or the
// files that a promotion or a pull had replaced.
func (c *Copies) Restore(id string) (core.TrashedCopy, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, err := c.trashed(id)
	if err != nil {
		return t.TrashedCopy, fmt.Errorf("read the trash: %w", err)
	}
	dir := filepath.Join(c.trash(), t.ID)
	if t.What == "copy" {
		if _, err := os.Lstat(t.Place); err == nil {
			return t.TrashedCopy, core.Fail(core.CodeConflict, core.ErrConflict, "The agent has another copy by now.",
				"Discard that one first; it goes to the trash, too.")
		}
		if err := os.MkdirAll(filepath.Dir(t.Place), 0o700); err != nil {
			return t.TrashedCopy, fmt.Errorf("make the folder of the copy: %w", err)
		}
		if err := os.Rename(filepath.Join(dir, "copy"), t.Place); err != nil {
			return t.TrashedCopy, fmt.Errorf("bring the copy back: %w", err)
		}
		if err := os.Rename(filepath.Join(dir, "copy.json"), baseFile(t.Place)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return t.TrashedCopy, fmt.Errorf("bring back what is known of the copy: %w", err)
		}
		return t.TrashedCopy, atomicfile.RemoveTree(dir)
	}
	root, err := os.OpenRoot(t.Place)
	if err != nil {
		return t.TrashedCopy, fmt.Errorf("open %s: %w", t.Place, err)
	}
	defer root.Close()
	files := map[string][]byte{}
	for _, name := range t.Before {
		data, _, err := atomicfile.Read(filepath.Join(dir, "files", filepath.FromSlash(name)), maxComparedBytes)
		if err != nil {
			return t.TrashedCopy, fmt.Errorf("read %s in the trash: %w", name, err)
		}
		files[name] = data
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(t.After)), func(name string) bool { return !local(name) })
	for _, name := range names {
		now := ""
		if data, err := atomicfile.ReadIn(root, filepath.FromSlash(name), maxComparedBytes); err == nil {
			now = hashOf(data)
		} else if !errors.Is(err, fs.ErrNotExist) {
			now = "another"
		}
		if now != t.After[name] {
			return t.TrashedCopy, core.Fail(core.CodeConflict, core.ErrConflict,
				fmt.Sprintf("“%s” was changed since.", core.CleanTitle(name)), "Undo that change first, or copy what you need by hand.")
		}
	}
	for _, name := range names {
		if err := write(root, name, files); err != nil {
			return t.TrashedCopy, fmt.Errorf("bring %s back: %w", name, err)
		}
	}
	return t.TrashedCopy, atomicfile.RemoveTree(dir)
}

// Left lists the copies that there are, the largest first.
func (c *Copies) Left() ([]core.LeftCopy, error) {
	dirs, err := filepath.Glob(filepath.Join(c.home, "channels", "*", "copy"))
	if err != nil {
		return nil, fmt.Errorf("list copies: %w", err)
	}
	out := []core.LeftCopy{}
	for _, dir := range dirs {
		_, bytes := sizeOf(dir)
		out = append(out, core.LeftCopy{ChannelID: core.ChannelID(filepath.Base(filepath.Dir(dir))), Copy: dir, Bytes: bytes})
	}
	slices.SortFunc(out, func(a, b core.LeftCopy) int { return int(max(min(b.Bytes-a.Bytes, 1), -1)) })
	return out, nil
}
