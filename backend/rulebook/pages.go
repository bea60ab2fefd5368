package rulebook

import (
	"context"
	"errors"
	"log/slog"
	"net/url"

	"loop/backend/core"
	"loop/backend/gate"
	"loop/backend/policy"
)

// Pages judges the pages that a channel's browser is about to open. All fields are
// required.
type Pages struct {
	Policies Policies
	Channels Channels
	Ask      func(ctx context.Context, n gate.Navigation) error // returns when it is decided
	Inside   func(host string) bool                             // it is the agent's own container
	Log      *slog.Logger
}

// Opens decides about a page that an agent opens, or that opens by itself, by the rules and
// by asking a person. by is the agent that drives or drove last, tool what it does; the page
// does it by itself where tool is empty. What goes wrong denies. Errors are *core.Failure.
func (p Pages) Opens(ctx context.Context, id core.ChannelID, op core.BrowserOpening, by core.Caller, tool string) error {
	u, err := url.Parse(op.URL)
	if err == nil && p.Inside(u.Hostname()) {
		return nil
	}
	ch, cerr := p.Channels.Channel(ctx, id)
	var rules *policy.Engine
	if err = errors.Join(err, cerr); err == nil {
		rules, err = p.Policies.Sites(ch)
	}
	if err != nil {
		p.Log.Warn("page denied: it cannot be judged", "channel", string(id), "err", err)
		return core.Fail(core.CodeForbidden, err, "Loop cannot tell whether this page may be opened, so it was not.",
			"Say so in a message: the settings of the gate have to be looked at.")
	}
	if rules == nil {
		return nil // the gate is off
	}
	says := rules.Site(u.Hostname())
	if op.Within && says.Decision == policy.Approve {
		return nil // the site was let in for the page that is there
	}
	return p.Ask(ctx, gate.Navigation{Channel: id, By: by, Tool: tool, URL: op.URL, Says: says})
}
