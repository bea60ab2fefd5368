package talks

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"loop/backend/core"
	"loop/backend/runner/transcript"
)

// SubAgents are the sub-agents of a session, each with a transcript of its own. Its errors are
// those of Options.Open. Use it from one goroutine, until the reading that it came with is closed.
type SubAgents interface {
	SubAgents() (ids []string, err error)
	AgentNote(id string) ([]byte, error)
	SubAgent(id string, offset int64) (in io.ReadCloser, size int64, err error)
}

// Bounds of what is remembered of one conversation, and of what one look does.
const (
	maxAgents = 200
	maxKept   = 50 // of earlier talks, besides those at work
	maxNotes  = 4096
	maxCalls  = 20_000
	maxLists  = 200 // of the folder
	maxTries  = 400 // of notes
)

// brood is what is known of the sub-agents of a conversation besides what is stored.
type brood struct {
	files  SubAgents                       // while a transcript is open
	notes  map[string]transcript.AgentNote // by sub-agent
	calls  map[string]core.RunID           // of tools, and the talk they are in
	agents map[string]bool                 // calls that are those of sub-agents by name
	fresh  map[string]bool                 // has said something since the last look
	open   map[string]bool                 // is being read
	lost   bool                            // not all that is stored can be read again
	told   bool                            // that some cannot be read

	lists, tries, sweeps int // at this look
}

func newBrood() brood {
	return brood{
		notes: map[string]transcript.AgentNote{}, calls: map[string]core.RunID{}, agents: map[string]bool{},
		fresh: map[string]bool{}, open: map[string]bool{},
	}
}

// again allows for as much as one look may do.
func (b *brood) again() { b.lists, b.tries, b.sweeps = 0, 0, 0 }

// called remembers the calls among items: a sub-agent is of a talk when its call is.
func (b *brood) called(items []transcript.Item, talk core.RunID) (n int) {
	for _, it := range items {
		if use, ok := it.Data.(core.ToolUse); ok {
			if n++; use.ToolUseID == "" || len(b.calls) >= maxCalls {
				continue
			}
			b.calls[use.ToolUseID] = talk
			if (use.Name == "Agent" || use.Name == "Task") && len(b.agents) < maxCalls {
				b.agents[use.ToolUseID] = true
			}
		}
	}
	return n
}

// broods reports whether a sub-agent is at work, as far as was read.
func (r *reading) broods() bool {
	return slices.ContainsFunc(r.talk.Agents, func(a *core.TalkAgent) bool { return a.Working })
}

// settle ends the turn when nobody works at it any more. One that has said something just now
// may have woken the agent that called it: that is seen at the next look.
func (r *reading) settle() {
	if r.talk.Working && r.talk.Rested && !r.broods() && len(r.brood.fresh) == 0 {
		r.rest(time.UnixMilli(r.talk.Last), r.talk.Broken)
	}
}

// subAgents reads what sub-agents of the talk have written. What is wrong with their files costs
// their rows alone.
func (r *reading) subAgents(ctx context.Context) error {
	if r.brood.sweeps++; r.brood.sweeps > maxLists {
		return nil // of the many lines that ask for it, the last one of the look has it again
	}
	return r.readAgents(ctx, func(*core.TalkAgent) bool { return true })
}

func (r *reading) readAgents(ctx context.Context, which func(*core.TalkAgent) bool) error {
	if r.brood.files == nil || r.talk.ID == "" {
		return nil
	}
	for read := 0; ; { // a sub-agent may have sub-agents
		r.find()
		if read == len(r.talk.Agents) {
			return nil
		}
		for ; read < len(r.talk.Agents); read++ {
			if a := r.talk.Agents[read]; which(a) {
				if err := r.follow(ctx, a); err != nil {
					return err
				}
			}
		}
	}
}

