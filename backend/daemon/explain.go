package daemon

import (
	"context"
	"errors"

	"loop/backend/core"
	"loop/backend/provision"
)

// explainer answers what a run would get, without one.
type explainer struct{ d *Daemon }

func (e explainer) Explain(ctx context.Context, id core.ChannelID, plan bool) (core.Explanation, error) {
	ch, err := e.d.store.Channel(ctx, id)
	if err != nil {
		if errors.Is(err, core.ErrNotFound) {
			return core.Explanation{}, core.Fail(core.CodeNotFound, err, "This channel does not exist any more.", "Choose another channel.")
		}
		return core.Explanation{}, err
	}
	// Whether the model is on the link only matters for a network of none, which
	// is explained and not refused here.
	r, err := e.d.provision.Resolve(ctx, provision.Want{Channel: ch, Plan: plan})
	return r.Why, err
}
