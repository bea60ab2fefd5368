package rewind

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"loop/backend/checkpoints"
	"loop/backend/core"
)

var errMeanwhile = core.Fail(core.CodeConflict, core.ErrConflict, "Files have changed since you looked.",
	"Look at what would change now, then go back.")

// Back makes files, conversation or both what they were before a run. What is there now is
// kept first. An error means that nothing went back.
func (s *Service) Back(ctx context.Context, id core.RunID, req core.BackRequest) (out core.WentBack, err error) {
	out.Notices = []string{}
	if !req.What.Files() && !req.What.Conversation() {
		return out, core.Fail(core.CodeInvalid, nil, "It is not said what is to go back.", "Choose files, the conversation, or both.")
	}
	p, err := s.facts(ctx, id)
	if err != nil {
		return out, err
	}
	if req.What.Conversation() && p.view.Talk.Why != "" {
		return out, core.Fail(core.CodeConflict, nil, p.view.Talk.Why, "Go back with the files only.")
	}
	if req.What.Files() {
		if err := s.alone(ctx, p.ch); err != nil {
			return out, err
		}
	}
	if req.What.Files() && s.stillKeeping(p.ch.ID) {
		return out, errStill // before a run is stopped for nothing
	}
	release, err := s.queue.Quiet(ctx, p.ch.ID, req.Stop)
	if err != nil {
		return out, err
	}
	defer release()
	if p, err = s.facts(ctx, id); err != nil { // a run may have ended just now
		return out, err
	}
	at, leave, err := s.enterFor(ctx, p.ch.ID, req.What.Files(), req.Stop)
	if err != nil {
		return out, err
	}
	defer leave()
	r, notices, err := s.back(ctx, at, p, req)
	run := p.run
	return core.WentBack{
		Rewind: r, Text: run.Prompt, Plan: run.Plan, Attachments: run.Attachments, Model: run.Model, Effort: run.Effort, Notices: notices,
	}, err
}

// alone refuses while an agent of another channel works in the same folder.
func (s *Service) alone(ctx context.Context, ch core.Channel) error {
	active, err := s.o.Runs.ActiveRuns(ctx)
	if err != nil {
		return fmt.Errorf("read runs under way: %w", err)
	}
	for _, r := range active {
		if r.ChannelID == ch.ID {
			continue
		}
		other, err := s.o.Runs.Channel(ctx, r.ChannelID)
		if err == nil && other.Dir == ch.Dir {
			return core.Fail(core.CodeConflict, core.ErrConflict, "An agent of “"+core.CleanTitle(other.Name)+"” works in this folder.",
				"Wait for it or stop it, or go back with the conversation only.")
		}
	}
	return nil
}

// back does it. The caller has the channel's turn, and keeps its runs from beginning.
func (s *Service) back(ctx context.Context, at *place, p *plan, req core.BackRequest) (r core.Rewind, notices []string, err error) {
	notices = []string{}
	r = core.Rewind{
		ID: core.NewID(), RunID: p.run.ID, Prompt: p.view.Prompt, PromptMs: p.view.PromptMs, What: req.What, State: core.RewindBegun,
		Leaves: []core.RunID{}, Demo: p.run.Demo, WasSession: p.ch.Session(p.run.Demo), WasNext: p.ch.Next(p.run.Demo), WasContext: p.ch.Context,
	}
	kept := core.Checkpoint{ID: r.ID, ChannelID: p.ch.ID, RunID: p.run.ID, Kind: core.CheckpointKept}
	var steps []checkpoints.Step
	if req.What.Files() {
		if err := s.files(ctx, at, p); err != nil {
			return r, notices, err
		}
		if p.now.Root == nil {
			return r, notices, core.Fail(core.CodeConflict, nil, p.view.NoFiles, "Go back with the conversation only.")
		}
		defer func() { err = errors.Join(err, p.now.Root.Close()) }()
		if p.view.Mark != req.Mark {
			return r, notices, errMeanwhile
		}
		if steps, notices, err = s.steps(ctx, p, req.Keep); err != nil {
			return r, notices, err
		}
		kept.Tree, r.Files = p.now.hash.String(), len(steps)
	}
	var talk *core.TalkChange
	if req.What.Conversation() {
		if talk, err = s.talkBack(ctx, p); err != nil {
			return r, notices, err
		}
		r.Session, r.Next, r.Leaves = talk.Session, talk.Next, p.view.Talk.Leaves
	}
	kept.At, kept.Rewind = s.o.Now(), &r
	if _, err := s.o.Rows.PutCheckpoint(ctx, kept, nil); err != nil {
		return r, notices, fmt.Errorf("keep the files as they are: %w", err)
	}
	// From here on it goes to its end, or back to where it was.
	ctx = context.WithoutCancel(ctx)
	if err := s.write(ctx, at, p, steps, r.ID); err != nil {
		return r, notices, errors.Join(err, s.o.Rows.DropCheckpoints(ctx, []string{r.ID}))
	}
	r.State = core.RewindDone
	return r, notices, s.tell(ctx, kept, talk, core.EventRewindWent)
}

