package rewind

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"loop/backend/checkpoints"
	"loop/backend/core"
)

const (
	// mostListed is how many files a preview names, and mostCounted of how many it counts lines.
	mostListed  = 2000
	mostCounted = 400
	// mostRuns bounds the runs that are looked through.
	mostRuns = 5000
	// mostSpans bounds the times between runs in which the person's edits are looked for.
	mostSpans    = 100
	maxBeginning = 200
)

// plan is what going back to before a run would do.
type plan struct {
	run    core.Run
	ch     core.Channel
	before core.Checkpoint
	now    taken
	target *checkpoints.Tree
	steps  []planned
	view   core.RewindPreview
	took   time.Time

	blocked []string // paths that cannot come back, because something that stays is in their place
}

// planned is one file of a plan.
type planned struct {
	checkpoints.Change
	spans []span // in which the person changed it, oldest first
}

// span is a file before and after the person changed it.
type span struct {
	from, to *checkpoints.Entry
	at       time.Time
}

// Preview says what going back to before a run would do.
func (s *Service) Preview(ctx context.Context, id core.RunID) (core.RewindPreview, error) {
	p, err := s.plan(ctx, id)
	if err != nil {
		return core.RewindPreview{}, err
	}
	s.mu.Lock()
	s.planned = p
	s.mu.Unlock()
	return p.view, nil
}

