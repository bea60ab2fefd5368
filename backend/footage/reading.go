package footage

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"

	"loop/backend/core"
)

// Frames returns a run's frames by time, each act's with its tool call.
func (s *Service) Frames(ctx context.Context, run core.RunID) ([]core.KeptFrame, error) {
	list, err := s.o.Rows.Frames(ctx, run)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	calls, err := s.o.Runs.BrowserCalls(ctx, run)
	if err != nil {
		return nil, err
	}
	return join(list, calls), nil
}

// OpenFrame opens the picture of a frame, which never changes. The caller closes it.
func (s *Service) OpenFrame(ctx context.Context, id int64, picture string) (io.ReadSeekCloser, error) {
	f, err := s.o.Rows.FrameFile(ctx, id)
	switch {
	case errors.Is(err, core.ErrNotFound) || err == nil && (picture == "" || f.Picture != picture):
		return nil, gone(err)
	case err != nil:
		return nil, err
	}
	dir, err := folder(f.ChannelID, f.RunID)
	if err != nil {
		return nil, gone(err)
	}
	file, err := os.OpenInRoot(s.o.Home, path.Join(dir, picture+ending))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, gone(err)
	case err != nil:
		return nil, core.Fail(core.CodeDir, err, "The picture cannot be read.", "Check who owns "+path.Join(s.o.Home, dir)+".")
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() != f.Bytes {
		return nil, core.Fail(core.CodeDir, errors.Join(err, file.Close()), "The file of the picture is damaged.",
			"The frames before and after it may be whole.")
	}
	return file, nil
}

func gone(err error) error {
	return core.Fail(core.CodeNotFound, errors.Join(core.ErrNotFound, err), "There is no such picture.",
		"A run with very many keeps only some of them, and old ones are removed.")
}
