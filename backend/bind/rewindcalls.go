package bind

import (
	"context"

	"loop/backend/core"
)

// RewindService goes back to before prompts.
type RewindService interface {
	Preview(ctx context.Context, run core.RunID) (core.RewindPreview, error)
	Diff(ctx context.Context, run core.RunID, path string) (core.BackDiff, error)
	Back(ctx context.Context, run core.RunID, req core.BackRequest) (core.WentBack, error)
	Undo(ctx context.Context, id string) (core.WentBack, error)
}

// Rewind is bound as window.go.bind.Rewind: back to before a prompt.
type Rewind struct {
	Ctx     context.Context `json:"-"`
	Service RewindService   `json:"-"`
}

// Preview says what going back to before a run would do with files and conversation.
func (r *Rewind) Preview(runID string) (core.RewindPreview, error) {
	return r.Service.Preview(r.Ctx, core.RunID(runID))
}

// Diff is what it would do with the text of one file.
func (r *Rewind) Diff(runID, path string) (core.BackDiff, error) {
	return r.Service.Diff(r.Ctx, core.RunID(runID), path)
}

// Back does it. What is there now is kept first.
func (r *Rewind) Back(runID string, req core.BackRequest) (core.WentBack, error) {
	return r.Service.Back(r.Ctx, core.RunID(runID), req)
}

// Undo brings back what a going back replaced.
func (r *Rewind) Undo(id string) (core.WentBack, error) { return r.Service.Undo(r.Ctx, id) }
