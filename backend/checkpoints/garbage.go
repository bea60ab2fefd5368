package checkpoints

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// young is how old a file must be to be removed: it may belong to a checkpoint that is being
// taken.
const young = time.Hour

// Collect removes what no tree of live needs, by mark and sweep, and returns the bytes that
// are left. A tree that cannot be read keeps everything: what it needs is not known.
func (s Store) Collect(ctx context.Context, live []Hash, now time.Time) (left int64, err error) {
	marked := map[string]bool{}
	for _, h := range live {
		if err := errors.Join(ctx.Err(), s.mark(h, marked)); err != nil {
			return 0, err
		}
	}
	var errs []error
	for _, kind := range []string{blobsDir, treesDir} {
		err := filepath.WalkDir(filepath.Join(s.dir, kind), func(name string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || ctx.Err() != nil {
				return errors.Join(err, ctx.Err())
			}
			info, err := d.Info()
			if err != nil || d.IsDir() {
				return nil //nolint:nilerr // gone by now
			}
			if marked[name] || now.Sub(info.ModTime()) < young {
				left += info.Size()
				return nil
			}
			errs = append(errs, os.Remove(name))
			return nil
		})
		errs = append(errs, err)
	}
	return left, errors.Join(errs...)
}

func (s Store) mark(h Hash, marked map[string]bool) error {
	name := s.name(treesDir, h)
	if marked[name] {
		return nil
	}
	t, err := s.Tree(h)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it needs nothing that there still is
	}
	if err != nil {
		return err
	}
	marked[name] = true
	for base, ok := s.base(h); ok; base, ok = s.base(base) {
		marked[s.name(treesDir, base)] = true
	}
	for i := range t.Entries {
		if e := &t.Entries[i]; e.Kind == File {
			marked[s.name(blobsDir, e.Sum)] = true
		}
	}
	return nil
}