// find takes up sub-agents whose calls are in a talk.
func (r *reading) find() {
	b := &r.brood
	if b.lists++; b.lists > maxLists {
		return
	}
	ids, err := b.files.SubAgents()
	r.complain(err)
	for _, id := range ids {
		if r.agent(id) != nil {
			continue
		}
		note, known := b.notes[id]
		if !known {
			if b.tries++; b.tries > maxTries {
				return
			}
			raw, err := b.files.AgentNote(id)
			r.complain(err)
			if err != nil {
				continue
			}
			if note, known = transcript.ParseAgentNote(raw); !known {
				continue // it may be half written
			}
			if len(b.notes) >= maxNotes {
				clear(b.notes)
			}
			b.notes[id] = note
		}
		if talk := b.calls[note.Call]; talk != "" && len(r.talk.Agents) < maxAgents {
			r.talk.Agents = append(r.talk.Agents, &core.TalkAgent{ID: id, Talk: talk, Call: note.Call, Kind: note.Kind})
		}
	}
}

func (r *reading) agent(id string) *core.TalkAgent {
	if i := slices.IndexFunc(r.talk.Agents, func(a *core.TalkAgent) bool { return a.ID == id }); i >= 0 {
		return r.talk.Agents[i]
	}
	return nil
}

// complain says once that files of sub-agents cannot be read. That one is not there yet is usual.
func (r *reading) complain(err error) {
	if err == nil || errors.Is(err, core.ErrNotFound) || r.brood.told {
		return
	}
	r.brood.told = true
	r.s.o.Log.Warn("read sub-agents of a terminal", "channel", string(r.key.ch), "session", string(r.session), "err", err)
}

// follow reads what is new of one sub-agent. An error is one of storing.
func (r *reading) follow(ctx context.Context, a *core.TalkAgent) error {
	if r.brood.open[a.ID] { // its file names it as its own sub-agent
		return nil
	}
	in, size, err := r.brood.files.SubAgent(a.ID, a.Offset)
	if err != nil {
		r.complain(err)
		return nil
	}
	r.brood.open[a.ID] = true
	defer func() {
		delete(r.brood.open, a.ID)
		_ = in.Close()
	}()
	if size <= a.Offset {
		return nil
	}
	if err := r.surroundings(ctx); err != nil {
		return err
	}
	err = each(ctx, in, a.Offset, func(l transcript.Line) error {
		if err := r.agentLine(ctx, a, l); err != nil {
			return err
		}
		a.Offset, r.dirty = l.End, true
		return r.storeFull(ctx)
	})
	if _, reading := errors.AsType[readError](err); reading {
		r.complain(err)
		err = nil
	}
	if err == nil && !a.Working && !a.Told && a.Began > 0 {
		r.tellAgent(a, "completed")
	}
	return err
}

// agentLine makes of one line of a sub-agent what it is in the timeline.
func (r *reading) agentLine(ctx context.Context, a *core.TalkAgent, l transcript.Line) error {
	kl := r.kept.ParseAgent(l, a.Call)
	if !kl.Spoken {
		return nil
	}
	at := r.timeOf(kl)
	if kl.Copied || r.ofRun(kl, at) {
		return nil
	}
	if err := r.answered(ctx, kl.Items); err != nil {
		return err
	}
	r.kept.Count(kl)
	r.ended(kl, at)
	ms := at.UnixMilli()
	a.Began, a.Last = cmp.Or(a.Began, ms), max(a.Last, ms)
	r.talk.Last = max(r.talk.Last, ms)
	r.brood.fresh[a.ID] = true
	if kl.Works && !a.Working {
		a.Working, a.Told = true, false
		r.agentSays(a, at, "task_started", "running")
		if !r.talk.Working {
			r.work(at)
			r.talk.Rested = true
			r.tell(at)
		}
	}
	a.Calls += r.brood.called(kl.Items, a.Talk)
	a.Tokens = cmp.Or(kl.Tokens(), a.Tokens)
	for _, it := range kl.Items {
		r.addTo(a.Talk, it.Type, at, it.Data)
	}
	if kl.Rests {
		a.Working = false
		if kl.Broken && !a.Told {
			r.tellAgent(a, kl.State)
		}
	}
	return nil
}

// notified takes in that the CLI tells the agent that a sub-agent has ended.
func (r *reading) notified(ctx context.Context, kl transcript.KeptLine, at time.Time) error {
	err := r.readAgents(ctx, func(a *core.TalkAgent) bool { return a.ID == kl.Ended && (a.Working || a.Began == 0) })
	if err == nil {
		r.ended(kl, at)
	}
	return err
}

