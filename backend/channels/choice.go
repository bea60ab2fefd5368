package channels

import (
	"context"
	"fmt"
	"slices"

	"loop/backend/core"
)

// SetChoices replaces what the person chose for a channel alone. It counts from the next run
// on; what works now goes on. The agent is that of the channel's threads, too.
func (s *Service) SetChoices(ctx context.Context, id core.ChannelID, chosen core.ChannelChoices) error {
	ch, err := s.opts.Store.Channel(ctx, id)
	if err != nil {
		return missing(err)
	}
	if chosen, err = s.checked(ctx, ch, chosen); err != nil {
		return err
	}
	if err := s.opts.Choose(ctx, id, chosen); err != nil {
		return missing(err)
	}
	list, err := s.opts.Store.Channels(ctx)
	if err != nil {
		return fmt.Errorf("list channels: %w", err)
	}
	for _, c := range list {
		if c.ID == id || c.StateOwner() == id {
			s.opts.Publish(core.NewEvent(core.EventChannelUpdated, c.ID, "", s.opts.Now(), c))
		}
	}
	return nil
}

func (s *Service) checked(ctx context.Context, ch core.Channel, c core.ChannelChoices) (core.ChannelChoices, error) {
	bad := func(cause, remedy string) (core.ChannelChoices, error) {
		return c, core.Fail(core.CodeInvalid, nil, cause, remedy)
	}
	known := func(a core.AgentChoice) bool { return a.ID == c.AgentID }
	switch changes := c.AgentID != ch.Choices.AgentID; {
	case ch.Kind == core.KindDemo:
		return bad("The demo channel has no choices of its own.", "Choose the channel of a project.")
	case changes && ch.StateOwner() != ch.ID:
		return bad("A thread belongs to its parent's agent.", "Choose the agent of the parent.")
	case changes && c.AgentID != "" && !slices.ContainsFunc(s.opts.Agents.Agents(), known):
		return bad(fmt.Sprintf("The settings have no agent “%s”.", core.CleanTitle(c.AgentID)),
			"Add it to agents.list, or choose another one; “loop agents” lists them.")
	case c.ClaudeSetup != ch.Choices.ClaudeSetup && ch.StateOwner() != ch.ID:
		return bad("A thread has its parent's Claude set-up.", "Choose it for the parent.")
	case !slices.Contains([]string{"", "none", "read"}, c.ClaudeSetup):
		return bad("The Claude set-up is read or none.", "Choose one of them, or leave it to the settings.")
	case c.Notify != "" && !slices.Contains(core.Notifies, c.Notify):
		return bad("Notifications are of all, problems, needs_you or never.", "Choose one of them, or leave it to the settings.")
	case core.CheckModel(c.Model) != nil:
		return c, core.CheckModel(c.Model)
	case core.CheckEffort(c.Effort) != nil:
		return c, core.CheckEffort(c.Effort)
	case len(c.ExtraDirs) > core.MaxChannelDirs:
		return bad(fmt.Sprintf("A channel has %d further folders at most.", core.MaxChannelDirs), "Take some away.")
	}
	var dirs []string
	for _, dir := range c.ExtraDirs {
		clean, err := s.furtherDir(ctx, ch, dir)
		if err != nil {
			return c, err
		}
		if clean != ch.Dir && !slices.Contains(dirs, clean) {
			dirs = append(dirs, clean)
		}
	}
	c.ExtraDirs = dirs
	return c, nil
}

// furtherDir judges a folder that is new to the channel as one that is about to be a
// channel's. What is wrong with one that was there before, a run says.
func (s *Service) furtherDir(ctx context.Context, ch core.Channel, dir string) (string, error) {
	if slices.Contains(ch.Choices.ExtraDirs, dir) {
		return dir, nil
	}
	clean, err := CheckDir(dir)
	if err == nil {
		err = s.opts.Fit(ctx, clean)
	}
	return clean, err
}

// Agents are the agents that channels can belong to; the first is the default one.
func (s *Service) Agents() []core.AgentChoice { return s.opts.Agents.Agents() }
