package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"loop/backend/core"
	"loop/backend/store/internal/rows"
	"loop/backend/store/internal/said"
)

// AddChannel stores a new channel; an id already there is core.ErrConflict.
func (s *Store) AddChannel(ctx context.Context, c core.Channel) error {
	c.CreatedAt = cmp.Or(c.CreatedAt, s.now())
	return s.inTx(ctx, "add channel", func(q queries) error {
		return q.InsertChannel(ctx, rows.InsertChannelParams{
			ID: string(c.ID), ParentID: string(c.ParentID), Kind: string(c.Kind), Name: c.Name,
			Dir: c.Dir, SessionID: string(c.SessionID), DemoSessionID: string(c.DemoSessionID),
			NextSession: asJSON(c.NextSession), DemoNextSession: asJSON(c.DemoNextSession),
			StateID: string(c.StateID), Branch: c.Branch, ParentDir: c.ParentDir, CreatedAt: toMillis(c.CreatedAt),
			AgentID: c.Choices.AgentID, Choices: asJSON(own(c.Choices)), Untitled: flag(c.Untitled), Origin: asJSON(c.Origin),
		})
	})
}

// Channel returns one channel or core.ErrNotFound.
func (s *Store) Channel(ctx context.Context, id core.ChannelID) (core.Channel, error) {
	r, err := s.read.GetChannel(ctx, string(id))
	if err != nil {
		return core.Channel{}, s.wrap("read channel", err)
	}
	return channelOf(r)
}

// Channels returns all channels, oldest first.
func (s *Store) Channels(ctx context.Context) ([]core.Channel, error) {
	list, err := s.read.ListChannels(ctx)
	return decoded(s, "list channels", list, err, channelOf)
}

// TitleChannel names a channel whose name Loop chose; one that has another is
// core.ErrNotFound.
func (s *Store) TitleChannel(ctx context.Context, id core.ChannelID, name string) error {
	return s.inTx(ctx, "title channel", func(q queries) error {
		return found(q.TitleChannel(ctx, rows.TitleChannelParams{Name: name, ID: string(id)}))
	})
}

// SetOrigin replaces what a channel's conversation continues.
func (s *Store) SetOrigin(ctx context.Context, id core.ChannelID, o core.Origin) error {
	return s.inTx(ctx, "set origin", func(q queries) error {
		return found(q.SetOrigin(ctx, rows.SetOriginParams{Origin: asJSON(o), ID: string(id)}))
	})
}

// Message returns the event and the text of a message in a channel's timeline, by the uuid
// that the agent gave it; empty is the newest. core.ErrNotFound when there is none.
func (s *Store) Message(ctx context.Context, id core.ChannelID, uuid string) (event int64, text string, err error) {
	if uuid == "" {
		r, err := s.read.LastMessage(ctx, string(id))
		return r.ID, r.Content, s.wrap("read last message", err)
	}
	r, err := s.read.MessageEvent(ctx, said.MessageEventParams{ChannelID: string(id), Uuid: uuid})
	return r.ID, r.Content, s.wrap("read message", err)
}

// RenameChannel changes the name only, which the first prompt then leaves as it is.
func (s *Store) RenameChannel(ctx context.Context, id core.ChannelID, name string) error {
	return s.inTx(ctx, "rename channel", func(q queries) error {
		return found(q.RenameChannel(ctx, rows.RenameChannelParams{Name: name, ID: string(id)}))
	})
}

// SetChannelChoices replaces what was chosen for a channel. The agent is that of all
// channels with its state: one that has a state of its own, and its threads.
func (s *Store) SetChannelChoices(ctx context.Context, id core.ChannelID, chosen core.ChannelChoices) error {
	return s.inTx(ctx, "set choices", func(q queries) error {
		err := found(q.SetChannelChoices(ctx, rows.SetChannelChoicesParams{ID: string(id), Choices: asJSON(own(chosen))}))
		if err != nil {
			return err
		}
		return q.SetChannelAgent(ctx, rows.SetChannelAgentParams{AgentID: chosen.AgentID, Owner: string(id)})
	})
}

// own are the choices without the agent, which has a column of its own.
func own(c core.ChannelChoices) core.ChannelChoices {
	c.AgentID = ""
	return c
}

