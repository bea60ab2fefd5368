package filebridge

import (
	"context"
	"errors"

	"loop/backend/core"
)

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
