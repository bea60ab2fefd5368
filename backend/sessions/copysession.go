package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"loop/backend/core"
	"loop/backend/runner/transcript"
)

// Copy puts a session of one channel into another channel's state, where the
// CLI finds it under the other directory: it looks by working directory only,
// and takes the transcript as it is. Both directories are the host's. The
// session keeps its id. core.ErrNotFound when there is no such transcript.
func (s *Service) Copy(ctx context.Context, from, to core.Channel, fromDir, toDir string, session core.SessionID) error {
	return s.copy(ctx, s.owner(from), s.owner(to), s.opts.WorkDir(fromDir), s.opts.WorkDir(toDir), session)
}

// copy is Copy between states; directories are those that agents see.
func (s *Service) copy(ctx context.Context, from, to core.ChannelID, fromDir, toDir string, session core.SessionID) error {
	if !validID(string(session)) {
		return errGone
	}
	src, err := s.rootOf(from)
	if err != nil {
		return gone(err)
	}
	defer src.Close()
	name := string(session) + suffix
	file := path.Join(projectsDir, folder(fromDir), name)
	if _, err := src.Lstat(file); err != nil {
		if file, err = find(src, session); err != nil {
			return gone(err)
		}
	}
	in, info, err := openFile(src, file)
	if err != nil {
		return fmt.Errorf("open transcript: %w", err)
	}
	defer in.Close()
	if info.Size() > maxTranscript {
		return core.Fail(core.CodeInvalid, nil, fmt.Sprintf("The conversation is longer than %d MiB and is not copied.", maxTranscript>>20),
			"Start with a fresh conversation.")
	}
	if !validID(string(to)) {
		return fmt.Errorf("copy transcript: %w: channel %q", core.ErrNotFound, to)
	}
	state := filepath.Join(s.opts.Home, "channels", string(to), "claude")
	if err := os.MkdirAll(state, 0o700); err != nil {
		return fmt.Errorf("make Claude folder: %w", err)
	}
	dst, err := os.OpenRoot(state)
	if err != nil {
		return fmt.Errorf("open Claude folder: %w", err)
	}
	defer dst.Close()
	dir := path.Join(projectsDir, folder(toDir))
	if err := dst.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make folder of transcripts: %w", err)
	}
	return place(ctx, dst, dir, name, in)
}

// place writes beside the name and renames, so that no half a transcript is
// ever found under it.
func place(ctx context.Context, root *os.Root, dir, name string, in io.Reader) (err error) {
	part := path.Join(dir, ".copy-"+core.NewID())
	out, err := root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write transcript: %w", err)
	}
	defer func() {
		if err != nil {
			_ = root.Remove(part)
		}
	}()
	end := int64(0) // of the last whole line; an agent may be writing the next
	lines := transcript.NewReader(io.TeeReader(io.LimitReader(in, maxTranscript), out), 0)
	for err == nil {
		var l transcript.Line
		if l, err = lines.Next(); err == nil && !l.Open {
			end = l.End
		}
		err = errors.Join(err, ctx.Err())
	}
	if !errors.Is(err, io.EOF) || ctx.Err() != nil {
		return errors.Join(fmt.Errorf("copy transcript: %w", err), out.Close())
	}
	if err := errors.Join(out.Truncate(end), out.Close()); err != nil {
		return fmt.Errorf("write transcript: %w", err)
	}
	if end == 0 {
		_ = root.Remove(part)
		return errGone
	}
	if err := root.Rename(part, path.Join(dir, name)); err != nil {
		return fmt.Errorf("name transcript: %w", err)
	}
	return nil
}

// gone turns an absence into a sentence.
func gone(err error) error {
	if errors.Is(err, core.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return errGone
	}
	return err
}
