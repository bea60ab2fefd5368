package daemon

import (
	"context"
	"errors"
	"fmt"

	"loop/backend/bind"
	"loop/backend/core"
	"loop/backend/gate"
	"loop/backend/provision"
	"loop/backend/settings"
	"loop/backend/terminal/programs"
)

// preview answers what a channel's next container would be, without making it. One
// that runs, perhaps by earlier settings, is not asked.
type preview struct {
	channels  programs.Channels
	provision *provision.Service
	gate      *gate.Service
}

var _ bind.Explainer = preview{}

func (p preview) resolve(ctx context.Context, id core.ChannelID, w provision.Want) (r provision.Resolved, err error) {
	if w.Channel, err = p.channels.Channel(ctx, id); errors.Is(err, core.ErrNotFound) {
		return r, core.Fail(core.CodeNotFound, err, "This channel does not exist any more.", "Choose another channel.")
	}
	if err != nil {
		return r, fmt.Errorf("read channel: %w", err)
	}
	return p.provision.Resolve(ctx, w)
}

// Explain says what a run would get. Whether the model is on the link only matters
// for a network of none, which is explained and not refused here.
func (p preview) Explain(ctx context.Context, id core.ChannelID, plan bool) (core.Explanation, error) {
	r, err := p.resolve(ctx, id, provision.Want{Plan: plan, PlanGated: plan && p.gate.Enforces(), Shared: true, OnHost: true})
	return r.Why, err
}

// doctorGate is the gate as package doctor sees it.
type doctorGate struct {
	*gate.Service
	settings *settings.Service
}

func (g doctorGate) Enabled() bool { return g.settings.Current().Gates.AgentGate.Enabled }
