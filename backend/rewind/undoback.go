package rewind

import (
	"context"
	"errors"
	"slices"
	"time"

	"loop/backend/checkpoints"
	"loop/backend/core"
)

// Undo brings back what a going back replaced. What the person changed since stays.
func (s *Service) Undo(ctx context.Context, id string) (out core.WentBack, err error) {
	out.Notices = []string{}
	kept, err := s.o.Rows.Checkpoint(ctx, id)
	if errors.Is(err, core.ErrNotFound) || err == nil && kept.Rewind == nil {
		return out, core.Fail(core.CodeNotFound, err, "What was there before is not kept any more.", "")
	}
	if err != nil {
		return out, err
	}
	if kept.Rewind.State != core.RewindDone && kept.Rewind.State != core.RewindBroken {
		return out, core.Fail(core.CodeConflict, core.ErrConflict, "This was undone already.", "")
	}
	release, err := s.queue.Quiet(ctx, kept.ChannelID, false)
	if err != nil {
		return out, err
	}
	defer release()
	if err := s.latest(ctx, kept); err != nil {
		return out, err
	}
	at, leave, err := s.enterFor(ctx, kept.ChannelID, kept.Tree != "", false)
	if err != nil {
		return out, err
	}
	defer leave()
	p := &plan{view: core.RewindPreview{}}
	if p.run, err = s.o.Runs.Run(ctx, kept.RunID); err != nil {
		return out, err
	}
	if p.ch, err = s.o.Runs.Channel(ctx, kept.ChannelID); err != nil {
		return out, err
	}
	if kept.Tree != "" {
		if out.Notices, err = s.undoFiles(ctx, at, p, kept); err != nil {
			return out, err
		}
	}
	ctx = context.WithoutCancel(ctx)
	r := *kept.Rewind
	var talk *core.TalkChange
	if r.What.Conversation() && r.State == core.RewindDone {
		talk = &core.TalkChange{Demo: r.Demo, Session: r.WasSession, Next: r.WasNext, Context: r.WasContext}
	}
	r.State = core.RewindUndone
	kept.Rewind = &r
	out.Rewind = r
	return out, s.tell(ctx, kept, talk, core.EventRewindUndone)
}

// latest refuses to undo what something has followed.
func (s *Service) latest(ctx context.Context, kept core.Checkpoint) error {
	runs, err := s.o.Runs.ListRuns(ctx, kept.ChannelID, mostRuns)
	if err != nil {
		return err
	}
	later := func(at time.Time) bool { return at.After(kept.At) }
	if slices.ContainsFunc(runs, func(r core.Run) bool { return r.State != core.RunQueued && later(r.StartedAt) }) {
		return core.Fail(core.CodeConflict, core.ErrConflict, "A prompt was sent since.",
			"Go back to before that prompt first; then this can be undone.")
	}
	list, err := s.o.Rows.Checkpoints(ctx, kept.ChannelID)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(list, func(c core.Checkpoint) bool {
		return c.Rewind != nil && c.ID != kept.ID && c.Rewind.State == core.RewindDone && later(c.At)
	}) {
		return core.Fail(core.CodeConflict, core.ErrConflict, "You went back once more since.", "Undo that first.")
	}
	return nil
}

func (s *Service) undoFiles(ctx context.Context, at *place, p *plan, kept core.Checkpoint) (notices []string, err error) {
	notices = []string{}
	then, _, err := s.tree(kept.ChannelID, kept.Tree)
	if err != nil {
		return notices, core.Fail(core.CodeConflict, err, "What was there before is damaged, so it cannot be brought back.", "")
	}
	was, went, err := s.wentTo(ctx, kept)
	if err != nil {
		return notices, err
	}
	if p.now, err = s.take(ctx, at, p.ch, p.run, then, was); err != nil {
		return notices, err
	}
	defer func() { err = errors.Join(err, p.now.Root.Close()) }()
	p.target = then
	since := changedSince(then, was, p.now.tree, went)
	var changes []checkpoints.Change
	for _, c := range checkpoints.Changes(p.now.tree, then) {
		if since[c.Path] {
			notices = append(notices, core.CleanTitle(c.Path)+" was changed since and stays as it is.")
			continue
		}
		changes = append(changes, c)
	}
	changes, blocked, err := possible(ctx, p.now.WorkFolder, changes)
	if err != nil {
		return notices, err
	}
	notices = append(notices, blockedNotices(blocked)...)
	var steps []checkpoints.Step
	for _, c := range changes {
		steps = append(steps, checkpoints.Step{Path: c.Path, From: c.From, To: c.To})
	}
	return notices, s.write(context.WithoutCancel(ctx), at, p, steps, kept.ID+".undone")
}

// wentTo is the tree that a going back made. Where it was not kept, because the going back did
// not come to its end, it is the tree that it was to make; went is false then.
func (s *Service) wentTo(ctx context.Context, kept core.Checkpoint) (t *checkpoints.Tree, went bool, err error) {
	for _, id := range []string{kept.ID + ".after", string(kept.RunID) + ".before"} {
		went = id == kept.ID+".after"
		c, err := s.o.Rows.Checkpoint(ctx, id)
		if err == nil && c.Tree != "" {
			t, _, err = s.tree(kept.ChannelID, c.Tree)
		}
		if err == nil && t != nil {
			return t, went, nil
		}
		if err != nil && !errors.Is(err, core.ErrNotFound) {
			s.o.Log.Warn("read what a going back made", "checkpoint", id, "error", err)
		}
	}
	return nil, false, core.Fail(core.CodeConflict, nil,
		"Loop does not know which files you changed since, because the checkpoint of the prompt is gone.",
		"Go back to before another prompt, or bring the files back with git.")
}

// changedSince are the paths that somebody changed after a going back from then to was. One that
// may have ended midway made of each file either what was has or nothing.
func changedSince(then, was, now *checkpoints.Tree, went bool) map[string]bool {
	since := map[string]bool{}
	if went {
		for _, c := range checkpoints.Changes(was, now) {
			since[c.Path] = true
		}
		return since
	}
	made := map[string]*checkpoints.Entry{}
	for _, c := range checkpoints.Changes(then, was) {
		made[c.Path] = c.To
	}
	for _, c := range checkpoints.Changes(now, then) {
		to, ok := made[c.Path]
		since[c.Path] = !ok || !checkpoints.Same(c.From, to)
	}
	return since
}
