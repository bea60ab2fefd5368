package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"loop/backend/core"
)

// Following is a transcript that is read from an offset on, as far as it is written.
type Following struct {
	io.Reader       // from the offset to Size
	Size      int64 // of the transcript; less than the offset: it is another one now
	closing   []func()

	root   *os.Root
	beside string   // the folder of the session's other files
	agents *os.Root // below it, nil until it is asked for
}

// Close lets others read.
func (f *Following) Close() error {
	for _, end := range f.closing {
		end()
	}
	return nil
}

// Follow opens a session's transcript at an offset. workDir is where the agent works, as it
// sees it; a transcript that lies elsewhere is looked for. core.ErrNotFound when there is none, core.ErrConflict when Loop does not read
// what is there: no ordinary file, or one that is too long.
// What it returns is closed soon: one reader of a state works at a time.
func (s *Service) Follow(ctx context.Context, ch core.Channel, session core.SessionID, offset int64) (_ *Following, err error) {
	if !validID(string(session)) || offset < 0 {
		return nil, fmt.Errorf("follow a transcript: %w", core.ErrNotFound)
	}
	out := &Following{}
	defer func() {
		if err != nil {
			_ = out.Close()
		}
	}()
	root, err := s.root(ch)
	if err != nil {
		return nil, err
	}
	out.closing = append(out.closing, func() { _ = root.Close() })
	done, err := s.enter(ctx, s.owner(ch))
	if err != nil {
		return nil, err
	}
	out.closing = append(out.closing, done)
	file := path.Join(projectsDir, folder(s.opts.WorkDir(ch.Dir)), string(session)+suffix)
	f, info, err := openFile(root, file)
	if err != nil {
		if file, err = find(root, session); err != nil {
			return nil, err
		}
		if f, info, err = openFile(root, file); errors.Is(err, errNotRegular) {
			err = fmt.Errorf("%w: %w", core.ErrConflict, err)
		}
		if err != nil {
			return nil, fmt.Errorf("open transcript: %w", err)
		}
	}
	out.closing = append(out.closing, func() { _ = f.Close() })
	out.root, out.beside = root, strings.TrimSuffix(file, suffix)
	if out.Size = info.Size(); out.Size > maxTranscript {
		return nil, ErrTooLong
	}
	if _, err = f.Seek(offset, io.SeekStart); err != nil {
		return nil, fmt.Errorf("read transcript: %w", err)
	}
	out.Reader = io.LimitReader(f, max(out.Size-offset, 0))
	return out, nil
}

// ErrTooLong is a transcript that is longer than Loop reads.
var ErrTooLong = fmt.Errorf("%w: the transcript is too long", core.ErrConflict)