func (r *reading) ended(kl transcript.KeptLine, at time.Time) {
	if a := r.agent(kl.Ended); kl.Ended != "" && a != nil && a.Working {
		a.Working, a.Last, r.dirty = false, max(a.Last, at.UnixMilli()), true
		r.tellAgent(a, kl.State)
	}
}

// answered takes in the answers to calls: one that waited for its sub-agent has none at work any
// more. What that has written comes before its report.
func (r *reading) answered(ctx context.Context, items []transcript.Item) error {
	for _, it := range items {
		res, ok := it.Data.(core.ToolResult)
		if !ok || !r.brood.agents[res.ToolUseID] || transcript.Launched(res.Output) {
			continue
		}
		its := func(a *core.TalkAgent) bool { return a.Call == res.ToolUseID }
		if err := r.readAgents(ctx, its); err != nil {
			return err
		}
		for _, a := range r.talk.Agents {
			if its(a) && a.Working {
				a.Working, a.Told = false, true // the answer tells it
			}
		}
	}
	return nil
}

// carried are the sub-agents that another talk goes on with: they may be at work, or be asked
// for more.
func (r *reading) carried() (list []*core.TalkAgent) {
	for i, a := range r.talk.Agents {
		if a.Working || i >= len(r.talk.Agents)-maxKept {
			a.From = a.Offset
			list = append(list, a)
		}
	}
	clear(r.brood.calls) // else one that is dropped would be taken for a new one
	return list
}

// abandon is for sub-agents whose program is gone.
func (r *reading) abandon() {
	for _, a := range r.talk.Agents {
		if a.Working {
			a.Working = false
			r.tellAgent(a, "stopped")
		}
	}
	clear(r.brood.fresh)
}

func (r *reading) tellAgent(a *core.TalkAgent, state string) {
	r.agentSays(a, time.UnixMilli(a.Last), "task_notification", state)
	a.Told, r.dirty = true, true
}

func (r *reading) agentSays(a *core.TalkAgent, at time.Time, what, state string) {
	work := &core.AgentWork{Kind: a.Kind, State: state}
	if state != "running" {
		work.Calls, work.Tokens, work.DurationMs = a.Calls, a.Tokens, max(a.Last-a.Began, 0)
	}
	r.addTo(a.Talk, core.EventActivity, at, core.Activity{Activity: what, ParentID: a.Call, Agent: work})
}

// reloadAgents reads once more what was read of sub-agents, for the count of messages.
func (r *reading) reloadAgents(ctx context.Context) error {
	if r.brood.files == nil {
		r.brood.lost = len(r.talk.Agents) > 0
		return nil
	}
	for _, a := range r.talk.Agents {
		if a.Offset <= a.From {
			continue
		}
		if err := r.reloadAgent(ctx, a); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			r.complain(err)
			r.brood.lost = true
		}
	}
	return nil
}

func (r *reading) reloadAgent(ctx context.Context, a *core.TalkAgent) error {
	in, size, err := r.brood.files.SubAgent(a.ID, a.From)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	if size < a.Offset {
		return core.ErrConflict
	}
	return each(ctx, io.LimitReader(in, a.Offset-a.From), a.From, func(l transcript.Line) error {
		kl := r.kept.ParseAgent(l, a.Call)
		if !kl.Spoken || kl.Copied || r.ofRun(kl, r.timeOf(kl)) {
			return nil
		}
		r.brood.called(kl.Items, a.Talk)
		if l.End > a.Counted {
			r.kept.Count(kl)
		}
		return nil
	})
}

// readError is one of reading a transcript.
type readError struct{ error }

func (e readError) Unwrap() error { return e.error }

// each takes whole lines; what has no end yet is still being written.
func each(ctx context.Context, in io.Reader, offset int64, take func(transcript.Line) error) error {
	lines := transcript.NewReader(in, offset)
	for {
		l, err := lines.Next()
		if errors.Is(err, io.EOF) || err == nil && l.Open {
			return nil
		}
		if err != nil {
			return readError{err}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := take(l); err != nil {
			return err
		}
	}
}
