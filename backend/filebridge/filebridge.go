package filebridge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"loop/backend/core"
	"loop/backend/provision"
	"loop/backend/wire"
)

const (
	tooMany  = "The folder has more than 5,000 files; the rest is not listed."
	oddNames = "Files whose names are not text are not listed."
	offline  = "No container runs, so only what is mounted is listed."
)

var errNoContainer = errors.New("no container runs")

// Channels finds channels; one that is gone is core.ErrNotFound.
type Channels interface {
	Channel(ctx context.Context, id core.ChannelID) (core.Channel, error)
}

// Provision says what a channel's next container would be, and which of them there are. It
// makes nothing.
type Provision interface {
	Look(ctx context.Context, w provision.Want) (core.Spec, error)
	Scopes(ctx context.Context, ch core.Channel) ([]string, error)
}

// Containers are those of this Loop folder.
type Containers interface {
	InScopes(scopes ...string) []core.Container
}

// Policies makes the documents that supervisors go by; nil says that a program is not
// supervised.
type Policies interface {
	Policy(name string, ch core.Channel, spec core.Spec, spawn core.SpawnID) ([]byte, error)
}

// Options of a Service; all are required.
type Options struct {
	Channels   Channels
	Provision  Provision
	Containers Containers
	Links      provision.Links
	Policies   Policies
}

// Service reads and changes files. Methods may be called from any goroutine. A path is that
// of a container or of this computer; one that is not absolute is below the folder in which
// the channel's agents work. Errors are *core.Failure wherever the path is at fault.
type Service struct {
	o        Options
	searches searches
}

// New returns a Service, which does nothing by itself.
func New(o Options) *Service { return &Service{o: o} }

// view is how a channel's container sees files.
type view struct {
	table   core.MountTable
	scopes  []string
	channel core.Channel
	spec    core.Spec
}

func (s *Service) channel(ctx context.Context, id core.ChannelID) (core.Channel, error) {
	ch, err := s.o.Channels.Channel(ctx, id)
	if errors.Is(err, core.ErrNotFound) {
		return ch, core.Fail(core.CodeNotFound, err, "This channel does not exist any more.", "Choose another channel.")
	}
	if err != nil {
		return ch, fmt.Errorf("read channel: %w", err)
	}
	return ch, nil
}

func (s *Service) view(ctx context.Context, id core.ChannelID) (v view, err error) {
	ch, err := s.channel(ctx, id)
	if err != nil {
		return v, err
	}
	spec, err := s.o.Provision.Look(ctx, provision.Want{Channel: ch, Shared: true})
	if err != nil {
		return v, fmt.Errorf("find the container's mounts: %w", err)
	}
	if v.scopes, err = s.o.Provision.Scopes(ctx, ch); err != nil {
		return v, fmt.Errorf("find the channel's containers: %w", err)
	}
	v.table, v.channel, v.spec = core.NewMountTable(mountsOf(spec), runtime.GOOS), ch, spec
	return v, nil
}

// inside is a path as the container has it.
func (v view) inside(p string) (string, error) {
	if strings.ContainsFunc(p, unicode.IsControl) || !utf8.ValidString(p) || len(p) > maxPath {
		return "", core.Fail(core.CodeInvalid, nil, "That is no name of a file.", "Look at the file in a terminal.")
	}
	if path.IsAbs(p) {
		if _, _, ok := v.table.At(p); ok {
			return path.Clean(p), nil
		}
	}
	if v.table.OnHost(p) {
		if at, err := v.table.Inside(p); err == nil {
			return at, nil
		} else if !path.IsAbs(p) { // of Windows
			return "", err
		}
	}
	if !path.IsAbs(p) {
		p = path.Join(v.spec.WorkDir, p)
	}
	return path.Clean(p), nil
}

// at goes to what a path names and has a look at it.
func (s *Service) at(ctx context.Context, ch core.ChannelID, p string, follow bool) (v view, at *place, err error) {
	if v, err = s.view(ctx, ch); err != nil {
		return v, nil, err
	}
	inside, err := v.inside(p)
	if err != nil {
		return v, nil, err
	}
	at, err = find(v.table, inside, follow)
	return v, at, said(p, kernelFault(err))
}

// Stat says what a path leads to.
func (s *Service) Stat(ctx context.Context, ch core.ChannelID, p string) (out core.FileStat, err error) {
	v, at, err := s.at(ctx, ch, p, true)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, at.close()) }()
	if at.own {
		r, err := s.ask(ctx, v, wire.FileRequest{Op: wire.FileStat, Path: at.Path})
		if err != nil {
			return out, said(p, err)
		}
		return statFrom(at.Path, r)
	}
	if err := at.there(); err != nil {
		return out, said(p, err)
	}
	return at.stat(), nil
}

func (p *place) stat() core.FileStat {
	f := fileOf(p.root, p.name, p.info)
	f.Name = path.Base(p.Path)
	return core.FileStat{FilePlace: p.FilePlace, ContainerFile: f}
}

func statFrom(at string, r wire.FileReply) (core.FileStat, error) {
	place := placeOf(at, r)
	r.File.Name = path.Base(place.Path)
	f, ok := fileFrom(r.File)
	if !ok {
		return core.FileStat{}, errors.New("loop files named no file")
	}
	return core.FileStat{FilePlace: place, ContainerFile: f}, nil
}

// List lists a folder, at most 5,000 files of it.
func (s *Service) List(ctx context.Context, ch core.ChannelID, p string) (out core.FileListing, err error) {
	v, at, err := s.at(ctx, ch, p, true)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, at.close()) }()
	out.FilePlace = at.FilePlace
	if at.own {
		err = s.listOwn(ctx, v, &out)
	} else {
		out.Files, out.Left, err = at.list(wire.MaxFileList)
		v.addMounts(&out)
	}
	if out.Files == nil {
		out.Files = []core.ContainerFile{}
	}
	return out, said(p, kernelFault(err))
}

