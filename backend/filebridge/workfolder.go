package filebridge

import (
	"context"
	"errors"
	"os"

	"loop/backend/core"
)

// HostFile is where an ordinary file of a channel is on this computer, for a program of the
// person's. A link on the way was followed as the container would, so it leads out of no mount.
func (s *Service) HostFile(ctx context.Context, id core.ChannelID, path string) (file string, err error) {
	_, at, err := s.at(ctx, id, path, true)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, at.close()) }()
	if at.own {
		return "", core.Fail(core.CodeNotFound, nil, "The file is in the container alone.",
			"Look at it here, or open it in a terminal of the container.")
	}
	if err := at.there(); err != nil {
		return "", said(path, err)
	}
	// The program opens it by its path, which must still lead to what was found.
	now, err := os.Lstat(at.HostPath)
	switch {
	case !at.info.Mode().IsRegular():
		return "", said(path, errNoFile)
	case err != nil || !os.SameFile(now, at.info):
		return "", said(path, errors.Join(errChanged, err))
	}
	return at.HostPath, nil
}

// WorkFolder opens the folder of this computer in which a channel's agents work, or their copy
// of it. The caller closes its root.
func (s *Service) WorkFolder(ctx context.Context, id core.ChannelID) (f core.WorkFolder, err error) {
	v, at, err := s.at(ctx, id, "", true)
	if err != nil {
		return f, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, at.close())
		}
	}()
	if at.own {
		return f, core.Fail(core.CodeNotFound, nil, "The agents' folder is in the container alone.",
			"Mount a folder of this computer in its place.")
	}
	if err := at.there(); err != nil {
		return f, said(at.Path, err)
	}
	if at.name != "." {
		if err := at.enter(); err != nil {
			return f, said(at.Path, kernelFault(err))
		}
	}
	return core.WorkFolder{Root: at.root, Path: at.HostPath, ReadOnly: at.ReadOnly, Covered: v.covers(at)}, nil
}
