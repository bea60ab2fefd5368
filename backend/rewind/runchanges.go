package rewind

import (
	"context"
	"crypto/sha1" //nolint:gosec // git names contents so
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"loop/backend/checkpoints"
	"loop/backend/core"
)

// runView is what a run changed, as it was looked at last.
type runView struct {
	core.RunChanges
	ch      core.ChannelID
	changes []checkpoints.Change
}

// RunChanges are the files that a run of a channel changed, by its checkpoints: from as it found
// them to as it left them, or to now while it goes on. No id is the last run that began.
func (s *Service) RunChanges(ctx context.Context, ch core.ChannelID, id core.RunID) (core.RunChanges, error) {
	v, err := s.lookAt(ctx, ch, id)
	if err != nil {
		return core.RunChanges{}, err
	}
	s.mu.Lock()
	s.viewed = v
	s.mu.Unlock()
	return v.RunChanges, nil
}

// RunFile is one file of them. Whether it was edited since is looked at anew.
func (s *Service) RunFile(ctx context.Context, ch core.ChannelID, id core.RunID, path string) (f core.RunFile, err error) {
	s.mu.Lock()
	v := s.viewed
	s.mu.Unlock()
	if v == nil || v.ch != ch || v.Run != id {
		if v, err = s.lookAt(ctx, ch, id); err != nil {
			return f, err
		}
	}
	i, err := v.file(path)
	if err != nil {
		return f, err
	}
	same, known := s.still(ctx, v, v.changes[i])
	if v.Until == core.UntilNow && known && !same { // it is not what the run has made by now
		if v, err = s.lookAt(ctx, ch, v.Run); err != nil {
			return f, err
		}
		if i, err = v.file(path); err != nil {
			return f, err
		}
		same, known = s.still(ctx, v, v.changes[i])
	}
	c := v.changes[i]
	f = core.RunFile{RunChange: v.Files[i], Known: known, OldBytes: -1, NewBytes: -1}
	f.Edited = known && !same
	f.Old, f.New, f.Text = s.texts(ch, c.From, c.To)
	if c.From != nil {
		f.OldBytes, f.OldExecute = c.From.Size, c.From.Mode&0o100 != 0
	}
	if c.To != nil {
		f.NewBytes, f.NewExecute = c.To.Size, c.To.Mode&0o100 != 0
	}
	return f, nil
}

// file is the place of a file in the list.
func (v *runView) file(path string) (int, error) {
	i := slices.IndexFunc(v.changes, func(c checkpoints.Change) bool { return c.Path == path })
	if i < 0 || i >= len(v.Files) {
		return 0, core.Fail(core.CodeNotFound, nil, "The run did not change this file.", "Read the changes again.")
	}
	return i, nil
}

// still reports whether a file is now as the run left it, where that can be known.
func (s *Service) still(ctx context.Context, v *runView, c checkpoints.Change) (same, known bool) {
	run, err := s.runOf(ctx, v.ch, v.Run)
	var ch core.Channel
	if err == nil {
		ch, err = s.o.Runs.Channel(ctx, v.ch)
	}
	var f core.WorkFolder
	if err == nil {
		f, err = s.folder(ctx, ch, run)
	}
	if err != nil {
		s.o.Log.Debug("look for an edit after a run", "run", v.Run, "error", err)
		return false, false
	}
	defer f.Root.Close()
	return checkpoints.Still(f.Root, c.Path, c.To), true
}

func (s *Service) lookAt(ctx context.Context, id core.ChannelID, of core.RunID) (*runView, error) {
	run, err := s.runOf(ctx, id, of)
	if err != nil {
		return nil, err
	}
	ch, err := s.o.Runs.Channel(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read channel: %w", err)
	}
	p, leave, err := s.enterNow(ctx, id)
	if err != nil {
		return nil, err
	}
	leave = sync.OnceFunc(leave)
	defer leave()
	list, err := s.o.Rows.Checkpoints(ctx, id)
	if err != nil {
		return nil, err
	}
	v := &runView{ch: id, RunChanges: core.RunChanges{Run: run.ID, Files: []core.RunChange{}}}
	from, to, err := s.ends(ctx, p, v, ch, run, list)
	if err != nil {
		return nil, err
	}
	v.changes = checkpoints.Changes(from, to)
	leave() // contents are only read from here on, and the next run's checkpoint waits for seconds at most
	if len(v.changes) > mostListed {
		v.changes, v.More = v.changes[:mostListed], true
	}
	for i, c := range v.changes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v.Files = append(v.Files, s.runChange(id, c, i < mostCounted))
	}
	if v.Until == core.UntilNow {
		v.Known = true
		return v, nil
	}
	f, err := s.folder(ctx, ch, run)
	if err != nil {
		s.o.Log.Debug("look for edits after a run", "run", run.ID, "error", err)
		return v, nil
	}
	v.Known = true
	for i, c := range v.changes {
		v.Files[i].Edited = !checkpoints.Still(f.Root, c.Path, c.To)
	}
	return v, f.Root.Close()
}

