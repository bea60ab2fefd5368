package claudesetup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
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

	"loop/backend/atomicfile"
)

// placed is what Loop has put into a state: hashes of files by path, and of settings by name.
// It lies beside the folder, out of the agent's reach.
type placed struct {
	Files    map[string]string `json:"files"`
	Settings map[string]string `json:"settings"`
}

func placedFile(dir string) string { return dir + "-setup.json" }

// Place has a state's folder hold copies of what was granted, and nothing else of the setup.
// The person's word comes over what an agent made of a copy; what is the agent's own stays.
// dir is the folder that Claude Code of the channel has. Without a grant, copies that are
// there go.
func (s Setup) Place(granted bool, allow []string, dir string) error {
	s.turn.Lock()
	defer s.turn.Unlock()
	f := &found{settings: map[string][]byte{}}
	if granted {
		var err error
		if f, err = s.read(allow); err != nil {
			return err
		}
	}
	was := readPlaced(dir)
	if !granted && len(was.Files)+len(was.Settings) == 0 {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open the channel's Claude folder: %w", err)
	}
	defer root.Close()
	now := placed{Files: map[string]string{}, Settings: map[string]string{}}
	for _, one := range f.files {
		now.Files[one.path] = hashOf(one.data)
	}
	// First what was there goes on being known: a crash in between leaves nothing that
	// nobody takes away.
	both := placed{Files: maps.Clone(was.Files), Settings: maps.Clone(was.Settings)}
	maps.Copy(both.Files, now.Files)
	for name, raw := range f.settings {
		now.Settings[name] = hashOf(compact(raw))
		if _, there := both.Settings[name]; !there {
			both.Settings[name] = now.Settings[name]
		}
	}
	if err := both.keep(dir); err != nil {
		return err
	}
	for name, hash := range was.Files {
		if _, stays := now.Files[name]; !stays {
			if err := takeBack(root, name, hash); err != nil {
				return fmt.Errorf("take %s back: %w", name, err)
			}
		}
	}
	for _, one := range f.files {
		if err := put(root, one); err != nil {
			return fmt.Errorf("copy %s: %w", one.path, err)
		}
	}
	if err := merge(root, f.settings, was.Settings); err != nil {
		return fmt.Errorf("settings of Claude Code: %w", err)
	}
	return now.keep(dir)
}

func readPlaced(dir string) placed {
	p := placed{}
	if data, _, err := atomicfile.Read(placedFile(dir), maxBytes); err == nil {
		_ = json.Unmarshal(data, &p) // one that cannot be read is none
	}
	if p.Files == nil {
		p.Files = map[string]string{}
	}
	if p.Settings == nil {
		p.Settings = map[string]string{}
	}
	return p
}

func (p placed) keep(dir string) error {
	data, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encode what was copied: %w", err)
	}
	return atomicfile.Keep(placedFile(dir), data)
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// takeBack removes a copy that is as Loop made it, with folders that are empty then. One that
// the agent changed is the agent's.
func takeBack(root *os.Root, name, hash string) error {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil
	}
	if !is(root, name, hash) {
		return nil
	}
	if err := atomicfile.RemoveIn(root, name); err != nil {
		return err
	}
	dir := path.Dir(name)
	for dir != "." && emptied(root, dir) {
		dir = path.Dir(dir)
	}
	return nil
}

// emptied removes a folder that has nothing in it, and reports whether it did.
func emptied(root *os.Root, dir string) bool { return root.Remove(dir) == nil }

// is reports whether a file is as Loop made it; one that is gone, or cannot be read, is not.
func is(root *os.Root, name, hash string) bool {
	data, err := atomicfile.ReadIn(root, name, maxFile)
	return err == nil && hashOf(data) == hash
}

