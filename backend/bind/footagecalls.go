package bind

import (
	"context"

	"loop/backend/core"
)

// FootageService keeps pictures of what runs did in their browsers; the pictures go over
// the routes of package api.
type FootageService interface {
	Frames(ctx context.Context, run core.RunID) ([]core.KeptFrame, error)
}

// Footage is bound as window.go.bind.Footage.
type Footage struct {
	Ctx     context.Context `json:"-"`
	Service FootageService  `json:"-"`
}

// Frames returns the frames of a run by time, those of acts with their tool calls.
func (f *Footage) Frames(runID string) ([]core.KeptFrame, error) {
	return listed(f.Service.Frames(f.Ctx, core.RunID(runID)))
}
