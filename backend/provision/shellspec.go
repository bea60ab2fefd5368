package provision

import (
	"context"
	"time"

	"loop/backend/core"
)

// specWait bounds the look at the engine for a list of rules.
const specWait = 2 * time.Second

// ShellSpec is the container that a channel's next terminal would have: a run's has its files
// in the same places.
func (s *Service) ShellSpec(ctx context.Context, ch core.Channel) (core.Spec, error) {
	ctx, cancel := context.WithTimeout(ctx, specWait)
	defer cancel()
	r, err := s.Resolve(ctx, Want{Channel: ch, Type: core.TypeShell, Shared: true})
	return r.Spec, err
}
