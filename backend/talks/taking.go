package talks

import (
	"context"
	"slices"
	"time"

	"loop/backend/core"
	"loop/backend/runner/transcript"
)

// take makes of one line what it is in the timeline.
func (r *reading) take(ctx context.Context, l transcript.Line) error {
	if transcript.Counts(l) { // …for sub-agents, too: what they have said by now is covered
		if err := r.subAgents(ctx); err != nil {
			return err
		}
	}
	kl := r.kept.Parse(l)
	if kl.Cost {
		r.counted(l.End)
		return nil
	}
	at := r.timeOf(kl)
	if r.talk.ID != "" && kl.Ended != "" {
		if err := r.notified(ctx, kl, at); err != nil {
			return err
		}
	}
	if !kl.Spoken {
		return nil
	}
	switch {
	case kl.Copied || r.talk.ID == "" && !r.since.IsZero() && at.Before(r.since):
		r.earlier = true
		return nil
	case r.ofRun(kl, at):
		r.foreign = true
		return nil
	}
	switch {
	case kl.Person != "" && r.begins(at):
		if err := r.begin(ctx, kl, at); err != nil {
			return err
		}
	case r.talk.ID == "" || r.foreign:
		return nil // the rest of something that is shown elsewhere, or not at all
	}
	r.talk.Last, r.dirty = max(r.talk.Last, at.UnixMilli()), true
	if kl.Person != "" {
		r.talk.Prompts++
		r.talk.TerminalID = r.terminal
		r.work(at)
		r.tell(at)
	}
	if err := r.answered(ctx, kl.Items); err != nil {
		return err
	}
	ends := kl.Rests && r.talk.Working && !r.talk.Rested
	if ends { // its sub-agents may go on
		if err := r.subAgents(ctx); err != nil {
			return err
		}
	}
	r.brood.called(kl.Items, r.talk.ID)
	for _, it := range kl.Items {
		r.add(it.Type, at, it.Data)
	}
	switch {
	case ends:
		r.talk.Rested, r.talk.Broken = true, kl.Broken
		if !r.broods() && len(r.brood.fresh) == 0 {
			r.rest(at, kl.Broken)
		}
	case kl.Works && !r.talk.Working:
		r.work(at)
		r.tell(at)
	case kl.Works:
		r.talk.Rested = false
	}
	return nil
}

// timeOf is when a line was written, by the calendar of this computer.
func (r *reading) timeOf(kl transcript.KeptLine) time.Time {
	if now := r.now(); kl.At.IsZero() || kl.At.After(now.Add(ahead)) {
		return now
	}
	return kl.At
}

// ofRun reports whether a run wrote a line: one of this conversation was under way then.
func (r *reading) ofRun(kl transcript.KeptLine, at time.Time) bool {
	if kl.Screen {
		return false
	}
	return slices.ContainsFunc(r.spans, func(s core.RunSpan) bool {
		if at.Before(s.From.Add(-slack)) || !s.To.IsZero() && at.After(s.To.Add(slack)) {
			return false
		}
		if s.To.IsZero() { // it has not said yet which one it is in
			own := []core.SessionID{r.ch.SessionID, r.ch.DemoSessionID, r.ch.NextSession.SessionID, r.ch.DemoNextSession.SessionID}
			return slices.Contains(own, r.session)
		}
		return s.Session == r.session
	})
}

// begins reports whether a prompt begins a talk of its own.
func (r *reading) begins(at time.Time) bool {
	t := r.talk
	if t.ID == "" || r.foreign || at.Sub(time.UnixMilli(t.Last)) > r.s.o.Pause {
		return true
	}
	// Another conversation of the channel has gone on since: what is said now comes after it.
	last := time.UnixMilli(t.Last)
	return slices.ContainsFunc(r.spans, func(s core.RunSpan) bool { return s.From.After(last) && s.From.Before(at) })
}

// begin ends the talk that was, and begins another one at the line that is read.
func (r *reading) begin(ctx context.Context, kl transcript.KeptLine, at time.Time) error {
	clear(r.brood.fresh)
	r.settle()
	if r.talk.Working { // nobody has seen how it ended
		r.rest(at, true)
	}
	if err := r.store(ctx); err != nil {
		return err
	}
	prior := r.prior()
	r.kept.Forget()
	r.foreign, r.brood.lost = false, false
	agents := r.carried()
	r.talk = core.SavedTalk{From: r.offset, Prior: prior, Agents: agents, TerminalTalk: core.TerminalTalk{
		ID: core.NewTalkID(), ChannelID: r.key.ch, SessionID: r.session, TerminalID: r.terminal,
		Title: core.Title(kl.Person), Began: at.UnixMilli(), Demo: r.ch.Kind == core.KindDemo,
	}}
	return nil
}

func (r *reading) work(at time.Time) {
	r.talk.Working, r.talk.Rested, r.talk.Broken, r.talk.TurnBegan = true, false, false, at.UnixMilli()
}

func (r *reading) rest(at time.Time, broken bool) {
	r.talk.Working, r.talk.Rested, r.talk.Broken, r.talk.TurnBegan = false, false, broken, 0
	r.tell(at)
}

// giveUp ends a turn of which nobody has seen the end, or of which only that has not been told.
func (r *reading) giveUp() {
	broken := !r.talk.Rested || r.talk.Broken || r.broods()
	r.abandon()
	r.rest(r.now(), broken)
}

// tell adds an event that says how the talk stands.
func (r *reading) tell(at time.Time) {
	if r.loaded && !r.brood.lost && !r.foreign { // else its messages are not known, and what it has cost stays
		r.price()
	}
	r.dirty = true
	told := r.talk.TerminalTalk
	told.AddedUSD, r.untold = r.untold, 0
	r.add(core.EventTalk, at, told)
}
