package agentcopy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"loop/backend/atomicfile"
	"loop/backend/core"
)

const (
	// maxCompared and maxComparedBytes bound one look at a copy, in files and in bytes of each.
	maxCompared      = 5000
	maxComparedBytes = 8 << 20
)

// skipped are folders that are made again from the rest, or that no change is brought into.
var skipped = []string{".git", ".loop", "node_modules", ".cache"}

// side is one of the two folders: files by path.
type side struct {
	root  *os.Root
	files map[string][]byte
	times map[string]int64  // when files changed, in ms
	left  map[string]string // what cannot be compared, and why
}

// look reads what is below a folder.
func look(dir string, only func(path string) bool) (*side, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	s := &side{root, map[string][]byte{}, map[string]int64{}, map[string]string{}}
	err = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && p == ".":
			return err
		case s.unreadable(p, err):
			return nil
		case d.IsDir() && p != "." && (slices.Contains(skipped, d.Name()) || !only(p+"/")):
			return fs.SkipDir
		case d.IsDir() || !only(p) || strings.HasPrefix(d.Name(), ".loop-"):
			return nil
		case len(s.files) >= maxCompared:
			s.left[p] = fmt.Sprintf("There are more than %d files.", maxCompared)
			return fs.SkipAll
		}
		data, err := atomicfile.ReadIn(root, filepath.FromSlash(p), maxComparedBytes)
		switch {
		case errors.Is(err, atomicfile.ErrTooLarge):
			s.left[p] = "It is larger than 8 MiB."
		case err != nil:
			s.left[p] = "It is no ordinary file, or cannot be read."
		default:
			s.files[p] = data
			if info, err := d.Info(); err == nil { // one that is gone by now has none
				s.times[p] = info.ModTime().UnixMilli()
			}
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("look at %s: %w", dir, err), root.Close())
	}
	return s, nil
}

// unreadable names what could not be looked at.
func (s *side) unreadable(p string, err error) bool {
	if err != nil {
		s.left[p] = "It cannot be read."
	}
	return err != nil
}

// pair is both sides, and what they had in common.
type pair struct {
	copied, original *side
	known            base
}

func (p *pair) close() error { return errors.Join(p.copied.root.Close(), p.original.root.Close()) }

// open looks at the copy, and in the original at the files that an agent has and at those
// that the copy has.
func open(s core.WorkspaceSeed) (*pair, error) {
	known := readBase(s.Copy)
	copied, err := look(s.Copy, func(string) bool { return true })
	if err != nil {
		return nil, err
	}
	original, err := look(s.Original, func(p string) bool {
		if dir, is := strings.CutSuffix(p, "/"); is { // one in which such a file may lie
			return dir == skillsFolder || strings.HasPrefix(dir, skillsFolder+"/") || hasBelow(copied.files, p) || hasBelow(known, p)
		}
		_, there := copied.files[p]
		_, was := known[p]
		return there || was || slices.Contains(seeds, p)
	})
	if err != nil {
		return nil, errors.Join(err, copied.root.Close())
	}
	return &pair{copied, original, known}, nil
}

func hasBelow[V any](files map[string]V, dir string) bool {
	for name := range files {
		if strings.HasPrefix(name, dir) {
			return true
		}
	}
	return false
}

// Compare says what is not the same in a copy and its original.
func (c *Copies) Compare(s core.WorkspaceSeed) (out core.CopyComparison, err error) {
	out.WorkspaceSeed = s
	p, err := open(s)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	out.Differences, out.Left = p.differences(), []core.SkippedMount{}
	for where, side := range map[string]*side{"copy": p.copied, "original": p.original} {
		for name, why := range side.left {
			out.Left = append(out.Left, core.SkippedMount{Text: where + ": " + core.CleanTitle(name), Reason: why})
		}
	}
	slices.SortFunc(out.Left, func(a, b core.SkippedMount) int { return strings.Compare(a.Text, b.Text) })
	return out, nil
}

func (p *pair) differences() []core.CopyDifference {
	out := []core.CopyDifference{}
	names := map[string]bool{}
	for _, m := range []map[string][]byte{p.copied.files, p.original.files} {
		for name := range m {
			names[name] = true
		}
	}
	for name := range p.known {
		names[name] = true
	}
	for name := range names {
		if d, differs := p.difference(name); differs {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b core.CopyDifference) int { return strings.Compare(a.Path, b.Path) })
	return out
}

func (p *pair) difference(name string) (d core.CopyDifference, differs bool) {
	if p.copied.left[name] != "" || p.original.left[name] != "" {
		return d, false // it is named among what cannot be compared
	}
	in := func(s *side) (hash string, size int64) {
		if data, there := s.files[name]; there {
			return hashOf(data), int64(len(data))
		}
		return "", -1
	}
	c, cSize := in(p.copied)
	o, oSize := in(p.original)
	d = core.CopyDifference{
		Path: name, CopyBytes: cSize, OriginalBytes: oSize, CopyMs: p.copied.times[name], OriginalMs: p.original.times[name],
		Mark: hashOf([]byte(c + " " + o)),
	}
	was, known := p.known[name]
	switch {
	case c == o:
		return d, false
	case !known && o == "":
		d.State = core.DiffNew
	case !known && c == "":
		d.State = core.DiffOriginalNew
	case o == was && c == "":
		d.State = core.DiffRemoved
	case o == was:
		d.State = core.DiffChanged
	case c == was && o == "":
		d.State = core.DiffOriginalRemoved
	case c == was:
		d.State = core.DiffOriginalChanged
	default:
		d.State = core.DiffBoth
	}
	return d, true
}

// Both are the texts of a file in the original and in the copy; a file that is not there is
// empty.
func (c *Copies) Both(s core.WorkspaceSeed, name string) (original, copied []byte, err error) {
	p, err := open(s)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	if _, differs := p.difference(name); !differs {
		return nil, nil, fmt.Errorf("compare %s: %w", name, core.ErrNotFound)
	}
	return p.original.files[name], p.copied.files[name], nil
}

// local reports whether a path may be written into a folder of the person's.
func local(name string) bool {
	if !filepath.IsLocal(filepath.FromSlash(name)) || path.Clean(name) != name {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if slices.ContainsFunc(skipped, func(s string) bool { return strings.EqualFold(s, part) }) {
			return false
		}
	}
	return true
}
