package store

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"loop/backend/core"
	"loop/backend/store/internal/said"
)

// AddFrame stores a frame whose picture is in its file already, and returns its id. key
// stands for what its act asked for. A run that is not there is an error.
func (s *Store) AddFrame(ctx context.Context, f core.TakenFrame, key string, bytes int64) (int64, error) {
	return change(ctx, s, "add frame", func(q queries) (int64, error) {
		return q.InsertFrame(ctx, said.InsertFrameParams{
			ChannelID: string(f.ChannelID), RunID: string(f.RunID), Ts: f.Time, BeganAt: toMillis(f.Began), CallKey: key,
			Kind: string(f.Kind), Picture: f.Picture, Bytes: bytes, Skipped: int64(f.Skipped), Data: asJSON(f.KeptFrame),
		})
	})
}

// Frames returns a run's frames by time.
func (s *Store) Frames(ctx context.Context, run core.RunID) ([]core.StoredFrame, error) {
	list, err := s.read.FramesOfRun(ctx, string(run))
	return decoded(s, "read frames", list, err, func(r said.BrowserFrame) (core.StoredFrame, error) {
		f := core.StoredFrame{Key: r.CallKey, Began: fromMillis(r.BeganAt), Bytes: r.Bytes}
		err := fromJSON(r.Data, &f.KeptFrame)
		f.ID, f.RunID, f.Kind, f.Time = r.ID, core.RunID(r.RunID), core.KeptKind(r.Kind), r.Ts
		f.Picture, f.Skipped = r.Picture, int(r.Skipped)
		return f, err
	})
}

// FrameFile is where the picture of a frame is.
func (s *Store) FrameFile(ctx context.Context, id int64) (core.FrameFile, error) {
	r, err := s.read.FrameFile(ctx, id)
	if err != nil {
		return core.FrameFile{}, s.wrap("find frame", err)
	}
	return core.FrameFile{ChannelID: core.ChannelID(r.ChannelID), RunID: core.RunID(r.RunID), Picture: r.Picture, Bytes: r.Bytes}, nil
}

// SumFrames counts the pictures of a run and their bytes, equal ones once.
func (s *Store) SumFrames(ctx context.Context, run core.RunID) (pictures int, bytes int64, err error) {
	r, err := s.read.SumFrames(ctx, string(run))
	return int(r.Pictures), r.Bytes, s.wrap("sum up frames", err)
}

// ThinFrames leaves frames and pictures out, in one transaction. It returns the pictures
// that no frame of the run has any more.
func (s *Store) ThinFrames(ctx context.Context, run core.RunID, t core.FrameThinning, why string) ([]string, error) {
	return change(ctx, s, "thin frames", func(q queries) ([]string, error) {
		var gone []string
		for _, f := range t.Frames {
			if err := q.LeaveOutFrame(ctx, f.ID); err != nil {
				return nil, err
			}
		}
		for _, f := range t.Pictures {
			if err := q.LeaveOutPicture(ctx, said.LeaveOutPictureParams{Why: why, ID: f.ID}); err != nil {
				return nil, err
			}
		}
		for id, more := range t.Skipped {
			if err := q.SkippedBefore(ctx, said.SkippedBeforeParams{More: int64(more), ID: id}); err != nil {
				return nil, err
			}
		}
		seen := map[string]bool{"": true}
		for _, list := range [][]core.StoredFrame{t.Frames, t.Pictures} {
			for _, f := range list {
				if seen[f.Picture] {
					continue
				}
				seen[f.Picture] = true
				n, err := q.PictureUses(ctx, said.PictureUsesParams{RunID: string(run), Picture: f.Picture})
				if err != nil {
					return nil, err
				}
				if n == 0 {
					gone = append(gone, f.Picture)
				}
			}
		}
		return gone, nil
	})
}

// RunsWithFrames lists the runs that have frames, the one with the newest first.
func (s *Store) RunsWithFrames(ctx context.Context) ([]core.FramesOfRun, error) {
	list, err := s.read.RunsWithFrames(ctx)
	if err != nil {
		return nil, s.wrap("list runs with frames", err)
	}
	return mapped(list, func(r said.RunsWithFramesRow) core.FramesOfRun {
		return core.FramesOfRun{ChannelID: core.ChannelID(r.ChannelID), RunID: core.RunID(r.RunID), Last: fromMillis(r.LastTs), Bytes: r.Bytes}
	}), nil
}

// DeleteFrames forgets the frames of a run.
func (s *Store) DeleteFrames(ctx context.Context, run core.RunID) error {
	return s.inTx(ctx, "delete frames", func(q queries) error { return q.DeleteFramesOfRun(ctx, string(run)) })
}

// maxBrowserCalls bounds what BrowserCalls reads; an honest run has some dozens.
const maxBrowserCalls = 20_000

// browserTools begins the names of the browser's tools, as the agent calls them.
const browserTools = "mcp__loop-browser__"

// BrowserCalls returns a run's calls of the browser's tools, oldest first.
func (s *Store) BrowserCalls(ctx context.Context, run core.RunID) ([]core.BrowserCall, error) {
	uses, err := s.read.BrowserToolUses(ctx, said.BrowserToolUsesParams{RunID: string(run), Limit: maxBrowserCalls})
	if err != nil || len(uses) == 0 {
		return nil, s.wrap("read calls of the browser", err)
	}
	results, err := s.read.ToolResultTimes(ctx, said.ToolResultTimesParams{RunID: string(run), Limit: 4 * maxBrowserCalls})
	if err != nil {
		return nil, s.wrap("read results of the browser", err)
	}
	ended := map[string]time.Time{}
	for _, r := range results {
		ended[r.UseID] = fromMillis(r.Ts)
	}
	return mapped(uses, func(u said.BrowserToolUsesRow) core.BrowserCall {
		return core.BrowserCall{
			ToolUseID: u.UseID, Action: strings.TrimPrefix(u.Name, browserTools), Input: json.RawMessage(u.Input), Ended: ended[u.UseID],
		}
	}), nil
}