// put makes a copy, unless it is there as it should be. What an agent put in its way goes.
func put(root *os.Root, f file) error {
	mode := fs.FileMode(0o644)
	if f.exec {
		mode = 0o755
	}
	if data, err := atomicfile.ReadIn(root, f.path, maxFile); err == nil && bytes.Equal(data, f.data) {
		if info, err := root.Lstat(f.path); err == nil && (info.Mode().Perm()&0o100 != 0) == f.exec {
			return nil
		}
	}
	if err := clearWay(root, f.path); err != nil {
		return err
	}
	part := path.Join(path.Dir(f.path), ".loop-"+hashOf([]byte(f.path))[:16])
	err := root.RemoveAll(part)
	if err == nil {
		err = root.WriteFile(part, f.data, mode)
	}
	if err == nil {
		err = root.Chmod(part, mode)
	}
	if err == nil {
		err = root.Rename(part, f.path)
	}
	if err != nil {
		err = errors.Join(err, root.RemoveAll(part))
	}
	return err
}

// clearWay makes the folders of a path, in the place of whatever else has their names, and
// removes a folder or link that has the file's.
func clearWay(root *os.Root, name string) error {
	parts := strings.Split(name, "/")
	for i := range parts {
		at := path.Join(parts[:i+1]...)
		info, err := root.Lstat(at)
		last := i == len(parts)-1
		switch {
		case errors.Is(err, fs.ErrNotExist) && last:
			continue
		case errors.Is(err, fs.ErrNotExist):
			err = root.Mkdir(at, 0o755)
		case err != nil:
		case last && !info.Mode().IsRegular():
			err = root.RemoveAll(at)
		case !last && !info.IsDir():
			if err = root.Remove(at); err == nil {
				err = root.Mkdir(at, 0o755)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// merge puts settings into the state's file, and takes those back that were put there before
// and are as they were.
func merge(root *os.Root, settings map[string][]byte, was map[string]string) error {
	if len(settings)+len(was) == 0 {
		return nil
	}
	old, err := atomicfile.ReadIn(root, settingsFile, maxFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		if err := clearWay(root, settingsFile); err != nil {
			return err
		}
	}
	top := map[string]json.RawMessage{}
	if json.Unmarshal(old, &top) != nil || top == nil {
		top = map[string]json.RawMessage{} // the CLI would not take it either
	}
	for name, hash := range was {
		if raw, there := at(top, name); there && hashOf(compact(raw)) == hash {
			if err := set(top, name, nil); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if err := set(top, name, settings[name]); err != nil {
			return err
		}
	}
	data, err := json.MarshalIndent(top, "", "  ")
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	if data = append(data, '\n'); bytes.Equal(data, old) {
		return nil
	}
	if len(top) == 0 && len(old) == 0 {
		return nil
	}
	return put(root, file{settingsFile, data, false})
}

// at is the value of a name whose parts are joined by a dot.
func at(top map[string]json.RawMessage, name string) (json.RawMessage, bool) {
	outer, inner, nested := strings.Cut(name, ".")
	raw, there := top[outer]
	if !nested || !there {
		return raw, there
	}
	parts := map[string]json.RawMessage{}
	_ = json.Unmarshal(raw, &parts) // what is no object has no parts
	raw, there = parts[inner]
	return raw, there
}

// set makes raw the value of a name; nil removes it.
func set(top map[string]json.RawMessage, name string, raw []byte) error {
	outer, inner, nested := strings.Cut(name, ".")
	if !nested {
		if raw == nil {
			delete(top, outer)
		} else {
			top[outer] = raw
		}
		return nil
	}
	parts := map[string]json.RawMessage{}
	if json.Unmarshal(top[outer], &parts) != nil || parts == nil {
		parts = map[string]json.RawMessage{}
	}
	if raw == nil {
		delete(parts, inner)
	} else {
		parts[inner] = raw
	}
	if len(parts) == 0 {
		delete(top, outer)
		return nil
	}
	data, err := json.Marshal(parts)
	if err != nil {
		return fmt.Errorf("encode %s: %w", outer, err)
	}
	top[outer] = data
	return nil
}

func compact(raw []byte) []byte {
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return raw
	}
	return out.Bytes()
}