// tell stores how a going back stands, with the conversation, and publishes it.
func (s *Service) tell(ctx context.Context, c core.Checkpoint, talk *core.TalkChange, kind core.EventType) error {
	ev := core.NewEvent(kind, c.ChannelID, c.RunID, s.o.Now(), c.Rewind)
	evs, err := s.o.Rows.PutCheckpoint(ctx, c, talk, ev)
	if err != nil {
		return fmt.Errorf("store the going back: %w", err)
	}
	s.mu.Lock()
	s.planned = nil
	s.mu.Unlock()
	s.o.Publish(evs...)
	if ch, err := s.o.Runs.Channel(ctx, c.ChannelID); err == nil && talk != nil {
		s.o.Publish(core.NewEvent(core.EventChannelUpdated, c.ChannelID, "", s.o.Now(), ch))
	}
	return nil
}

// write puts files back, and keeps how they are then: what the person changes later counts
// from there.
func (s *Service) write(ctx context.Context, at *place, p *plan, steps []checkpoints.Step, id string) error {
	if p.now.Root == nil {
		return nil
	}
	if err := s.store(p.ch.ID).PutBack(ctx, p.now.Root, steps); err != nil {
		if errors.Is(err, checkpoints.ErrMoved) {
			return errMeanwhile
		}
		return core.Fail(core.CodeDir, err, "A file could not be written, so all stays as it was.",
			"Look whether the disk is full, and who owns the files. The log says which file it was.")
	}
	if p.target != nil {
		if err := checkpoints.MakeEmpty(p.now.Root, p.target); err != nil {
			s.o.Log.Debug("make empty folders again", "error", err)
		}
	}
	t, err := s.take(ctx, at, p.ch, p.run, p.now.tree)
	if err != nil {
		s.o.Log.Warn("keep the files after going back", "error", err)
		return nil
	}
	after := core.Checkpoint{
		ID: id + ".after", ChannelID: p.ch.ID, RunID: p.run.ID, Kind: core.CheckpointAfter, Tree: t.hash.String(), At: s.o.Now(),
	}
	_, err = s.o.Rows.PutCheckpoint(ctx, after, nil)
	if err = errors.Join(err, t.Root.Close()); err != nil {
		s.o.Log.Warn("keep the files after going back", "error", err)
	}
	return nil
}

// steps are those of a plan without what the person keeps, and without what that is in the way of.
func (s *Service) steps(ctx context.Context, p *plan, keep []string) (out []checkpoints.Step, notices []string, err error) {
	notices = []string{}
	merges := map[string]string{}
	var changes []checkpoints.Change
	for i := range p.steps {
		st := &p.steps[i]
		if slices.Contains(keep, st.Path) {
			text, ok := s.mergedText(p.ch.ID, st)
			if !ok {
				notices = append(notices, core.CleanTitle(st.Path)+" stays as it is.")
				continue
			}
			merges[st.Path] = text
		}
		changes = append(changes, st.Change)
	}
	changes, blocked, err := possible(ctx, p.now.WorkFolder, changes)
	if err != nil {
		return nil, notices, err
	}
	for _, c := range changes {
		step := checkpoints.Step{Path: c.Path, From: c.From, To: c.To}
		if text, ok := merges[c.Path]; ok {
			to := *c.To
			step.Data, to.Sum, to.Size = []byte(text), checkpoints.SumOf([]byte(text)), int64(len(text))
			step.To = &to
		}
		out = append(out, step)
	}
	return out, append(notices, blockedNotices(slices.Concat(p.blocked, blocked))...), nil
}

// talkBack is the conversation as it stood before the run.
func (s *Service) talkBack(ctx context.Context, p *plan) (*core.TalkChange, error) {
	was := p.before.Talk
	out := &core.TalkChange{Demo: p.run.Demo, Context: p.view.Talk.Then}
	if was.Start.Mode == core.SessionFresh {
		return out, nil
	}
	id, err := s.o.Sessions.Cut(ctx, p.ch, was.Start.SessionID, was.Bytes)
	if err != nil {
		return nil, err
	}
	out.Session = id
	if was.Start.Mode == core.SessionFork {
		out.Next = core.SessionStart{Mode: core.SessionFork, SessionID: id, At: was.Start.At}
	}
	return out, nil
}
