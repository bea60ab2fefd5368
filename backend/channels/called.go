package channels

import (
	"context"
	"strings"
	"time"

	"loop/backend/core"
)

// nameTime bounds looking a channel's name up for what cannot wait.
const nameTime = 2 * time.Second

// Called is how a person knows a channel, “api-server › Fix the flaky login test”, and what
// was chosen to be told of it (core.Notifies), by itself or by the one that it is a thread of.
// Both are empty for a channel that is gone.
func (s *Service) Called(id core.ChannelID) (name, notify string) {
	ctx, cancel := context.WithTimeout(context.Background(), nameTime)
	defer cancel()
	var names []string
	for id != "" && len(names) < 3 {
		ch, err := s.opts.Store.Channel(ctx, id)
		if err != nil {
			break
		}
		if notify == "" {
			notify = ch.Choices.Notify
		}
		names, id = append([]string{ch.Name}, names...), ch.ParentID
	}
	return strings.Join(names, " › "), notify
}

// inherited are the choices of a new channel below parent. What is told of it stays its parent's
// choice, also a later one: see Called.
func inherited(parent core.Channel) core.ChannelChoices {
	c := parent.Choices
	c.Notify = ""
	return c
}