// runOf is a run of the channel that has begun.
func (s *Service) runOf(ctx context.Context, ch core.ChannelID, id core.RunID) (run core.Run, err error) {
	if id == "" {
		list, err := s.o.Runs.ListRuns(ctx, ch, mostRuns)
		if err != nil {
			return run, fmt.Errorf("list runs: %w", err)
		}
		for _, r := range list {
			if !r.StartedAt.IsZero() && r.State != core.RunQueued && r.StartedAt.After(run.StartedAt) {
				run = r
			}
		}
		if run.ID == "" {
			return run, core.Fail(core.CodeNotFound, nil, "No agent has worked in this channel yet.", "Look at the worktree.")
		}
		return run, nil
	}
	if run, err = s.o.Runs.Run(ctx, id); err == nil && run.ChannelID != ch {
		err = core.ErrNotFound
	}
	if errors.Is(err, core.ErrNotFound) {
		return run, core.Fail(core.CodeNotFound, err, "This run does not exist any more.", "Look at the worktree.")
	}
	return run, err
}

// ends are the files as a run found them, and as they were afterwards.
func (s *Service) ends(ctx context.Context, p *place, v *runView, ch core.Channel, run core.Run, list []core.Checkpoint) (
	from, to *checkpoints.Tree, err error,
) {
	i := slices.IndexFunc(list, func(c core.Checkpoint) bool { return c.RunID == run.ID && c.Kind == core.CheckpointBefore })
	why := noCheckpoint
	if i >= 0 && list[i].Note != "" {
		why = list[i].Note
	}
	if i < 0 || list[i].Note != "" || list[i].Tree == "" {
		return nil, nil, core.Fail(core.CodeNotFound, nil, why, "Look at the worktree, or at what the run's tools say.")
	}
	if from, _, err = s.tree(ch.ID, list[i].Tree); err != nil {
		return nil, nil, damagedRun(err)
	}
	usable := func(c core.Checkpoint) bool { return c.Note == "" && c.Tree != "" }
	end := ""
	for _, c := range list[i+1:] {
		if c.RunID == run.ID && c.Kind == core.CheckpointAfter && usable(c) {
			end, v.Until = c.Tree, core.UntilEnd
			break
		}
		if end == "" && c.RunID != run.ID && usable(c) {
			end, v.Until = c.Tree, core.UntilNext
		}
	}
	if end == "" || !run.State.Terminal() {
		v.Until = core.UntilNow
		t, err := s.take(ctx, p, ch, run, from)
		if err != nil {
			return nil, nil, core.Fail(core.CodeDir, err, reason(err), "Look at the worktree.")
		}
		return from, t.tree, t.Root.Close()
	}
	if to, _, err = s.tree(ch.ID, end); err != nil {
		return nil, nil, damagedRun(err)
	}
	return from, to, nil
}

func damagedRun(err error) error {
	return core.Fail(core.CodeConflict, err, "The checkpoint is damaged, so the run's changes cannot be shown.", "Look at the worktree.")
}

// runChange is a change with git's names of both contents, without which nobody could decide
// about it, and with its lines where they are counted.
func (s *Service) runChange(ch core.ChannelID, c checkpoints.Change, count bool) core.RunChange {
	f := core.RunChange{Path: c.Path, Kind: "M", Added: -1, Removed: -1, Before: s.blobs(ch, c.From), After: s.blobs(ch, c.To)}
	switch {
	case c.From == nil:
		f.Kind = "A"
	case c.To == nil:
		f.Kind = "D"
	case c.From.Kind != c.To.Kind:
		f.Kind = "T"
	}
	if !count {
		return f
	}
	if was, now, ok := s.texts(ch, c.From, c.To); ok {
		f.Added, f.Removed = counts(was, now)
	}
	return f
}

// blobs are git's names of a content; none of one that cannot be read.
func (s *Service) blobs(ch core.ChannelID, e *checkpoints.Entry) []string {
	if e == nil {
		return []string{""}
	}
	data := []byte(e.Link)
	if e.Kind == checkpoints.File {
		var err error
		if data, err = s.store(ch).Content(e.Sum); err != nil {
			s.o.Log.Warn("read a checkpoint's file", "channel", ch, "error", err)
			return nil
		}
	}
	data = append([]byte("blob "+strconv.Itoa(len(data))+"\x00"), data...)
	short, long := sha1.Sum(data), sha256.Sum256(data) //nolint:gosec // git names contents so
	return []string{hex.EncodeToString(short[:]), hex.EncodeToString(long[:])}
}