func (s *Service) listOwn(ctx context.Context, v view, out *core.FileListing) error {
	r, err := s.ask(ctx, v, wire.FileRequest{Op: wire.FileList, Path: out.Path})
	if errors.Is(err, errNoContainer) && len(v.table.Below(out.Path)) > 0 {
		out.Left = offline
		v.addMounts(out)
		return nil
	}
	if err != nil {
		return err
	}
	out.FilePlace = placeOf(out.Path, r)
	if r.More {
		out.Left = tooMany
	}
	for _, f := range r.Files {
		if file, ok := fileFrom(f); ok && isName(f.Name) {
			out.Files = append(out.Files, file)
		} else {
			out.Left = oddNames
		}
	}
	return nil
}

// addMounts adds folders on the way to mounts that this computer does not have there.
func (v view) addMounts(out *core.FileListing) {
	for _, target := range v.table.Below(out.Path) {
		name, _, below := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(target, out.Path), "/"), "/")
		if slices.ContainsFunc(out.Files, func(f core.ContainerFile) bool { return strings.EqualFold(f.Name, name) }) {
			continue
		}
		kind := core.FileFolder
		if !below {
			kind = v.kindOf(target)
		}
		out.Files = append(out.Files, core.ContainerFile{Name: name, Kind: kind})
	}
	slices.SortFunc(out.Files, func(a, b core.ContainerFile) int { return strings.Compare(a.Name, b.Name) })
}

// kindOf is what is mounted at a target; a folder where that cannot be seen.
func (v view) kindOf(target string) core.FileKind {
	at, err := find(v.table, target, true)
	if err != nil || at.own || at.info == nil {
		return core.FileFolder
	}
	defer at.close()
	return fileOf(at.root, at.name, at.info).Kind
}

// Read reads the first most bytes of an ordinary file, 8 MiB at most.
func (s *Service) Read(ctx context.Context, ch core.ChannelID, p string, most int64) (out core.FileContent, err error) {
	most = max(0, min(most, wire.MaxFileBytes))
	v, at, err := s.at(ctx, ch, p, true)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, at.close()) }()
	if at.own {
		r, err := s.ask(ctx, v, wire.FileRequest{Op: wire.FileRead, Path: at.Path, Most: most})
		if err != nil {
			return out, said(p, err)
		}
		if int64(len(r.Data)) > most {
			return out, said(p, errTooMuch)
		}
		if out.FileStat, err = statFrom(at.Path, r); err != nil {
			return out, err
		}
		out.Data = r.Data
	} else {
		if out.Data, err = at.read(most); err != nil {
			return out, said(p, kernelFault(err))
		}
		out.FileStat = at.stat()
	}
	n := int64(len(out.Data)) // of /proc and the like the size says nothing
	if out.Whole = n == out.Bytes || n > out.Bytes && n < most; out.Whole {
		out.Mark = markOf(out.Data)
	}
	return out, nil
}

// Write makes data the content of a file in one step. mark is that of its content, by Read;
// with an empty one the file must not be there.
func (s *Service) Write(ctx context.Context, ch core.ChannelID, p string, data []byte, mark string) error {
	if len(data) > wire.MaxFileBytes {
		return said(p, errTooLarge)
	}
	return s.change(ctx, ch, p, true, wire.FileRequest{Op: wire.FileWrite, Data: data, Mark: mark},
		func(at *place) error { return at.write(data, mark) })
}

// Mkdir makes one folder.
func (s *Service) Mkdir(ctx context.Context, ch core.ChannelID, p string) error {
	return s.change(ctx, ch, p, true, wire.FileRequest{Op: wire.FileMkdir}, (*place).mkdir)
}

// Remove removes a file, a link, or a folder, which must be empty unless all.
func (s *Service) Remove(ctx context.Context, ch core.ChannelID, p string, all bool) error {
	return s.change(ctx, ch, p, false, wire.FileRequest{Op: wire.FileRemove, All: all},
		func(at *place) error { return at.remove(all) })
}

func (s *Service) change(
	ctx context.Context, ch core.ChannelID, p string, follow bool, req wire.FileRequest, do func(*place) error,
) (err error) {
	v, at, err := s.at(ctx, ch, p, follow)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, at.close()) }()
	if at.own {
		req.Path = at.Path
		_, err := s.ask(ctx, v, req)
		return said(p, err)
	}
	if err = at.changeable(v.table); err == nil {
		err = do(at)
	}
	return said(p, kernelFault(err))
}

// Rename gives a file or a folder another path on the same mount, where nothing is.
func (s *Service) Rename(ctx context.Context, ch core.ChannelID, from, to string) (err error) {
	v, a, err := s.at(ctx, ch, from, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	inside, err := v.inside(to)
	if err != nil {
		return err
	}
	b, err := find(v.table, inside, false)
	if err != nil {
		return said(to, kernelFault(err))
	}
	defer func() { err = errors.Join(err, b.close()) }()
	switch {
	case a.own != b.own:
		return said(from, errOtherDisk)
	case a.own:
		_, err := s.ask(ctx, v, wire.FileRequest{Op: wire.FileRename, Path: a.Path, To: b.Path})
		return said(from, err)
	}
	if err := a.changeable(v.table); err != nil {
		return said(from, err)
	}
	if err := b.changeable(v.table); err != nil {
		return said(to, err)
	}
	err = kernelFault(a.rename(b))
	if errors.Is(err, fs.ErrExist) {
		return said(to, err)
	}
	return said(from, err)
}
