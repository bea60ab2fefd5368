package filesearch

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"loop/backend/atomicfile"
)

// Bounds of one Index.
const (
	MaxNames  = 600_000 // half a million files, with the folders that they are in
	maxBytes  = 64 << 20
	maxDepth  = 64
	batch     = 1024
	maxRuleOf = 20_000 // rules that count for one folder
)

// Index is what is below a folder. It does not change.
type Index struct {
	paths   []string // folders end in a slash
	sets    []uint64
	bytes   int
	Ignored int  // files and folders that git ignores
	Odd     int  // names that are not text, or have control characters
	Partial bool // there is more than the bounds let in
}

// Len is how many files and folders there are.
func (x *Index) Len() int { return len(x.paths) }

// Walk makes an Index of a folder. covered reports whether a path is another file for who
// asks, and is left out. When ctx ends, what was found by then is the Index.
func Walk(ctx context.Context, root *os.Root, covered func(string) bool) (*Index, error) {
	w := walker{ctx: ctx, x: &Index{}, covered: covered}
	err := w.folder(root, nil, nil)
	return w.x, err
}

type walker struct {
	ctx     context.Context
	x       *Index
	covered func(string) bool
}

// folder adds what is in one folder, then goes into its folders.
func (w *walker) folder(root *os.Root, names []string, all []rules) error {
	entries, err := w.read(root)
	if err != nil {
		return err
	}
	all = w.rulesOf(root, names, all, entries)
	dir := ""
	if len(names) > 0 {
		dir = strings.Join(names, "/") + "/"
	}
	for _, e := range entries {
		name := e.Name()
		switch {
		case name == ".git":
			continue
		case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
			w.x.Odd++
			continue
		case w.covered != nil && w.covered(dir+name):
			continue
		case ignored(all, append(names[:len(names):len(names)], name), e.IsDir()):
			w.x.Ignored++
			continue
		}
		path := dir + name
		if e.IsDir() {
			path += "/"
		}
		if !w.add(path) {
			return nil
		}
		if e.IsDir() {
			w.enter(root, append(names[:len(names):len(names)], name), all)
		}
	}
	return nil
}

func (w *walker) add(path string) bool {
	if len(w.x.paths) >= MaxNames || w.x.bytes+len(path) > maxBytes || w.ctx.Err() != nil {
		w.x.Partial = true
		return false
	}
	w.x.paths = append(w.x.paths, path)
	w.x.sets = append(w.x.sets, letters(lowered(path)))
	w.x.bytes += len(path)
	return true
}

// enter goes into a folder that is still the one that was seen, and no link by now. One
// that cannot be read has nothing to offer.
func (w *walker) enter(root *os.Root, names []string, all []rules) {
	if len(names) >= maxDepth {
		w.x.Partial = true
		return
	}
	if sub := folderIn(root, names[len(names)-1]); sub != nil {
		defer sub.Close()
		_ = w.folder(sub, names, all)
	}
}

// folderIn opens a folder; nil where it is none, or is another one by then.
func folderIn(root *os.Root, name string) *os.Root {
	seen, err := root.Lstat(name)
	if err != nil || !seen.IsDir() {
		return nil
	}
	sub, err := root.OpenRoot(name)
	if err != nil {
		return nil
	}
	if opened, err := sub.Stat("."); err != nil || !os.SameFile(seen, opened) {
		_ = sub.Close() // only looked at
		return nil
	}
	return sub
}

func (w *walker) read(root *os.Root) (out []fs.DirEntry, err error) {
	d, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	for {
		some, err := d.ReadDir(batch)
		out = append(out, some...)
		if len(out) > MaxNames || w.ctx.Err() != nil {
			w.x.Partial = true
			break
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return out, nil
}

// rulesOf adds the rules that a folder brings. A repository of its own, as a submodule is,
// begins anew.
func (w *walker) rulesOf(root *os.Root, names []string, all []rules, entries []fs.DirEntry) []rules {
	all = all[:len(all):len(all)]
	has := func(name string) (fs.DirEntry, bool) {
		i, ok := slices.BinarySearchFunc(entries, name, func(e fs.DirEntry, n string) int { return strings.Compare(e.Name(), n) })
		if !ok {
			return nil, false
		}
		return entries[i], true
	}
	add := func(text []byte) {
		r := parseRules(text, len(names))
		total := len(r.list)
		for _, other := range all {
			total += len(other.list)
		}
		if len(r.list) > 0 && total <= maxRuleOf {
			all = append(all, r)
		}
	}
	if git, ok := has(".git"); ok {
		all = nil
		if git.IsDir() {
			add(exclude(root))
		}
	}
	if f, ok := has(".gitignore"); ok && f.Type().IsRegular() {
		add(beginning(root, ".gitignore"))
	}
	return all
}

// exclude is what .git/info/exclude says. Neither folder may be a link.
func exclude(root *os.Root) []byte {
	git := folderIn(root, ".git")
	if git == nil {
		return nil
	}
	defer git.Close()
	info := folderIn(git, "info")
	if info == nil {
		return nil
	}
	defer info.Close()
	return beginning(info, "exclude")
}

// beginning is that of an ordinary file; nothing of anything else.
func beginning(root *os.Root, name string) []byte {
	text, err := atomicfile.ReadIn(root, name, maxIgnoreBytes)
	if err != nil && !errors.Is(err, atomicfile.ErrTooLarge) {
		return nil
	}
	return text
}
