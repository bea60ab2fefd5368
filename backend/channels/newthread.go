package channels

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"loop/backend/core"
)

// CreateThread makes a channel in its parent's directory and state. Until its
// first message it shares the parent's session; that message forks it.
func (s *Service) CreateThread(ctx context.Context, req core.ThreadRequest) (core.ChannelView, error) {
	// Transcripts are read before the tree is locked: an agent writes them, and
	// large ones take long.
	s.tree.Lock()
	parent, _, _, err := s.parentOf(ctx, req.ParentID)
	s.tree.Unlock()
	if err != nil {
		return core.ChannelView{}, err
	}
	start, demo, err := s.resolveStart(ctx, parent, req.Session)
	if err != nil {
		return core.ChannelView{}, err
	}
	s.tree.Lock()
	defer s.tree.Unlock()
	parent, _, f, err := s.parentOf(ctx, req.ParentID) // as it is now
	if err != nil {
		return core.ChannelView{}, err
	}
	name, untitled := req.Name, false
	if strings.TrimSpace(name) == "" {
		n := 1
		for _, ch := range f.list {
			if ch.ParentID == parent.ID {
				n++
			}
		}
		name, untitled = fmt.Sprintf("Thread %d", n), true
	}
	if name, err = checkName(name); err != nil {
		return core.ChannelView{}, err
	}
	ch := core.Channel{
		ID: core.ChannelID(core.NewID()), ParentID: parent.ID, Kind: core.KindThread, Name: name,
		Dir: parent.Dir, ParentDir: parent.ParentDir, Branch: parent.Branch, StateID: parent.StateOwner(),
		Choices: inherited(parent), Untitled: untitled,
		SessionID: parent.SessionID, DemoSessionID: parent.DemoSessionID,
	}
	if parent.Kind == core.KindDemo {
		ch.Kind = core.KindDemo // its runs are on the scripted model, in a folder of Loop's own
	}
	// The parent's own wish for its next run holds for what is split off it now.
	ch.NextSession, ch.DemoNextSession = forked(parent, false), forked(parent, true)
	switch {
	case start.Mode == core.SessionContinue:
	case start.Mode == core.SessionFresh:
		ch.SessionID, ch.DemoSessionID = "", ""
		ch.NextSession, ch.DemoNextSession = core.SessionStart{}, core.SessionStart{}
	case demo:
		ch.DemoNextSession = start
	default:
		ch.NextSession = start
	}
	ch.Origin = s.origin(ctx, f.list, parent, ch, start)
	return s.create(ctx, ch)
}

// origin is what a new thread continues, as far as that is known: where it was
// split off, or another channel whose conversation it takes up.
func (s *Service) origin(ctx context.Context, all []core.Channel, parent, ch core.Channel, start core.SessionStart) core.Origin {
	goesOn := func(demo bool) bool {
		next := ch.Next(demo)
		return next.Mode != core.SessionFresh && (ch.Session(demo) != "" || next.SessionID != "")
	}
	if !goesOn(false) && !goesOn(true) {
		return core.Origin{}
	}
	o := core.Origin{ChannelID: parent.ID}
	own := parent.SessionID
	if parent.Kind == core.KindDemo {
		own = parent.DemoSessionID
	}
	if start.SessionID != "" && start.SessionID != own && start.SessionID != parent.DemoSessionID {
		i := slices.IndexFunc(all, func(c core.Channel) bool {
			return c.SessionID == start.SessionID || c.DemoSessionID == start.SessionID
		})
		if i < 0 { // it was held in a terminal, or is an earlier one
			return o
		}
		o.ChannelID = all[i].ID
	}
	o.Open = start.At == ""
	return s.upTo(ctx, o, start.At)
}

// upTo names the last message that is continued; empty is the newest there is.
func (s *Service) upTo(ctx context.Context, o core.Origin, uuid string) core.Origin {
	id, text, err := s.opts.Titles.Message(ctx, o.ChannelID, uuid)
	if err == nil { // else it leads to the channel
		o.EventID, o.Words = id, core.Title(text)
	}
	return o
}

// forked is how a thread of parent begins on one kind of model: with a copy of
// the conversation that parent's next run would take up.
func forked(parent core.Channel, demo bool) core.SessionStart {
	next := parent.Next(demo)
	switch next.Mode {
	case core.SessionFresh:
		return next
	case core.SessionResume, core.SessionFork:
		return core.SessionStart{Mode: core.SessionFork, SessionID: next.SessionID, At: next.At}
	}
	if parent.Session(demo) == "" {
		return core.SessionStart{}
	}
	return core.SessionStart{Mode: core.SessionFork}
}
