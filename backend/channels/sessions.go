package channels

import (
	"context"
	"errors"
	"fmt"

	"loop/backend/core"
)

// ListSessions are the conversations the agent keeps for a channel, newest first.
func (s *Service) ListSessions(ctx context.Context, id core.ChannelID) ([]core.SessionInfo, error) {
	ch, err := s.opts.Store.Channel(ctx, id)
	if err != nil {
		return nil, missing(err)
	}
	return s.sessions(ctx, ch)
}

func (s *Service) sessions(ctx context.Context, ch core.Channel) ([]core.SessionInfo, error) {
	if s.opts.Sessions == nil {
		return []core.SessionInfo{}, nil
	}
	list, err := s.opts.Sessions.List(ctx, ch)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return list, nil
}

// Messages are what was said in one of them, oldest first; empty names the
// channel's own.
func (s *Service) Messages(ctx context.Context, id core.ChannelID, session core.SessionID) ([]core.SessionMessage, error) {
	ch, err := s.opts.Store.Channel(ctx, id)
	if err != nil {
		return nil, missing(err)
	}
	if session == "" {
		if session = ch.Session(ch.Kind == core.KindDemo); session == "" {
			session = ch.DemoSessionID
		}
	}
	if session == "" || s.opts.Sessions == nil {
		return []core.SessionMessage{}, nil
	}
	return s.opts.Sessions.Messages(ctx, ch, session)
}

// SetSession says how the channel's next run begins, on a real or (demo) on the
// scripted model. Continue takes an earlier wish back. Runs that carry a start
// of their own keep it.
func (s *Service) SetSession(ctx context.Context, id core.ChannelID, start core.SessionStart, demo bool) (View, error) {
	ch, err := s.opts.Store.Channel(ctx, id)
	if err != nil {
		return View{}, missing(err)
	}
	start, kind, err := s.resolveStart(ctx, ch, start)
	if err != nil {
		return View{}, err
	}
	if start.SessionID != "" && kind != demo {
		return View{}, core.Fail(core.CodeInvalid, nil,
			"That conversation was held with another kind of model: a scripted one and a real one are kept apart.",
			"Choose a conversation of the same kind.")
	}
	return s.setNext(ctx, ch, start, demo)
}

// StartWith is SetSession for a person, who chooses a conversation and not a
// kind of model: the conversation tells which.
func (s *Service) StartWith(ctx context.Context, id core.ChannelID, start core.SessionStart) (View, error) {
	ch, err := s.opts.Store.Channel(ctx, id)
	if err != nil {
		return View{}, missing(err)
	}
	start, demo, err := s.resolveStart(ctx, ch, start)
	if err != nil {
		return View{}, err
	}
	if start.SessionID == "" { // fresh, or taking it back: for both kinds
		if ch, err = s.next(ctx, ch, start, true); err != nil {
			return View{}, err
		}
	}
	return s.setNext(ctx, ch, start, demo && start.SessionID != "")
}

func (s *Service) next(ctx context.Context, ch core.Channel, start core.SessionStart, demo bool) (core.Channel, error) {
	if err := s.opts.Store.SetChannelNext(ctx, ch.ID, demo, start); err != nil {
		return ch, missing(fmt.Errorf("store the next run's session: %w", err))
	}
	if demo {
		ch.DemoNextSession = start
	} else {
		ch.NextSession = start
	}
	return ch, nil
}

func (s *Service) setNext(ctx context.Context, ch core.Channel, start core.SessionStart, demo bool) (View, error) {
	ch, err := s.next(ctx, ch, start, demo)
	if err != nil {
		return View{}, err
	}
	s.opts.Publish(core.NewEvent(core.EventChannelUpdated, ch.ID, "", s.opts.Now(), ch))
	return s.Get(ctx, ch.ID)
}

// resolveStart checks a start against what the channel's state holds and names
// the session it means. demo says of which kind that session is.
func (s *Service) resolveStart(ctx context.Context, ch core.Channel, start core.SessionStart) (_ core.SessionStart, demo bool, _ error) {
	bad := func(cause string) (core.SessionStart, bool, error) {
		return start, false, core.Fail(core.CodeInvalid, nil, cause, "Choose a conversation from the list, or start a fresh one.")
	}
	demo = ch.Kind == core.KindDemo
	switch start.Mode {
	case core.SessionContinue, core.SessionFresh:
		if start.SessionID != "" || start.At != "" {
			return bad("This way to begin names no conversation.")
		}
		return start, demo, nil
	case core.SessionResume:
		if start.SessionID == "" {
			return bad("No conversation was named.")
		}
		if start.At != "" {
			return bad("Only a copy of a conversation can end at one of its messages.")
		}
	case core.SessionFork:
	default:
		return bad("That is no way to begin a conversation.")
	}
	if start.SessionID == "" {
		return s.ownSession(ctx, ch, start)
	}
	list, err := s.sessions(ctx, ch)
	if err != nil {
		return start, false, err
	}
	for _, info := range list {
		if info.ID == start.SessionID {
			return start, info.Demo, s.hasMessage(ctx, ch, start)
		}
	}
	return start, false, core.Fail(core.CodeNotFound, core.ErrNotFound, "The agent does not keep that conversation in this channel.",
		"Choose one from the list of sessions.")
}

// ownSession names the channel's own session in a fork that names none. With a
// message, it is the one of the two kinds that has it.
func (s *Service) ownSession(ctx context.Context, ch core.Channel, start core.SessionStart) (core.SessionStart, bool, error) {
	var last error
	for _, demo := range []bool{ch.Kind == core.KindDemo, ch.Kind != core.KindDemo} {
		named := start
		if named.SessionID = ch.Session(demo); named.SessionID == "" {
			continue
		}
		if last = s.hasMessage(ctx, ch, named); last == nil {
			return named, demo, nil
		}
	}
	if last == nil {
		last = core.Fail(core.CodeConflict, core.ErrConflict, "This channel has no conversation yet that could be copied.",
			"Send a first message, or start a fresh thread.")
	}
	return start, false, last
}

// hasMessage refuses a fork at a message that the conversation does not have:
// the CLI would end the run because of it.
func (s *Service) hasMessage(ctx context.Context, ch core.Channel, start core.SessionStart) error {
	if start.At == "" || s.opts.Sessions == nil {
		return nil
	}
	list, err := s.opts.Sessions.Messages(ctx, ch, start.SessionID)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return fmt.Errorf("read messages: %w", err)
	}
	for _, m := range list {
		if m.UUID == start.At {
			return nil
		}
	}
	return core.Fail(core.CodeNotFound, core.ErrNotFound, "That message is not part of the conversation any more.",
		"Choose another message, or copy the whole conversation.")
}

// ForkAt makes a thread of a channel that begins with a copy of a conversation,
// up to a message when start names one.
func (s *Service) ForkAt(ctx context.Context, id core.ChannelID, start core.SessionStart, name string) (View, error) {
	start.Mode = core.SessionFork
	return s.CreateThread(ctx, ThreadRequest{ParentID: id, Name: name, Session: start})
}
