package gate

import (
	"slices"
	"time"

	"loop/backend/core"
	"loop/backend/wire"
)

const (
	// remembered is how long a tool call is known after its end. What rules decide is told
	// some seconds late.
	remembered = 30 * time.Second
	// early is how much sooner than the agent says so a tool call may begin, and late how
	// long after its result something that it did may come.
	early = 2 * time.Second
	late  = time.Second
)

// pastCalls are the tool calls of runs with their times, by the calendar, oldest first.
type pastCalls map[core.RunID][]pastCall

type pastCall struct {
	toolCall
	from, to time.Time // to is zero while it has no result
}

func (p pastCalls) begin(run core.RunID, use core.ToolUse, now time.Time) {
	if run == "" || use.ToolUseID == "" || use.Cut {
		return
	}
	list := slices.DeleteFunc(p[run], func(c pastCall) bool { return !c.to.IsZero() && now.Sub(c.to) > remembered })
	if len(list) >= 2*maxTools {
		list = slices.Delete(list, 0, 1)
	}
	p[run] = append(list, pastCall{toolCall: toolCallOf(use), from: now})
}

func (p pastCalls) end(run core.RunID, id string, now time.Time) {
	for i, c := range p[run] {
		if c.id == id && c.to.IsZero() {
			p[run][i].to = now
		}
	}
}

// ended forgets runs that have ended a while ago; what this one did is still to come.
func (p pastCalls) ended(run core.RunID, now time.Time) {
	for i, c := range p[run] {
		if c.to.IsZero() {
			p[run][i].to = now
		}
	}
	for other, list := range p {
		if n := len(list); n == 0 || !list[n-1].to.IsZero() && now.Sub(list[n-1].to) > remembered && other != run {
			delete(p, other)
		}
	}
}

// cause is the tool call that led to an act at a time: the only one whose command or file
// the act names, or else the only one at that time. Empty: that is not clear. Without an
// act only the time counts.
func (p pastCalls) cause(run core.RunID, a *wire.Approval, at time.Time) string {
	var then, near, fits []string
	for _, c := range p[run] {
		switch {
		case at.Before(c.from.Add(-early)) || !c.to.IsZero() && at.After(c.to.Add(late)):
			continue
		case !at.Before(c.from) && (c.to.IsZero() || !at.After(c.to)):
			then = append(then, c.id)
		}
		near = append(near, c.id)
		if a != nil && c.explains(*a) {
			fits = append(fits, c.id)
		}
	}
	for _, list := range [][]string{fits, then, near} {
		switch len(list) {
		case 0:
		case 1:
			return list[0]
		default:
			return ""
		}
	}
	return ""
}
