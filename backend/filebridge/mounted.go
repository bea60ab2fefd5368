package filebridge

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"loop/backend/atomicfile"
	"loop/backend/core"
	"loop/backend/wire"
)

// markOf names a content.
func markOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func fileOf(root *os.Root, name string, info fs.FileInfo) core.ContainerFile {
	f := core.ContainerFile{Name: name, Kind: core.FileOther, Bytes: info.Size(), ModifiedMs: info.ModTime().UnixMilli()}
	switch {
	case info.Mode().IsRegular():
		f.Kind = core.FileOrdinary
	case info.IsDir():
		f.Kind = core.FileFolder
	case info.Mode()&fs.ModeSymlink != 0:
		f.Kind = core.FileLink
		f.Link, _ = root.Readlink(name) // a link that is gone by now says nothing
	}
	return f
}

func (p *place) there() error {
	if p.info == nil {
		return fs.ErrNotExist
	}
	return nil
}

// list is what is in the folder, most names at most.
func (p *place) list(most int) (out []core.ContainerFile, left string, err error) {
	if err := p.there(); err != nil {
		return nil, "", err
	}
	if p.name != "." {
		if err := p.enter(); err != nil {
			return nil, "", err
		}
	}
	d, err := p.root.Open(".")
	if err != nil {
		return nil, "", err
	}
	defer d.Close()
	entries, err := d.ReadDir(most + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, "", err
	}
	if len(entries) > most {
		entries, left = entries[:most], tooMany
	}
	for _, e := range entries {
		info, err := p.root.Lstat(e.Name()) // its own Info goes by the folder's path, which may have moved
		switch {
		case err != nil: // it is gone by now
		case !utf8.ValidString(e.Name()):
			left = oddNames
		default:
			out = append(out, fileOf(p.root, e.Name(), info))
		}
	}
	slices.SortFunc(out, func(a, b core.ContainerFile) int { return strings.Compare(a.Name, b.Name) })
	return out, left, nil
}

// read is the beginning of an ordinary file, from the file that was found.
func (p *place) read(most int64) ([]byte, error) {
	if err := p.there(); err != nil {
		return nil, err
	}
	if !p.info.Mode().IsRegular() {
		return nil, errNoFile
	}
	f, err := p.root.OpenFile(p.name, os.O_RDONLY|atomicfile.NoWait, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil || !os.SameFile(p.info, opened) {
		return nil, errors.Join(errChanged, err)
	}
	return io.ReadAll(io.LimitReader(f, most))
}

// changeable refuses what is mounted itself, and what may only be read.
func (p *place) changeable(table core.MountTable) error {
	switch {
	case p.ReadOnly:
		return errReadOnly
	case p.top || len(table.Below(p.Path)) > 0:
		return errMounted
	}
	return nil
}

// write makes data the content of the file in one step, if its content has the mark; with
// an empty one, if there is no file.
func (p *place) write(data []byte, mark string) error {
	w := atomicfile.Writer{Root: p.root, Mode: 0o644, Durable: true, Like: p.info}
	if mark == "" {
		if p.info != nil {
			return fs.ErrExist
		}
		f, err := p.root.OpenFile(p.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, w.Mode)
		if err != nil {
			return err
		}
		made, err := f.Stat()
		if err = errors.Join(err, f.Close()); err == nil {
			err = w.Replace(p.name, data)
		}
		if err != nil {
			p.unmake(made)
		}
		return err
	}
	now, err := p.read(wire.MaxFileBytes + 1)
	switch {
	case err != nil:
		return err
	case len(now) > wire.MaxFileBytes:
		return errTooLarge
	case markOf(now) != mark:
		return errChanged
	}
	return w.Replace(p.name, data)
}

// unmake removes the empty file of a write that failed, which the next try would find there.
func (p *place) unmake(made fs.FileInfo) {
	now, err := p.root.Lstat(p.name)
	if err == nil && made != nil && os.SameFile(made, now) && now.Size() == 0 {
		_ = p.root.Remove(p.name) // the write says why it failed
	}
}

func (p *place) mkdir() error {
	if p.info != nil {
		return fs.ErrExist
	}
	return p.root.Mkdir(p.name, 0o755)
}

// remove removes a file, a link, or a folder, with all that is in it only if all.
func (p *place) remove(all bool) error {
	if err := p.there(); err != nil {
		return err
	}
	if all {
		return p.root.RemoveAll(p.name)
	}
	return p.root.Remove(p.name)
}

// rename gives what p is the name of to, where nothing is.
func (p *place) rename(to *place) error {
	switch {
	case p.info == nil:
		return fs.ErrNotExist
	case to.info != nil:
		return fs.ErrExist
	case p.mount != to.mount:
		return errOtherDisk
	}
	a, aerr := p.root.Stat(".")
	b, berr := to.root.Stat(".")
	if err := errors.Join(aerr, berr); err != nil {
		return err
	}
	return p.move(to, os.SameFile(a, b))
}
