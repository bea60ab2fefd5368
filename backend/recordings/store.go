package recordings

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"sync"
	"time"

	"loop/backend/core"
)

const (
	maxListed = 1000    // newest ones
	maxHeader = 8 << 10 // bytes of a first line: a title has 200 characters
	// tailBytes finds the last event: one has at most 64 KiB of output, and each
	// byte of it is six at most in JSON.
	tailBytes = 512 << 10
	// maxTimestamp is the end of the year 9999, the last that JSON can say.
	maxTimestamp = 253402300799
)

// nameForm is a recording's name: when it began, and some of the session's id.
var nameForm = regexp.MustCompile(`^[0-9]{8}T[0-9]{6}\.[0-9]{3}Z-[0-9a-f]{8}\.cast$`)

// Store is the folder. Methods may be called from any goroutine.
type Store struct {
	dir string
	now func() time.Time

	mu   sync.Mutex
	open map[string]bool // being written
}

// New keeps recordings in dir, which is made with the first one. now is
// time.Now.
func New(dir string, now func() time.Time) *Store {
	return &Store{dir: dir, now: now, open: map[string]bool{}}
}

// Begin starts a recording of a session as it is now. The caller closes it.
func (s *Store) Begin(i core.TerminalInfo) (*Tape, error) {
	t, err := s.begin(i)
	if err != nil {
		return nil, core.Fail(core.CodeDir, err, "The recording could not be begun.",
			"Check that the disk is not full and who owns "+s.dir+".")
	}
	return t, nil
}

func (s *Store) begin(i core.TerminalInfo) (*Tape, error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make folder of recordings: %w", err)
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, fmt.Errorf("open folder of recordings: %w", err)
	}
	defer root.Close()
	begun := s.now()
	name := fmt.Sprintf("%s-%.8s.cast", begun.UTC().Format("20060102T150405.000Z"), i.ID)
	if !nameForm.MatchString(name) {
		return nil, fmt.Errorf("name recording: %q is no session: %w", i.ID, fs.ErrInvalid)
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("make recording: %w", err)
	}
	t := &Tape{name: name, file: f, now: s.now, begun: begun, ended: func() { s.writing(name, false) }}
	s.writing(name, true)
	if err := t.begin(i); err != nil {
		return nil, errors.Join(err, t.Close(), root.Remove(name))
	}
	return t, nil
}

func (s *Store) writing(name string, on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[name] = on
}

// Recordings lists what there is, newest first. A file that cannot be read as a
// recording is left out.
func (s *Store) Recordings(ctx context.Context) ([]core.Recording, error) {
	out := []core.Recording{}
	root, err := os.OpenRoot(s.dir)
	var entries []fs.DirEntry // by name, which begins with the time
	if err == nil {
		defer root.Close()
		entries, err = fs.ReadDir(root.FS(), ".")
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return out, nil
	case err != nil:
		return nil, core.Fail(core.CodeDir, err, "The folder of recordings cannot be read.", "Check who owns "+s.dir+".")
	}
	for _, e := range slices.Backward(entries) {
		if !e.Type().IsRegular() || !nameForm.MatchString(e.Name()) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if r, err := look(root, e.Name()); err == nil {
			out = append(out, r)
		}
		if len(out) == maxListed {
			break
		}
	}
	return out, nil
}

// look reads the beginning and the end of a recording.
func look(root *os.Root, name string) (core.Recording, error) {
	f, err := root.Open(name)
	if err != nil {
		return core.Recording{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return core.Recording{}, err
	}
	first := make([]byte, maxHeader)
	n, err := io.ReadFull(f, first)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return core.Recording{}, err
	}
	line, _, whole := bytes.Cut(first[:n], []byte("\n"))
	var h header
	if err := json.Unmarshal(line, &h); err != nil || !whole || h.Version != 2 || h.Timestamp < 0 || h.Timestamp > maxTimestamp {
		return core.Recording{}, fmt.Errorf("read recording: no header: %w", fs.ErrInvalid)
	}
	// A recording that is just being begun may have grown since its size was asked for.
	end := make([]byte, max(0, min(info.Size()-int64(len(line))-1, tailBytes)))
	if _, err := f.ReadAt(end, max(0, info.Size()-int64(len(end)))); err != nil && !errors.Is(err, io.EOF) {
		return core.Recording{}, err
	}
	return core.Recording{
		Name: name, SessionID: h.Session, ChannelID: h.Channel, Title: core.CleanTitle(h.Title), StartedAt: time.Unix(h.Timestamp, 0).UTC(),
		DurationMs: lastTime(end), Bytes: info.Size(), Cols: h.Width, Rows: h.Height,
	}, nil
}

// lastTime is when the last whole event was, in ms.
func lastTime(end []byte) int64 {
	for lines := bytes.Split(end, []byte("\n")); len(lines) > 0; lines = lines[:len(lines)-1] {
		var event []json.RawMessage
		var at float64
		if json.Unmarshal(lines[len(lines)-1], &event) == nil && len(event) == 3 && json.Unmarshal(event[0], &at) == nil && at >= 0 && at < 1e9 {
			return int64(at * 1000)
		}
	}
	return 0
}

func unknown(err error) error {
	return core.Fail(core.CodeNotFound, errors.Join(core.ErrNotFound, err), "There is no such recording.", "It may have been deleted.")
}

// OpenRecording opens a recording, which may still be growing. The caller closes
// it.
func (s *Store) OpenRecording(name string) (r io.ReadSeekCloser, written time.Time, err error) {
	if !nameForm.MatchString(name) {
		return nil, time.Time{}, unknown(nil)
	}
	f, err := os.OpenInRoot(s.dir, name)
	if err != nil {
		return nil, time.Time{}, unknown(err)
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, time.Time{}, unknown(errors.Join(err, f.Close()))
	}
	return f, info.ModTime(), nil
}

// DeleteRecording removes a recording that has ended.
func (s *Store) DeleteRecording(_ context.Context, name string) error {
	if !nameForm.MatchString(name) {
		return unknown(nil)
	}
	s.mu.Lock()
	busy := s.open[name]
	s.mu.Unlock()
	if busy {
		return core.Fail(core.CodeConflict, core.ErrConflict, "This is being recorded.", "End the recording first.")
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return unknown(err)
	}
	defer root.Close()
	switch err := root.Remove(name); {
	case errors.Is(err, fs.ErrNotExist):
		return unknown(err)
	case err != nil:
		return core.Fail(core.CodeDir, err, "The recording could not be deleted.", "Check who owns "+s.dir+".")
	}
	return nil
}
