package channels

import (
	"context"
	"errors"
	"fmt"

	"loop/backend/core"
)

// Titles are what the first prompt of a thread changes.
type Titles interface {
	TitleChannel(ctx context.Context, id core.ChannelID, name string) error // core.ErrNotFound: it has a name
	SetOrigin(ctx context.Context, id core.ChannelID, o core.Origin) error
	// Message is the event and the text of a message, by the uuid that the agent gave it; empty
	// is the newest one. core.ErrNotFound when there is none.
	Message(ctx context.Context, id core.ChannelID, uuid string) (event int64, text string, err error)
}

// Begin is called with a prompt that was put into a channel's queue. The first one gives a
// thread its name, unless a person gave it one, and is where it parts from what it continues.
func (s *Service) Begin(ctx context.Context, ch core.Channel, prompt string) error {
	title := core.Title(prompt)
	if !ch.Untitled && !ch.Origin.Open {
		return nil
	}
	var errs []error
	if ch.Origin.Open {
		o := s.upTo(ctx, ch.Origin, "")
		o.Open = false
		errs = append(errs, s.opts.Titles.SetOrigin(ctx, ch.ID, o))
	}
	if ch.Untitled && title != "" {
		if err := s.opts.Titles.TitleChannel(ctx, ch.ID, title); !errors.Is(err, core.ErrNotFound) {
			errs = append(errs, err)
		}
	}
	now, err := s.opts.Store.Channel(ctx, ch.ID)
	if err == nil {
		s.opts.Publish(core.NewEvent(core.EventChannelUpdated, ch.ID, "", s.opts.Now(), now))
	}
	if err := errors.Join(append(errs, err)...); err != nil {
		return fmt.Errorf("title the thread: %w", err)
	}
	return nil
}
