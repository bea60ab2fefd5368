package footage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"loop/backend/core"
)

// leftOut is why an act has no picture any more.
const leftOut = "This run had more pictures than are kept, so this one was left out."

// thin leaves out frames of a run that has more than are kept.
func (s *Service) thin(ctx context.Context, root *os.Root, dir string, run core.RunID) error {
	list, err := s.o.Rows.Frames(ctx, run)
	if err != nil {
		return err
	}
	gone, err := s.o.Rows.ThinFrames(ctx, run, thinning(list, maxPictures*3/4, maxBytes*3/4), leftOut)
	if err != nil {
		return err
	}
	var errs []error
	for _, picture := range gone {
		if err := root.Remove(path.Join(dir, picture+ending)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("remove a picture: %w", err))
		}
	}
	return errors.Join(errs...)
}

// thinning chooses what is left out until a run has few enough pictures: every second of
// those between acts, again and again; and only when there are no more of them, every
// second of the others, whose frames stay without a picture. The newest stays.
func thinning(list []core.StoredFrame, pictures int, bytes int64) core.FrameThinning {
	out := core.FrameThinning{Skipped: map[int64]int{}}
	for {
		if n, b := sum(list); n <= pictures && b <= bytes {
			return out
		}
		kept, went := every2nd(list, func(f core.StoredFrame) bool { return f.Kind == core.FramePage })
		if len(went) > 0 {
			out.Frames, list = append(out.Frames, went...), countSkipped(list, kept, out.Skipped)
			continue
		}
		_, went = every2nd(list, func(f core.StoredFrame) bool { return f.Picture != "" })
		if len(went) == 0 {
			return out
		}
		out.Pictures = append(out.Pictures, went...)
		bare := map[int64]bool{}
		for _, f := range went {
			bare[f.ID] = true
		}
		next := make([]core.StoredFrame, len(list))
		for i, f := range list {
			if next[i] = f; bare[f.ID] {
				next[i].Picture, next[i].Bytes = "", 0
			}
		}
		list = next
	}
}

// sum counts pictures and their bytes, equal ones once.
func sum(list []core.StoredFrame) (n int, bytes int64) {
	seen := map[string]bool{"": true}
	for _, f := range list {
		if !seen[f.Picture] {
			seen[f.Picture] = true
			n, bytes = n+1, bytes+f.Bytes
		}
	}
	return n, bytes
}

// every2nd takes every second of the frames that may go, but never the last of the list.
func every2nd(list []core.StoredFrame, may func(core.StoredFrame) bool) (kept, went []core.StoredFrame) {
	odd := false
	for i, f := range list {
		if may(f) && i < len(list)-1 {
			if odd = !odd; odd {
				went = append(went, f)
				continue
			}
		}
		kept = append(kept, f)
	}
	return kept, went
}

// countSkipped has each kept frame say how many before it went. It returns kept.
func countSkipped(list, kept []core.StoredFrame, skipped map[int64]int) []core.StoredFrame {
	n, k := 0, 0
	for _, f := range list {
		if k < len(kept) && kept[k].ID == f.ID {
			if n > 0 {
				skipped[f.ID] += n
				kept[k].Skipped += n
			}
			n, k = 0, k+1
			continue
		}
		n += 1 + f.Skipped
		delete(skipped, f.ID)
	}
	return kept
}
