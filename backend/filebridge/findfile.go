package filebridge

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"loop/backend/core"
)

// maxLinks is how many links a path may go through, as in Linux.
const maxLinks = 40

// place is what a path leads to.
type place struct {
	core.FilePlace
	own bool // the container's own: on no mount of this computer
	// root is the folder that has name, opened without a link on the way; "." is root
	// itself. Both are for what is mounted.
	root  *os.Root
	name  string
	info  fs.FileInfo // nil: nothing is there
	mount core.Mount
	top   bool // the mount itself
}

func (p *place) close() error {
	if p.root == nil {
		return nil
	}
	return p.root.Close()
}

// find goes to what a path of the container names. A link is followed by its own words, as
// the container would: it may lead into another mount, or to a file of the container's own.
// One that is the last name is followed only if follow. The caller closes the place.
func find(table core.MountTable, inside string, follow bool) (*place, error) {
	at := path.Clean(inside)
	for range maxLinks {
		p, next, err := step(table, at, follow)
		if err != nil || next == "" {
			return p, err
		}
		at = next
	}
	return nil, errLinks
}

// step is find as far as the first link, whose end is next.
func step(table core.MountTable, at string, follow bool) (p *place, next string, err error) {
	m, rest, ok := table.At(at)
	if table.Twin(at) {
		return nil, "", errTwin
	}
	p = &place{FilePlace: core.FilePlace{Path: at}, mount: m}
	if !ok || m.Volume {
		p.own = true
		return p, "", nil
	}
	p.ReadOnly, p.HostPath = m.ReadOnly, filepath.Join(m.Source, filepath.FromSlash(rest))
	defer func() {
		if err != nil || next != "" {
			err = errors.Join(err, p.close())
			p = nil
		}
	}()
	if err := p.openMount(table); err != nil {
		return p, "", err
	}
	if rest == "" {
		return p, "", nil
	}
	if p.name != "." {
		return p, "", errNoFolder // below a single file
	}
	p.top = false
	seen := path.Clean(m.Target)
	names := strings.Split(rest, "/")
	for i, name := range names {
		last := i == len(names)-1
		p.name = name
		p.info, err = p.root.Lstat(name)
		switch {
		case last && errors.Is(err, fs.ErrNotExist):
			p.info = nil
			return p, "", nil
		case err != nil:
			return p, "", err
		case p.info.Mode()&fs.ModeSymlink != 0 && (!last || follow):
			target, err := p.root.Readlink(name)
			if err != nil {
				return p, "", err
			}
			return p, linkEnd(seen, target, names[i+1:]), nil
		case last:
			return p, "", nil
		}
		if err := p.enter(); err != nil {
			return p, "", err
		}
		seen = path.Join(seen, name)
	}
	return p, "", nil
}

// linkEnd is the path that a link in dir leads to, and the names behind it.
func linkEnd(dir, target string, behind []string) string {
	if !path.IsAbs(target) {
		target = path.Join(dir, target)
	}
	return path.Join(append([]string{target}, behind...)...)
}

// enter makes the folder that p is p's root, if it is still the one that was looked at.
func (p *place) enter() error {
	if !p.info.IsDir() {
		return errNoFolder
	}
	sub, err := p.root.OpenRoot(p.name)
	if err != nil {
		return err
	}
	opened, err := sub.Stat(".")
	if err != nil || !os.SameFile(p.info, opened) {
		return errors.Join(errChanged, err, sub.Close())
	}
	err = p.root.Close()
	p.root, p.name, p.info = sub, ".", opened
	return err
}

// openMount opens the source of the mount. One that lies in what another mount shows can
// have been moved by an agent, so the way there is gone name by name from the outer one.
func (p *place) openMount(table core.MountTable) (err error) {
	p.top = true
	dir, rest := p.mount.Source, ""
	if outer, below, ok := table.Outer(p.mount.Source); ok {
		dir, rest = outer.Source, below
	} else if info, err := os.Stat(dir); err != nil {
		return err
	} else if !info.IsDir() {
		dir, rest = filepath.Dir(dir), filepath.Base(dir)
	}
	if p.root, err = os.OpenRoot(dir); err != nil {
		return err
	}
	p.name = "."
	if p.info, err = p.root.Stat("."); err != nil || rest == "" {
		return err
	}
	for i, name := range strings.Split(rest, "/") {
		if i > 0 {
			if err := p.enter(); err != nil {
				return err
			}
		}
		p.name = name
		if p.info, err = p.root.Lstat(name); err != nil {
			return err
		}
		if p.info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s: %w", core.CleanTitle(p.mount.Source), errMoved)
		}
	}
	if p.info.IsDir() {
		return p.enter()
	}
	return nil
}