// SetChannelSession replaces the session that the next run on a real (or, with
// demo, on the scripted) model resumes; empty starts afresh.
func (s *Store) SetChannelSession(ctx context.Context, id core.ChannelID, demo bool, session core.SessionID) error {
	return s.inTx(ctx, "set session", func(q queries) error {
		return changeSessions(ctx, q, string(id), demo, func(now *string, _ *nextSession) bool {
			*now = string(session)
			return true
		})
	})
}

// SetChannelNext stores the wish how the next run on a real (or, with demo, on the
// scripted) model begins. The zero value goes on with the channel's session. The end
// of a run that is done clears the wish, unless it was set after that run began. A run
// that is named as by sets nothing then, either.
func (s *Store) SetChannelNext(ctx context.Context, id core.ChannelID, demo bool, start core.SessionStart, by core.RunID) error {
	return s.inTx(ctx, "set next session", func(q queries) error {
		return changeSessions(ctx, q, string(id), demo, func(_ *string, next *nextSession) bool {
			ok := by == next.Taken || by == ""
			*next = nextSession{start, by}
			return ok
		})
	})
}

// nextSession is the column with the wish how the next run begins. Taken is the run
// that was claimed with it, a wish or none: only that run changes it. A wish that came
// while the run was under way, from the agent itself for example, stays.
type nextSession struct {
	core.SessionStart
	Taken core.RunID `json:"taken,omitempty"`
}

// changeSessions stores what change makes of a channel's session, and of the wish for
// the next run, unless it returns false.
func changeSessions(ctx context.Context, q queries, id string, demo bool, change func(now *string, next *nextSession) bool) error {
	ch, err := q.GetChannel(ctx, id)
	if err != nil {
		return err
	}
	now, text := &ch.SessionID, &ch.NextSession
	if demo {
		now, text = &ch.DemoSessionID, &ch.DemoNextSession
	}
	var next nextSession
	if err := fromJSON(*text, &next); err != nil || !change(now, &next) {
		return err
	}
	*text = asJSON(next)
	return found(q.SetChannelSessions(ctx, rows.SetChannelSessionsParams{
		SessionID: ch.SessionID, DemoSessionID: ch.DemoSessionID, NextSession: ch.NextSession, DemoNextSession: ch.DemoNextSession, ID: id,
	}))
}

// RemoveChannel deletes a channel with its runs and timeline. A run under way
// makes it core.ErrConflict: the caller cancels first.
func (s *Store) RemoveChannel(ctx context.Context, id core.ChannelID) error {
	return s.inTx(ctx, "remove channel", func(q queries) error {
		active, err := q.CountActive(ctx, string(id))
		if err != nil {
			return err
		}
		if active > 0 {
			return fmt.Errorf("%w: a run of the channel is under way", core.ErrConflict)
		}
		return found(q.DeleteChannel(ctx, string(id)))
	})
}

func channelOf(r rows.Channel) (core.Channel, error) {
	c := core.Channel{
		ID: core.ChannelID(r.ID), ParentID: core.ChannelID(r.ParentID), Kind: core.ChannelKind(r.Kind),
		Name: r.Name, Dir: r.Dir, SessionID: core.SessionID(r.SessionID), DemoSessionID: core.SessionID(r.DemoSessionID),
		StateID: core.ChannelID(r.StateID), Branch: r.Branch, ParentDir: r.ParentDir, CreatedAt: fromMillis(r.CreatedAt),
		Untitled: r.Untitled != 0,
	}
	err := errors.Join(fromJSON(r.NextSession, &c.NextSession), fromJSON(r.DemoNextSession, &c.DemoNextSession),
		fromJSON(r.Context, &c.Context), fromJSON(r.Choices, &c.Choices), fromJSON(r.Commands, &c.Commands),
		fromJSON(r.Origin, &c.Origin))
	c.Choices.AgentID = r.AgentID
	if err != nil {
		err = fmt.Errorf("decode channel %s: %w", r.ID, err)
	}
	return c, err
}

// found turns "no row changed" into core.ErrNotFound.
func found(n int64, err error) error {
	if err == nil && n == 0 {
		return core.ErrNotFound
	}
	return err
}
