package closing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"loop/backend/bind"
	"loop/backend/core"
	"loop/backend/terminal"
)

// underWay is everything that goes on, as the parts of Loop tell it.
type underWay struct {
	runs      []core.Run              // active and queued ones
	fed       map[core.RunID]bool     // their agents reach the model through Loop
	parked    map[core.ChannelID]bool // nothing starts there before a person has answered
	terminals []terminal.Standing
	building  bool
	names     map[core.ChannelID]string
}

// leavingOf sorts everything under way by its fate when Loop ends. Loop stays for
// work that would be lost, for a run under way, and for a prompt that starts by
// itself, now or later. Programs in containers and a prompt behind an open question
// need no Loop.
func leavingOf(u underWay) (l bind.Leaving) {
	put := func(to *[]bind.LeavingItem, i bind.LeavingItem) {
		i.Channel = u.names[i.ChannelID]
		*to = append(*to, i)
	}
	for _, r := range u.runs {
		i := bind.LeavingItem{Kind: bind.LeavingRun, ChannelID: r.ChannelID, Name: firstLine(r.Prompt)}
		switch {
		case r.State == core.RunQueued:
			i.Kind, i.At = bind.LeavingPrompt, r.NotBefore
			put(&l.Waits, i)
			l.Stays = l.Stays || !u.parked[r.ChannelID]
		case r.State == core.RunRunning && r.SpawnID != "" && !u.fed[r.ID]:
			put(&l.GoesOn, i)
			l.Stays = true
		default: // before its agent, between two tries, or with an agent that waits for its model
			put(&l.Waits, i)
			l.Stays = true
		}
	}
	for _, t := range u.terminals {
		i := bind.LeavingItem{Kind: bind.LeavingProgram, ChannelID: t.ChannelID, Name: t.Runs, Title: t.Title, Host: t.Target == core.TargetHost}
		switch {
		case t.Idle:
		case t.Outlives:
			i.Kind = bind.LeavingTerminal
			put(&l.GoesOn, i)
		default:
			put(&l.Ends, i)
		}
		if t.Recording != "" {
			i.Kind, i.Name = bind.LeavingRecording, ""
			put(&l.Ends, i)
		}
	}
	if u.building {
		put(&l.Ends, bind.LeavingItem{Kind: bind.LeavingImage})
	}
	l.Stays = l.Stays || len(l.Ends) > 0
	return l
}

// maxPromptShown bounds what is shown of a prompt, in runes; a list of them is
// read at a glance.
const maxPromptShown = 80

func firstLine(prompt string) string {
	line, _, more := strings.Cut(strings.TrimSpace(prompt), "\n")
	if short := core.Shortened(line, maxPromptShown); short != line || !more {
		return short
	}
	return line + "…"
}

// maxLeaving bounds how many runs are looked at, the newest first. One question
// for all of them: a run that starts between two would be in neither answer.
const maxLeaving = 1000

// Store is what Loop keeps of runs, questions and channels.
type Store interface {
	ListRuns(ctx context.Context, ch core.ChannelID, limit int, states ...core.RunState) ([]core.Run, error)
	OpenQuestions(ctx context.Context, ch core.ChannelID) ([]core.Question, error)
	Channels(ctx context.Context) ([]core.Channel, error)
}

// Survey looks at everything that is under way.
type Survey struct {
	Store    Store
	Standing func() []terminal.Standing // of the terminals that are open
	Building func() bool                // whether the agent image is being built
	// Feeds knows whether a run's agent reaches its model through Loop, by the settings
	// in force.
	Feeds func(ch core.Channel, r core.Run) bool
}

// Leaving says what becomes of everything if Loop ends now.
func (s Survey) Leaving(ctx context.Context) (bind.Leaving, error) {
	u := underWay{
		fed: map[core.RunID]bool{}, parked: map[core.ChannelID]bool{}, names: map[core.ChannelID]string{},
		terminals: s.Standing(), building: s.Building(),
	}
	runs, err := s.Store.ListRuns(ctx, "", maxLeaving, core.RunQueued, core.RunStarting, core.RunRunning)
	open, qerr := s.Store.OpenQuestions(ctx, "")
	all, cerr := s.Store.Channels(ctx)
	if err := errors.Join(err, qerr, cerr); err != nil {
		return bind.Leaving{Stays: true}, fmt.Errorf("read what is under way: %w", err) // what cannot be seen may be anything
	}
	u.runs = runs
	slices.Reverse(u.runs)
	slices.SortStableFunc(u.runs, func(a, b core.Run) int { return a.NotBefore.Compare(b.NotBefore) })
	for _, q := range open {
		u.parked[q.ChannelID] = true
	}
	channels := map[core.ChannelID]core.Channel{}
	for _, ch := range all {
		channels[ch.ID], u.names[ch.ID] = ch, ch.Name
	}
	for _, r := range u.runs {
		if r.State == core.RunRunning {
			u.fed[r.ID] = s.Feeds(channels[r.ChannelID], r)
		}
	}
	return leavingOf(u), nil
}
