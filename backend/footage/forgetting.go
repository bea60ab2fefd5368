package footage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"time"

	"loop/backend/core"
)

const (
	sweepEvery = 6 * time.Hour
	// strayAge is how old a file without a row has to be to go: a younger one may be about
	// to get its row.
	strayAge = time.Hour
)

// Run forgets what is old, now and a few times a day, until ctx ends; it returns nil then.
func (s *Service) Run(ctx context.Context) error {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		if err := s.sweep(ctx); err != nil && ctx.Err() == nil {
			s.o.Log.Warn("forget old frames", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// sweep removes the frames of runs that are old, those of the oldest runs where all
// together are too many, and files that a crash left without a row.
func (s *Service) sweep(ctx context.Context) error {
	runs, err := s.o.Rows.RunsWithFrames(ctx)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(s.o.Home)
	if err != nil {
		return fmt.Errorf("open Loop's folder: %w", err)
	}
	defer func() { _ = root.Close() }()
	now := s.o.Now()
	kept := map[string]bool{} // folders
	var errs []error
	var all int64
	for _, r := range runs { // the newest first
		dir, err := folder(r.ChannelID, r.RunID)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all += r.Bytes
		if now.Sub(r.Last) < maxAge && all <= maxAll {
			kept[dir] = true
			errs = append(errs, s.strays(ctx, root, dir, r.RunID, now))
			continue
		}
		errs = append(errs, s.forget(ctx, root, dir, r.RunID))
	}
	for _, dir := range folders(root) {
		if info, err := root.Stat(dir); err == nil && !kept[dir] && now.Sub(info.ModTime()) >= strayAge {
			errs = append(errs, root.RemoveAll(dir))
		}
	}
	return errors.Join(errs...)
}

func (s *Service) forget(ctx context.Context, root *os.Root, dir string, run core.RunID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.o.Rows.DeleteFrames(ctx, run); err != nil {
		return err
	}
	if err := root.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove pictures: %w", err)
	}
	return nil
}

// strays removes files of a run that no row names.
func (s *Service) strays(ctx context.Context, root *os.Root, dir string, run core.RunID, now time.Time) error {
	entries, err := fs.ReadDir(root.FS(), dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list pictures: %w", err)
	}
	var old []string
	for _, e := range entries {
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) >= strayAge {
			old = append(old, e.Name())
		}
	}
	if len(old) == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list, err := s.o.Rows.Frames(ctx, run)
	if err != nil {
		return err
	}
	named := map[string]bool{}
	for _, f := range list {
		named[f.Picture+ending] = true
	}
	var errs []error
	for _, name := range old {
		if !named[name] {
			errs = append(errs, root.Remove(path.Join(dir, name)))
		}
	}
	return errors.Join(errs...)
}

// folders are those of runs that are there.
func folders(root *os.Root) []string {
	list, _ := fs.Glob(root.FS(), "channels/*/frames/*") // the pattern is right, and what cannot be read has none
	return list
}
