package sessions

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"loop/backend/core"
	"loop/backend/runner/transcript"
)

// Length is how long the transcript of a session is, in bytes. known is false where it cannot
// be found.
func (s *Service) Length(ch core.Channel, session core.SessionID) (bytes int64, known bool) {
	root, file, err := s.locate(ch, session)
	if err != nil {
		return 0, false
	}
	defer root.Close()
	info, err := root.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return 0, false
	}
	return info.Size(), true
}

// locate opens a channel's state and finds the transcript of a session in it.
func (s *Service) locate(ch core.Channel, session core.SessionID) (*os.Root, string, error) {
	if !validID(string(session)) {
		return nil, "", errGone
	}
	root, err := s.root(ch)
	if err != nil {
		return nil, "", gone(err)
	}
	file := path.Join(projectsDir, folder(s.opts.WorkDir(ch.Dir)), string(session)+suffix)
	if _, err := root.Lstat(file); err == nil {
		return root, file, nil
	}
	if file, err = find(root, session); err != nil {
		return nil, "", errors.Join(gone(err), root.Close())
	}
	return root, file, nil
}

// Cut copies a session as it was when its transcript had some length, to a new session beside
// it, and returns that one's id. One that is as long still is returned itself. The transcript
// only grows, so its beginning is the conversation of then; a fork at a message would not reach
// back behind a summary that was made since.
func (s *Service) Cut(ctx context.Context, ch core.Channel, session core.SessionID, length int64) (core.SessionID, error) {
	root, file, err := s.locate(ch, session)
	if err != nil {
		return "", err
	}
	defer root.Close()
	in, info, err := openFile(root, file)
	if err != nil {
		return "", fmt.Errorf("open transcript: %w", err)
	}
	defer in.Close()
	switch {
	case info.Size() == length:
		return session, nil
	case info.Size() < length:
		return "", errGone // another one, under the same name
	case length > maxTranscript:
		return "", core.Fail(core.CodeInvalid, nil, fmt.Sprintf("The conversation was longer than %d MiB, and is not copied.", maxTranscript>>20),
			"Go back with the files only.")
	}
	id := newUUID()
	dir := path.Dir(file)
	part := path.Join(dir, ".cut-"+core.NewID())
	out, err := root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", fmt.Errorf("write transcript: %w", err)
	}
	n, err := renamed(ctx, out, io.LimitReader(in, length), string(session), id)
	if err = errors.Join(err, out.Close()); err == nil && n == 0 {
		err = errGone
	}
	if err == nil {
		err = root.Rename(part, path.Join(dir, id+suffix))
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("copy transcript: %w", err), root.Remove(part))
	}
	return core.SessionID(id), nil
}

// renamed copies whole lines, which name their session by another id then. It returns how many.
func renamed(ctx context.Context, out io.Writer, in io.Reader, from, to string) (n int, err error) {
	w := bufio.NewWriter(out)
	was, is := []byte(`"sessionId":"`+from+`"`), []byte(`"sessionId":"`+to+`"`)
	lines := transcript.NewReader(in, 0)
	for {
		l, err := lines.Next()
		if errors.Is(err, io.EOF) || err == nil && l.Open {
			return n, w.Flush()
		}
		if err != nil || ctx.Err() != nil {
			return n, errors.Join(err, ctx.Err())
		}
		if l.Cut > 0 {
			return n, core.Fail(core.CodeInvalid, nil, "A line of the conversation is too long to be copied.", "Go back with the files only.")
		}
		n++
		if _, err := w.Write(append(bytes.ReplaceAll(l.Data, was, is), '\n')); err != nil {
			return n, err
		}
	}
}

// newUUID is an id as the CLI makes them.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
