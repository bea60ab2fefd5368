package filesearch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ErrTooDeep is what Each says of folders in folders in folders.
var ErrTooDeep = errors.New("folders are nested too deeply")

// Seen is one file, link or folder as Each finds it.
type Seen struct {
	Dir     *os.Root // the folder that has it, open while it is looked at
	Name    string
	Path    string // below the folder that Each was given, with slashes
	Entry   fs.DirEntry
	Ignored bool // by git; nothing is said of what is in such a folder
	Odd     bool // the name is no text, or has control characters; nothing is said of what is in it
	Empty   bool // a folder with nothing in it
}

// Each calls visit for everything below a folder but git's own folders, and what is covered;
// for a folder only where it is empty, ignored or odd. tracked names what is looked at
// although git ignores it: files, and folders on the way to them. Unlike Walk it is whole, or
// an error.
func Each(ctx context.Context, root *os.Root, covered, tracked func(path string) bool, visit func(Seen) error) error {
	e := each{walker{ctx: ctx, x: &Index{}, covered: covered}, tracked, visit}
	return e.folder(root, nil, nil)
}

type each struct {
	walker
	tracked func(string) bool
	visit   func(Seen) error
}

func (e *each) folder(root *os.Root, names []string, all []rules) error {
	entries, err := e.read(root)
	if err != nil {
		return fmt.Errorf("read folder: %w", err)
	}
	return e.among(root, names, all, entries)
}

// among looks at what is in a folder.
func (e *each) among(root *os.Root, names []string, all []rules, entries []fs.DirEntry) error {
	switch {
	case e.ctx.Err() != nil:
		return e.ctx.Err()
	case e.x.Partial:
		return errors.New("a folder has too many files")
	case len(names) >= maxDepth:
		return ErrTooDeep
	}
	all = e.rulesOf(root, names, all, entries)
	dir := ""
	if len(names) > 0 {
		dir = strings.Join(names, "/") + "/"
	}
	for _, entry := range entries {
		name := entry.Name()
		if name == ".git" || e.covered != nil && e.covered(dir+name) {
			continue
		}
		below := append(names[:len(names):len(names)], name)
		s := Seen{Dir: root, Name: name, Path: dir + name, Entry: entry}
		s.Odd = !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl)
		s.Ignored = !s.Odd && ignored(all, below, entry.IsDir()) && !e.tracked(s.Path)
		if entry.IsDir() && !s.Odd && !s.Ignored {
			if err := e.into(s, below, all); err != nil {
				return err
			}
			continue
		}
		if err := e.visit(s); err != nil {
			return err
		}
	}
	return nil
}

// into goes into a folder. One that is gone or another one by now has nothing to offer; one
// that may not be read is visited, so that it is known to be there.
func (e *each) into(s Seen, names []string, all []rules) error {
	sub := folderIn(s.Dir, s.Name)
	if sub == nil {
		return e.visit(s)
	}
	defer sub.Close()
	entries, err := e.read(sub)
	if err != nil && e.ctx.Err() == nil {
		return e.visit(s)
	}
	if len(entries) == 0 && !e.x.Partial {
		s.Empty = true
		return e.visit(s)
	}
	return e.among(sub, names, all, entries)
}
