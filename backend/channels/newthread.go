package channels

import (
	"context"
	"fmt"
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
	name := req.Name
	if strings.TrimSpace(name) == "" {
		n := 1
		for _, ch := range f.list {
			if ch.ParentID == parent.ID {
				n++
			}
		}
		name = fmt.Sprintf("Thread %d", n)
	}
	if name, err = checkName(name); err != nil {
		return core.ChannelView{}, err
	}
	ch := core.Channel{
		ID: core.ChannelID(core.NewID()), ParentID: parent.ID, Kind: core.KindThread, Name: name,
		Dir: parent.Dir, ParentDir: parent.ParentDir, Branch: parent.Branch, StateID: parent.StateOwner(),
		Choices:   parent.Choices,
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
	return s.create(ctx, ch)
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