// plan looks at the files as they are. The plan's folder is closed.
func (s *Service) plan(ctx context.Context, id core.RunID) (*plan, error) {
	p, err := s.facts(ctx, id)
	if err != nil {
		return nil, err
	}
	at, leave, err := s.enterNow(ctx, p.ch.ID)
	if errors.Is(err, errStill) {
		p.view.NoFiles = errStill.Cause + " " + errStill.Remedy
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := s.files(ctx, at, p); err != nil {
		return nil, err
	}
	if p.now.Root != nil {
		err = p.now.Root.Close()
	}
	return p, err
}

// facts are a plan without its files.
func (s *Service) facts(ctx context.Context, id core.RunID) (*plan, error) {
	run, err := s.o.Runs.Run(ctx, id)
	if errors.Is(err, core.ErrNotFound) {
		return nil, core.Fail(core.CodeNotFound, err, "This prompt does not exist any more.", "Reload the timeline.")
	}
	if err != nil {
		return nil, err
	}
	if run.State == core.RunQueued || run.StartedAt.IsZero() {
		return nil, core.Fail(core.CodeInvalid, nil, "This prompt has changed nothing yet.", "Edit it, or take it out of the queue.")
	}
	p := &plan{run: run, took: s.o.Now()}
	if p.ch, err = s.o.Runs.Channel(ctx, run.ChannelID); err != nil {
		return nil, fmt.Errorf("read channel: %w", err)
	}
	p.view = core.RewindPreview{
		RunID: id, Prompt: core.Shortened(run.Prompt, maxBeginning), PromptMs: run.CreatedAt.UnixMilli(), Files: []core.BackFile{},
		Left: []string{}, KeptFor: int(s.o.Keep.Hours() / 24), Talk: core.TalkBack{Leaves: []core.RunID{}},
	}
	list, err := s.o.Rows.Checkpoints(ctx, p.ch.ID)
	if err != nil {
		return nil, err
	}
	gone := leftRuns(list)
	if gone[id] {
		return nil, core.Fail(core.CodeConflict, nil, "This prompt has left the conversation already.", "Undo the going back that it left with.")
	}
	i := slices.IndexFunc(list, func(c core.Checkpoint) bool { return c.RunID == id && c.Kind == core.CheckpointBefore })
	if i >= 0 {
		p.before = list[i]
	}
	return p, s.talk(ctx, p, gone)
}

// leftRuns are the runs that have left their conversation.
func leftRuns(list []core.Checkpoint) map[core.RunID]bool {
	gone := map[core.RunID]bool{}
	for _, c := range list {
		if c.Rewind != nil && c.Rewind.State == core.RewindDone && c.Rewind.What.Conversation() {
			for _, id := range c.Rewind.Leaves {
				gone[id] = true
			}
		}
	}
	return gone
}

// talk says what leaves the conversation.
func (s *Service) talk(ctx context.Context, p *plan, gone map[core.RunID]bool) error {
	runs, err := s.o.Runs.ListRuns(ctx, p.ch.ID, mostRuns)
	if err != nil {
		return fmt.Errorf("list runs: %w", err)
	}
	t := &p.view.Talk
	t.Context = p.ch.Context
	var last, ended time.Time
	for _, r := range runs {
		if r.State == core.RunQueued || r.StartedAt.IsZero() || gone[r.ID] {
			continue
		}
		if !r.State.Terminal() {
			p.view.Live = r.ID
		}
		if r.StartedAt.Before(p.run.StartedAt) {
			if used := r.Outcome.Context; used.Used > 0 && r.StartedAt.After(last) && r.Demo == p.run.Demo {
				last, t.Then = r.StartedAt, used
			}
			continue
		}
		t.Leaves = append(t.Leaves, r.ID)
		t.Prompts++
		t.Turns += r.Outcome.NumTurns
		t.CostUSD += r.Outcome.CostUSD
		if r.EndedAt.After(ended) {
			ended = r.EndedAt
		}
	}
	slices.Reverse(t.Leaves) // oldest first
	if ended.After(p.run.StartedAt) {
		t.TookMs = ended.Sub(p.run.StartedAt).Milliseconds()
	}
	talk := p.before.Talk
	t.Fresh = talk.Start.Mode == core.SessionFresh
	if t.Fresh {
		t.Then = core.Context{}
	}
	switch {
	case p.before.ID == "":
		t.Why = "Loop did not note how the conversation stood at this prompt."
	case !talk.Known:
		t.Why = "Loop could not find out how long the conversation was at this prompt."
	case !t.Fresh:
		if n, known := s.o.Sessions.Length(p.ch, talk.Start.SessionID); !known || n < talk.Bytes {
			t.Why = "The agent no longer keeps that conversation."
		}
	}
	return nil
}

const noCheckpoint = "There is no checkpoint of the files: Loop kept none at this prompt, or it is over 30 days old."

// files adds what happens to files. The caller has the channel's turn, and closes the folder.
func (s *Service) files(ctx context.Context, at *place, p *plan) (err error) {
	switch {
	case p.before.ID == "":
		p.view.NoFiles = noCheckpoint
		return nil
	case p.before.Note != "":
		p.view.NoFiles = p.before.Note
		return nil
	}
	if p.target, _, err = s.tree(p.ch.ID, p.before.Tree); err != nil {
		s.o.Log.Warn("read a checkpoint", "run", p.run.ID, "error", err)
		p.view.NoFiles = "The checkpoint is damaged, so the files cannot be brought back."
		return nil
	}
	if p.now, err = s.take(ctx, at, p.ch, p.run, p.target); err != nil {
		if ctx.Err() != nil {
			return err
		}
		p.view.NoFiles = reason(err)
		return nil
	}
	p.view.Folder, p.view.Head = p.now.Path, head(p.now.Root)
	list, err := s.o.Rows.Checkpoints(ctx, p.ch.ID)
	if err != nil {
		return errors.Join(err, p.now.Root.Close())
	}
	spans := s.ownEdits(p, list)
	changes, blocked, err := possible(ctx, p.now.WorkFolder, checkpoints.Changes(p.now.tree, p.target))
	if err != nil {
		return errors.Join(err, p.now.Root.Close())
	}
	p.blocked = blocked
	for _, c := range changes {
		p.steps = append(p.steps, planned{c, spans[c.Path]})
	}
	p.view.Total, p.view.Mark = len(changes), markOf(p.before.Tree, changes)
	for i := range p.steps {
		if i == mostListed {
			break
		}
		p.view.Files = append(p.view.Files, s.backFile(p, &p.steps[i], i < mostCounted))
	}
	p.view.Left = append(blockedText(blocked), leftOut(p.now.tree, p.target)...)
	return nil
}

// markOf names the files as they are, and as they would be.
func markOf(tree string, changes []checkpoints.Change) string {
	h := sha256.New()
	fmt.Fprintln(h, tree, len(changes))
	for _, c := range changes {
		fmt.Fprintf(h, "%q", c.Path)
		for _, e := range []*checkpoints.Entry{c.From, c.To} {
			if e != nil {
				fmt.Fprintf(h, " %c %o %x %q", e.Kind, e.Mode, e.Sum, e.Link)
			}
		}
		fmt.Fprintln(h)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// ownEdits are the files that were changed between two runs, or since the last one: no agent
// of this channel worked then.
func (s *Service) ownEdits(p *plan, list []core.Checkpoint) map[string][]span {
	out := map[string][]span{}
	add := func(from, to *checkpoints.Tree, at time.Time) {
		for _, c := range checkpoints.Changes(from, to) {
			when := at
			if c.To != nil && c.To.Kind == checkpoints.File {
				when = time.Unix(0, c.To.MTime)
			}
			out[c.Path] = append(out[c.Path], span{c.From, c.To, when})
		}
	}
	open, n := "", 0
	for _, c := range list {
		switch {
		case c.At.Before(p.before.At) || c.ID == p.before.ID || c.Tree == "" || c.Note != "":
		case c.Kind == core.CheckpointAfter:
			open = c.Tree
		case open != "":
			if n++; open != c.Tree && n < mostSpans {
				from, _, err := s.tree(p.ch.ID, open)
				to, _, err2 := s.tree(p.ch.ID, c.Tree)
				if err = errors.Join(err, err2); err != nil {
					s.o.Log.Warn("look for the person's edits", "channel", p.ch.ID, "error", err)
				} else {
					add(from, to, c.At)
				}
			}
			open = ""
		}
	}
	if open != "" && p.view.Live == "" {
		if from, _, err := s.tree(p.ch.ID, open); err == nil {
			add(from, p.now.tree, p.took)
		}
	}
	return out
}
