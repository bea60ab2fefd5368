package bind

import (
	"context"

	"loop/backend/core"
)

// Explainer resolves the container that a channel's next run would get.
type Explainer interface {
	Explain(ctx context.Context, id core.ChannelID, plan bool) (core.Explanation, error)
}

// Explain says where the value of each field comes from, for the container that the
// channel's next run would get, and which mounts are left out and why. plan says that
// the run is to plan first. Nothing is made or changed. Credentials are not among the
// values.
func (s *System) Explain(channelID string, plan bool) (core.Explanation, error) {
	why, err := s.Explainer.Explain(s.Ctx, core.ChannelID(channelID), plan)
	why.Origins = orEmpty(why.Origins)
	return why, err
}
