package agentcopy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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
	// maxSeed bounds one file that belongs to an agent, in bytes. People write them by hand.
	maxSeed = 1 << 20
	// maxSkillFiles and maxSkills bound all skills together, in files and bytes.
	maxSkillFiles = 2000
	maxSkills     = 32 << 20
	// skillsFolder is where an agent looks for its skills.
	skillsFolder = "skills"
)

// seeds are OpenClaw's files of an agent: instructions, personality, notes.
var seeds = []string{"AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md", "BOOTSTRAP.md", "HEARTBEAT.md"}

// Copies are those of one Loop folder. Methods may be called from any goroutine.
type Copies struct {
	home string // Loop's folder

	mu sync.Mutex // one seeding at a time: channels may share a copy
}

// New opens nothing.
func New(home string) *Copies { return &Copies{home: home} }

// base is what a copy had of its original when the two were last the same, by path with
// slashes: SHA-256 in hex. It lies beside the copy, out of the agent's reach.
type base map[string]string

func baseFile(copyDir string) string { return copyDir + ".json" }

// readBase takes a file that cannot be read for none: every difference is then one of both.
func readBase(copyDir string) base {
	b := base{}
	data, _, err := atomicfile.Read(baseFile(copyDir), maxSkills)
	if err != nil || json.Unmarshal(data, &b) != nil || b == nil {
		return base{}
	}
	return b
}

func (b base) keep(copyDir string) error {
	data, err := json.Marshal(b)
	if err != nil {
		return fmt.Errorf("encode what was copied: %w", err)
	}
	return atomicfile.Keep(baseFile(copyDir), data)
}

// Seed makes the copy where it is missing, puts the files of an agent into it that it does
// not have, and makes its skills the original's. What the agent has stays, but for skills.
// Notices say what was left out. Errors are of the copy; an original that is not there has
// nothing to give.
func (c *Copies) Seed(s core.WorkspaceSeed) (notices []string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := os.MkdirAll(s.Copy, 0o700); err != nil {
		return nil, fmt.Errorf("make the agent's copy: %w", err)
	}
	to, err := os.OpenRoot(s.Copy)
	if err != nil {
		return nil, fmt.Errorf("open the agent's copy: %w", err)
	}
	defer to.Close()
	from, err := os.OpenRoot(s.Original)
	if err != nil {
		return []string{"Nothing was copied for the agent: its folder cannot be opened."}, nil
	}
	defer from.Close()
	known := readBase(s.Copy)
	changed := false
	for _, name := range seeds {
		data, err := atomicfile.ReadIn(from, name, maxSeed)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			notices = append(notices, "“"+name+"” was not copied for the agent: "+reason(err)+".")
			continue
		}
		switch err := create(to, name, data); {
		case err == nil:
			known[name], changed = hashOf(data), true
		case !errors.Is(err, fs.ErrExist):
			return notices, fmt.Errorf("copy %s for the agent: %w", name, err)
		}
	}
	skills, left := c.skills(from)
	notices = append(notices, left...)
	done, err := syncSkills(to, skills, known)
	if err != nil {
		return notices, fmt.Errorf("copy skills for the agent: %w", err)
	}
	if changed || done {
		err = known.keep(s.Copy)
	}
	return notices, err
}

func reason(err error) string {
	switch {
	case errors.Is(err, atomicfile.ErrNotRegular):
		return "it is no ordinary file"
	case errors.Is(err, atomicfile.ErrTooLarge):
		return fmt.Sprintf("it is larger than %d MiB", maxSeed>>20)
	case errors.Is(err, fs.ErrPermission):
		return "it cannot be read"
	}
	return "it leads out of the folder, or cannot be read"
}

// create writes a file that is not there yet: whole, or not at all.
func create(root *os.Root, name string, data []byte) error {
	if _, err := root.Lstat(name); err == nil {
		return fs.ErrExist
	}
	part := path.Join(path.Dir(name), ".loop-"+core.NewID())
	if err := root.WriteFile(part, data, 0o644); err != nil {
		return errors.Join(err, atomicfile.RemoveIn(root, part))
	}
	err := root.Link(part, name) // unlike a rename it replaces nothing
	return errors.Join(err, atomicfile.RemoveIn(root, part))
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// skill is one file of a skill, by its path below the folder of skills.
type skill struct {
	name string
	data []byte
	exec bool
}

// skills reads the original's. One skill that cannot be read, or is too large with those
// before it, is left out whole: half a skill misleads.
func (c *Copies) skills(from *os.Root) (all []skill, notices []string) {
	folder, err := from.OpenRoot(skillsFolder)
	if err != nil {
		return nil, nil
	}
	defer folder.Close()
	top, err := fs.ReadDir(folder.FS(), ".")
	if err != nil {
		return nil, []string{"Skills were not copied for the agent: their folder cannot be read."}
	}
	files, size := 0, int64(0)
	for _, e := range top {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		var one []skill
		err := fs.WalkDir(folder.FS(), e.Name(), func(p string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir():
				return nil
			case files+len(one) >= maxSkillFiles || size >= maxSkills:
				return atomicfile.ErrTooLarge
			}
			data, err := atomicfile.ReadIn(folder, filepath.FromSlash(p), maxSkills-size)
			if err != nil {
				return err
			}
			size += int64(len(data))
			info, err := d.Info()
			if err != nil {
				return err
			}
			one = append(one, skill{p, data, info.Mode().Perm()&0o100 != 0})
			return nil
		})
		if err != nil {
			notices = append(notices, "The skill “"+core.CleanTitle(e.Name())+"” was not copied for the agent: a file of it is "+
				"no ordinary one, cannot be read, or is too large.")
			continue
		}
		files += len(one)
		all = append(all, one...)
	}
	return all, notices
}

// syncSkills makes the copy's skills those, unless they are already. It reports whether
// anything was done.
func syncSkills(to *os.Root, all []skill, known base) (done bool, err error) {
	if hasSkills(to, all) {
		return false, nil
	}
	for name := range known {
		if strings.HasPrefix(name, skillsFolder+"/") {
			delete(known, name)
		}
	}
	fresh := ".loop-" + core.NewID()
	defer func() { err = errors.Join(err, to.RemoveAll(fresh)) }()
	for _, s := range all {
		at := path.Join(fresh, s.name)
		if err := to.MkdirAll(path.Dir(at), 0o755); err != nil {
			return true, err
		}
		mode := fs.FileMode(0o644)
		if s.exec {
			mode = 0o755
		}
		if err := to.WriteFile(at, s.data, mode); err != nil {
			return true, err
		}
		known[path.Join(skillsFolder, s.name)] = hashOf(s.data)
	}
	if err := to.RemoveAll(skillsFolder); err != nil {
		return true, err
	}
	if len(all) == 0 {
		return true, nil
	}
	return true, to.Rename(fresh, skillsFolder)
}

// hasSkills reports whether the copy has exactly these skills.
func hasSkills(to *os.Root, all []skill) bool {
	want := map[string]skill{}
	for _, s := range all {
		want[s.name] = s
	}
	folder, err := to.OpenRoot(skillsFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return len(all) == 0
	}
	if err != nil {
		return false
	}
	defer folder.Close()
	err = fs.WalkDir(folder.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		s, there := want[p]
		if !there {
			return fs.ErrExist
		}
		data, err := atomicfile.ReadIn(folder, filepath.FromSlash(p), int64(len(s.data)))
		if err != nil || !slices.Equal(data, s.data) {
			return errors.Join(err, fs.ErrInvalid)
		}
		delete(want, p)
		return nil
	})
	return err == nil && len(want) == 0
}
