package channels

import (
	"cmp"
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
	session = cmp.Or(session, ch.Session(ch.Kind == core.KindDemo), ch.DemoSessionID)
	if session == "" {
		return []core.SessionMessage{}, nil
	}
	return s.opts.Sessions.Messages(ctx, ch, session)
}

// StartWith says how the channel's next run begins; continue takes an earlier wish
// back. A person chooses a conversation and not a kind of model: the conversation
// tells which. Runs that carry a start of their own keep it.
func (s *Service) StartWith(ctx context.Context, id core.ChannelID, start core.SessionStart) (core.ChannelView, error) {
	ch, err := s.opts.Store.Channel(ctx, id)
	if err != nil {
		return core.ChannelView{}, missing(err)
	}
	start, demo, err := s.resolveStart(ctx, ch, start)
	if err != nil {
		return core.ChannelView{}, err
	}
	kinds := []bool{demo}
	if start.SessionID == "" { // fresh, or taking it back: for both kinds
		kinds = []bool{true, false}
	}
	for _, kind := range kinds {
		if err := s.opts.Store.SetChannelNext(ctx, id, kind, start, ""); err != nil {
			return core.ChannelView{}, missing(fmt.Errorf("store the next run's session: %w", err))
		}
	}
	v, err := s.Get(ctx, id)
	if err == nil {
		s.opts.Publish(core.NewEvent(core.EventChannelUpdated, id, "", s.opts.Now(), v.Channel))
	}
	return v, err
}

// resolveStart checks a start against what the channel's state holds and names
// the session it means. demo says of which kind that session is.
func (s *Service) resolveStart(ctx context.Context, ch core.Channel, start core.SessionStart) (_ core.SessionStart, demo bool, _ error) {
	demo = ch.Kind == core.KindDemo
	if err := start.Check(); err != nil {
		return start, demo, err
	}
	switch {
	case start.Mode == core.SessionContinue || start.Mode == core.SessionFresh:
		return start, demo, nil
	case start.SessionID == "":
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
	if start.At == "" {
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
