package footage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"regexp"
	"sync"
	"time"

	"loop/backend/core"
)

// Bounds of what is kept. A busy page of 1280×800 is some 150 KB.
const (
	maxPictures = 500 // of a run
	maxBytes    = 40 << 20
	maxTitle    = 300 // runes
	maxURL      = 2 << 10
	maxAge      = 30 * 24 * time.Hour // after a run's last frame
	maxAll      = 2 << 30             // bytes of all runs; the oldest go
)

// Rows are those of frames. An unknown frame is core.ErrNotFound.
type Rows interface {
	AddFrame(ctx context.Context, f core.TakenFrame, key string, bytes int64) (int64, error)
	Frames(ctx context.Context, run core.RunID) ([]core.StoredFrame, error)
	FrameFile(ctx context.Context, id int64) (core.FrameFile, error)
	SumFrames(ctx context.Context, run core.RunID) (pictures int, bytes int64, err error)
	ThinFrames(ctx context.Context, run core.RunID, t core.FrameThinning, why string) (gone []string, err error)
	RunsWithFrames(ctx context.Context) ([]core.FramesOfRun, error)
	DeleteFrames(ctx context.Context, run core.RunID) error
}

// Runs are what is known of runs. An unknown one is core.ErrNotFound.
type Runs interface {
	Run(ctx context.Context, id core.RunID) (core.Run, error)
	BrowserCalls(ctx context.Context, run core.RunID) ([]core.BrowserCall, error)
}

// Options of a Service; all are required.
type Options struct {
	Home    string // Loop's folder
	Rows    Rows
	Runs    Runs
	Publish func(...core.Event)
	Now     func() time.Time
	Log     *slog.Logger
}

// Service keeps frames. Methods may be called from any goroutine.
type Service struct {
	o  Options
	mu sync.Mutex // files and rows change together
}

// New returns a Service.
func New(o Options) *Service { return &Service{o: o} }

// Keep stores a frame with its picture. goes is whether its run is still under way; of a
// run that is over only acts are kept, as the last one ends about when its run does.
func (s *Service) Keep(ctx context.Context, f core.TakenFrame) (goes bool, err error) {
	run, err := s.o.Runs.Run(ctx, f.RunID)
	if err != nil {
		return false, fmt.Errorf("find the run of a frame: %w", err)
	}
	if run.ChannelID != f.ChannelID {
		return false, fmt.Errorf("keep a frame: %w: the run is another channel's", core.ErrConflict)
	}
	goes = !run.State.Terminal()
	if !goes && f.Kind != core.FrameAct {
		return false, nil
	}
	f.URL, f.Title = cut(f.URL, maxURL), cut(f.Title, maxTitle)
	if f.Target != nil {
		t := *f.Target
		t.Name, t.Selector = cut(t.Name, maxTitle), cut(t.Selector, maxTitle)
		f.Target = &t
	}
	if f.JPEG != nil {
		f.JPEG, f.Width, f.Height, err = fitted(f.JPEG)
		if err != nil {
			f.JPEG, f.Why = nil, "The picture that Chromium sent cannot be read."
		} else if f.Ratio > 0 {
			f.ViewWidth, f.ViewHeight = float64(f.Width)/f.Ratio, float64(f.Height)/f.Ratio
		}
	}
	if err := s.keep(ctx, f); err != nil {
		return goes, err
	}
	s.o.Publish(core.NewEvent(core.EventFrameKept, f.ChannelID, f.RunID, s.o.Now(), nil))
	return goes, nil
}

func (s *Service) keep(ctx context.Context, f core.TakenFrame) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	dir, err := folder(f.ChannelID, f.RunID)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(s.o.Home)
	if err != nil {
		return fmt.Errorf("open Loop's folder: %w", err)
	}
	defer func() { _ = root.Close() }()
	made := false
	if f.JPEG != nil {
		sum := sha256.Sum256(f.JPEG)
		f.Picture = hex.EncodeToString(sum[:])
		if made, err = write(root, dir, f.Picture+ending, f.JPEG); err != nil {
			return fmt.Errorf("write a picture: %w", err)
		}
	}
	key := ""
	if f.Kind == core.FrameAct {
		key = callKey(f.Action, f.Params)
	}
	if _, err := s.o.Rows.AddFrame(ctx, f, key, int64(len(f.JPEG))); err != nil {
		if made { // and the folders, if the channel went meanwhile
			for _, name := range []string{path.Join(dir, f.Picture+ending), dir, path.Dir(dir), path.Dir(path.Dir(dir))} {
				if root.Remove(name) != nil {
					break
				}
			}
		}
		return err
	}
	n, bytes, err := s.o.Rows.SumFrames(ctx, f.RunID)
	if err != nil {
		return err
	}
	if n > maxPictures || bytes > maxBytes {
		return s.thin(ctx, root, dir, f.RunID)
	}
	return nil
}

const ending = ".jpg"

// write makes a file that appears whole or not at all. made is false where it is there.
func write(root *os.Root, dir, name string, data []byte) (made bool, err error) {
	if _, err := root.Stat(path.Join(dir, name)); err == nil {
		return false, nil
	}
	if err := root.MkdirAll(dir, 0o700); err != nil {
		return false, err
	}
	part := path.Join(dir, "part")
	if err := root.WriteFile(part, data, 0o600); err != nil {
		return false, errors.Join(err, root.Remove(part))
	}
	return true, root.Rename(part, path.Join(dir, name))
}

// idForm is how ids look: they become names of folders.
var idForm = regexp.MustCompile(`^[0-9A-Za-z_-]{1,64}$`)

// folder is where the pictures of a run are, below Loop's folder.
func folder(ch core.ChannelID, run core.RunID) (string, error) {
	if !idForm.MatchString(string(ch)) || !idForm.MatchString(string(run)) {
		return "", fmt.Errorf("name the folder of frames: %w: %q of %q", fs.ErrInvalid, run, ch)
	}
	return path.Join("channels", string(ch), "frames", string(run)), nil
}

func cut(text string, runes int) string {
	r := []rune(text)
	if len(r) <= runes {
		return text
	}
	return string(r[:runes]) + "…"
}
